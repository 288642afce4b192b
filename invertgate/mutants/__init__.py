"""Invert one outcome of a module, in memory."""
