"""The kinds of experiment, one test module each."""
