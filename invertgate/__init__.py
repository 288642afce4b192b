"""Prove that a patch is tested: invert each new control-flow outcome and see its test fail."""

__version__ = "0.1.0"
