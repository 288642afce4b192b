"""Keep the user's repository out of reach of inverted code."""
