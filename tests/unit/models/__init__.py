"""Tests of fetching, keeping and reading models and engines."""
