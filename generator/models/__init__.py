"""Pinned files: their sources, the store that keeps them, what a model says of itself."""
