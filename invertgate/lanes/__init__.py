"""Lanes for unattended patches: what may be looked at, priced and run, and what is frozen."""
