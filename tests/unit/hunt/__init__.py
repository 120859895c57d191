"""Tests of the hunt: which prompts, which settings, what is found, and what is kept."""
