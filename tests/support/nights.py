"""Histories for tests."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from invertgate.model import Verdict
from invertgate.nightly import history
from invertgate.nightly.history import Entry, Judged
from invertgate.nightly.trend import trend
from invertgate.trend_model import Trend

MACHINE = "linux, Python 3.11"


def night(
    day: int,
    verdicts: Mapping[str, Verdict],
    *,
    tree: str = "",
    weak: Mapping[str, Sequence[str]] | None = None,
    slow: Mapping[str, float] | None = None,
    series: str = "sweep",
    machine: str = MACHINE,
) -> Entry:
    """Return the report of one night, each row of which is claimed by a test of its own."""
    counts = {v: list(verdicts.values()).count(v) for v in set(verdicts.values())}
    return Entry(
        series,
        machine,
        f"2026-01-{day:02}T03:00:00+00:00",
        digest=str(day),
        base="4f0c2d1",
        tree=tree,
        counts=counts,
        rows=tuple(Judged(row, verdict, f"t.py::{row}") for row, verdict in verdicts.items()),
        weak=weak or {},
        slow=slow or {},
    )


def keep(path: Path, *entries: Entry) -> None:
    """Add reports, each in a transaction of its own."""
    for entry in entries:
        with history.opened(path, create=True) as connection:
            history.add(connection, entry)


def compared(path: Path, series: str = "", last: int = 30) -> Trend:
    """Compare the last report with those before it."""
    with history.opened(path, create=False) as connection:
        found = trend(connection, series, last)
    assert found is not None
    return found


def write_some(path: Path, first: int) -> None:
    """Keep five nights from a day on; a process started anew can import it."""
    keep(path, *(night(day, {"a": Verdict.BOUND}) for day in range(first, first + 5)))
