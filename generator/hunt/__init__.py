"""The hunt: a search for the cheapest prompt whose answer changes between two settings."""
