"""Find the tests that may bind a row."""
