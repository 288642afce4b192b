"""Keep what reports say over time, and compare them."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Final

from invertgate.errors import NoBaseError, UsageError
from invertgate.nightly import history
from invertgate.nightly.drawing import svg
from invertgate.nightly.history import Entry, HistoryError, Judged
from invertgate.nightly.trend import trend
from invertgate.patch.git import open_repository
from invertgate.report.document import Report, ReportRow
from invertgate.report.store import FOLDER
from invertgate.trend_model import Trend

FILE: Final = "history.sqlite"
_UNSTABLE: Final = "unstable"
"""How the reason of a row begins whose runs disagreed."""


def history_of(top: Path) -> Path:
    """Return where the history of a repository lies unless somebody says otherwise."""
    return top / FOLDER / FILE


def top_of(folder: Path, environment: Mapping[str, str]) -> Path:
    """Return the top of the repository that a folder belongs to, or else the folder itself."""
    try:
        return open_repository(folder, environment).top
    except NoBaseError:
        return folder


def draw(found: Trend, path: Path) -> None:
    """Draw a comparison into a file.

    Raises:
        UsageError: The file cannot be written.
    """
    try:
        path.write_text(svg(found), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from error


def recorded(report: Report, path: Path, series: str) -> Report:
    """Add a complete report to a history; return it with what the history says of it.

    A history that cannot be used changes no verdict; the report has a note then.

    Args:
        report: Complete and judged.
        path: Where the history lies.
        series: Which reports it is compared with.
    """
    told = ""
    for _ in range(2):
        try:
            with history.opened(path, create=True) as connection:
                history.add(connection, entry_of(report, series))
                found = trend(connection, series)
        except HistoryError as error:
            aside = history.put_aside(path)
            if aside is None:
                return _noted(report, f"the history was not written: {error}")
            told = f"{path} is no history any more; it is {aside.name} now, and a new one was begun"
        else:
            return replace(_noted(report, told), trend=found)
    return _noted(report, told)


def last_said(path: Path, series: str) -> Mapping[str, str]:
    """Return the verdict of each row in the newest report of a series; empty if there is none.

    Args:
        path: Where the history lies.
        series: Of which reports.
    """
    try:
        with history.opened(path, create=False) as connection:
            return history.last_verdicts(connection, series)
    except HistoryError:
        return {}


def read(path: Path, series: str, last: int) -> Trend:
    """Compare the last report of a history with those before it.

    Args:
        path: Where the history lies.
        series: Which reports; by default those of sweeps, or else of runs.
        last: How many reports are told of at most.

    Raises:
        UsageError: There is no history, or nothing in it, or it cannot be read.
    """
    try:
        with history.opened(path, create=False) as connection:
            found = trend(connection, series, last)
    except HistoryError as error:
        raise UsageError(f"no history to compare: {error}") from error
    if found is None:
        raise UsageError(f"{path} holds no report{f' of {series}' if series else ''} yet")
    return found


def series_of(command: str) -> str:
    """Return with which reports one is to be compared, by the command that it comes from."""
    return "sweep" if command.startswith("invertgate sweep") else "run"


def entry_of(report: Report, series: str) -> Entry:
    """Return what a history keeps of a report."""
    rows = tuple(_rows(report))
    told = json.dumps([(row.row, row.verdict) for row in rows])
    return Entry(
        series,
        _machine(report),
        report.started,
        sha256(told.encode()).hexdigest(),
        base=report.base,
        tree=report.tree,
        cpu=report.cpu,
        counts=report.counts,
        rows=rows,
        weak=report.weak_tests,
        slow=_seconds(report),
    )


def _machine(report: Report) -> str:
    """Name what it ran on: platform and minor version; several of them, where it was joined."""
    minor = {".".join(version.split(".")[:2]) for version in report.python.split(", ")}
    return f"{report.platform}, Python {', '.join(sorted(minor))}"


def _rows(report: Report) -> Iterator[Judged]:
    for row in report.rows:
        if row.verdict is not None and row.line:
            unstable = row.reason if row.reason.startswith(_UNSTABLE) else ""
            yield Judged(row.name, row.verdict, row.test, unstable)


def _seconds(report: Report) -> dict[str, float]:
    """Return how long the controls of each test took."""
    found: dict[str, float] = {}
    for run in (run for row in report.rows for run in _controls(row)):
        found[run[0]] = max(found.get(run[0], 0.0), run[1])
    return found


def _controls(row: ReportRow) -> Iterator[tuple[str, float]]:
    return ((run.test, run.seconds) for run in row.runs if not run.inverted)


def _noted(report: Report, note: str) -> Report:
    return replace(report, notes=(*report.notes, note)) if note else report
