"""Large projects: parts of a run, runs that go on after an end, and what changes over time."""
