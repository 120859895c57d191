"""Tests of what is sent at once."""
