"""Tests with the real engine and a real model."""
