"""Asks in company: what is sent at once, and whether its company moved an answer."""
