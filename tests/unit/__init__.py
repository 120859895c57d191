"""Tests without an engine, mirroring the package."""
