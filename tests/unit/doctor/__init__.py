"""Tests of the doctor: every check on a machine that is well, and on one that is not."""
