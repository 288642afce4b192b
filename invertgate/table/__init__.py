"""Read, check and write the decision table."""
