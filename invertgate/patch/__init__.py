"""Read what differs between a merge base and a head."""
