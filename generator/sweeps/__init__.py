"""Sweeps: their designs, the cells that were measured, and the verdict over them."""
