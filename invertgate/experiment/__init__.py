"""Run controlled experiments, one a row."""
