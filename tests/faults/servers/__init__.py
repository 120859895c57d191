"""Servers with one fault each, named for it."""
