"""Tests of the engines with a fake one."""
