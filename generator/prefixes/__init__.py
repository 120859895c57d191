"""Cached openings: a prompt after some of it was evaluated by an earlier ask."""
