"""What every pytest run of a user loads of us: the registration of our markers, nothing else."""

import pytest


def pytest_configure(config: pytest.Config) -> None:
    """Register the markers, so that ``--strict-markers`` passes."""
    config.addinivalue_line(
        "markers",
        "branch(*ids): this test claims the outcomes with these ids (invertgate)",
    )
    config.addinivalue_line(
        "markers",
        "external: this test has an outside cost; invertgate never runs it on inverted code",
    )
