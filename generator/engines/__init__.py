"""Engines: a port (`base`) and one file for each type of engine."""
