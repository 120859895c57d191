"""Tests of bug reports: which flip is reported, what the report says, and what its script does."""
