"""What a benchmark measured, beside its limit; pure."""

import json
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from _environments import ScriptError

_HEADER: Final = ("measured", "value", "limit", "")


@dataclass(frozen=True, slots=True)
class Measure:
    """One number that was measured, and what it has to be."""

    name: str
    value: float
    unit: str
    limit: float | None = None
    """None if the number is told for its own sake."""
    at_least: bool = False
    """True if the value must not fall below the limit, instead of not rising above it."""

    @property
    def ok(self) -> bool:
        """Tell whether the limit is kept."""
        if self.limit is None:
            return True
        return self.value >= self.limit if self.at_least else self.value <= self.limit


@dataclass(frozen=True, slots=True)
class Session:
    """What one session of the gate cost, and what it did."""

    cpu: float
    """Seconds of the whole command, with all that it started."""
    rows: int
    runs: int
    """Forks and fresh processes; a control that rows share counts once."""
    warm: tuple[float, ...]
    """Seconds of CPU of each run in a fork, without what is around it."""


def session(report: Mapping[str, Any], cpu: float) -> Session:
    """Read what a session did from its report.

    Args:
        report: What ``report.json`` holds.
        cpu: What the whole command used, in seconds.
    """
    runs = distinct_runs(report["rows"])
    warm = tuple(run["cpu"] for run in runs if not run["cold"])
    return Session(cpu, len(report["rows"]), len(runs), warm)


def distinct_runs(rows: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the runs of some rows, each once.

    A control stands in every row that shares it, equal to the last digit of its CPU time but for
    what it says of the row.
    """
    found: dict[tuple[object, ...], Mapping[str, Any]] = {}
    for number, row in enumerate(rows):
        for position, run in enumerate(row["runs"]):
            own = (number, position) if run["inverted"] else ()
            found.setdefault((run["test"], run["cpu"], run["seconds"], *own), run)
    return list(found.values())


def warm_rows(report: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the rows that are bound by runs in forks alone."""
    return [
        row
        for row in report["rows"]
        if row["verdict"] == "bound" and not any(run["cold"] for run in row["runs"])
    ]


def per_row(few: Session, many: Session) -> float:
    """Return the CPU seconds that a row more costs, with all its runs and all that is around them.

    Raises:
        ScriptError: The sessions do not differ in rows.
    """
    return _slope(few.cpu, many.cpu, many.rows - few.rows)


def per_run(few: Session, many: Session) -> float:
    """Return the CPU seconds that a run more costs, with all that is around it.

    Raises:
        ScriptError: The sessions do not differ in runs.
    """
    return _slope(few.cpu, many.cpu, many.runs - few.runs)


def _slope(low: float, high: float, steps: int) -> float:
    if steps <= 0:
        raise ScriptError("the two sessions do not differ, so there is nothing to divide by")
    return (high - low) / steps


def median(values: Iterable[float]) -> float:
    """Return the median of some repetitions."""
    return statistics.median(values)


def milliseconds(seconds: float) -> float:
    """Return seconds as milliseconds."""
    return 1000 * seconds


def table(title: str, measures: Sequence[Measure]) -> str:
    """Lay out measures for people."""
    lines = [_HEADER, *map(_line, measures)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    rendered = (
        "  ".join(
            (
                line[0].ljust(widths[0]),
                line[1].rjust(widths[1]),
                line[2].rjust(widths[2]),
                line[3],
            )
        ).rstrip()
        for line in lines
    )
    return "\n".join((title, *(f"  {line}" for line in rendered)))


def _line(measure: Measure) -> tuple[str, str, str, str]:
    value = f"{measure.value:.2f} {measure.unit}".rstrip()
    if measure.limit is None:
        return (measure.name, value, "", "")
    sign = "≥" if measure.at_least else "≤"
    return (measure.name, value, f"{sign} {measure.limit:g}", "ok" if measure.ok else "BROKEN")


def as_json(found: Mapping[str, Sequence[Measure]]) -> str:
    """Give measures, by benchmark, as JSON."""
    told = {
        name: [{**asdict(measure), "ok": measure.ok} for measure in measures]
        for name, measures in found.items()
    }
    return json.dumps(told, indent=2)
