"""What a pair of the corpus showed, and the table of it."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

RESULT_FILE: Final = "result.json"
OWN_COLUMN: Final = ("bound", "weak", "unreached", "unbound", "unproven")
HEADINGS: Final = (
    "pair",
    "outcomes",
    *OWN_COLUMN,
    "others",
    "seconds to bind",
    "seconds to run",
    "CPU to run",
    "workers",
    "oracle rows",
    "disagreements",
)


@dataclass(frozen=True, slots=True)
class Way:
    """How the gate is called."""

    workers: int
    cold: bool = False
    """Every run gets a fresh process, as where there is no fork."""

    @property
    def name(self) -> str:
        """Name it, as its files and the columns of the table are called."""
        return f"{self.workers}-cold" if self.cold else str(self.workers)


@dataclass(frozen=True, slots=True)
class GateRun:
    """One call of the gate."""

    workers: int
    seconds: float
    cpu: float
    counts: dict[str, int]
    """Rows by verdict."""
    cold: bool = False


@dataclass(frozen=True, slots=True)
class Result:
    """All that is kept of a pair."""

    pair: str
    claims: str
    """``bind``, or ``rotated`` if each row claims the test of another one."""
    bind_seconds: float
    runs: tuple[GateRun, ...]
    differences: tuple[str, ...]
    """Rows whose verdict depends on the number of workers, or on forks."""
    oracle_rows: int
    disagreements: int

    @property
    def is_clean(self) -> bool:
        """Tell whether nothing disagrees with anything."""
        return not self.differences and not self.disagreements


def gate_run(report: Mapping[str, Any], way: Way, seconds: float, cpu: float) -> GateRun:
    """Take out of a report what the table shows."""
    counts = Counter(str(row["verdict"]) for row in report["rows"])
    return GateRun(way.workers, seconds, cpu, dict(counts), way.cold)


def differences(reports: Mapping[Way, Mapping[str, Any]]) -> tuple[str, ...]:
    """Name the rows that do not get the same verdict in every way."""
    said: dict[str, dict[Way, str]] = {}
    for way, report in reports.items():
        for row in report["rows"]:
            verdict = f"{row['verdict']} by {row['test'] or 'nothing'}"
            said.setdefault(f"{row['path']}:{row['id']}", {})[way] = verdict
    return tuple(
        f"{row}: " + ", ".join(f"{by.get(way)} (workers: {way.name})" for way in reports)
        for row, by in said.items()
        if len({by.get(way) for way in reports}) > 1
    )


def rotated(table: Sequence[Mapping[str, Any]], by: int) -> list[dict[str, Any]]:
    """Give every row the test of another one: claims that are wrong, but run."""
    tests = [row["test"] for row in table if row["test"]]
    return [
        {**row, "test": tests[(number + by) % len(tests)] if tests else None}
        for number, row in enumerate(table)
    ]


def save(result: Result, folder: Path) -> None:
    """Keep a result beside the pair's other things."""
    file = folder / f"{result.claims}-{RESULT_FILE}"
    file.write_text(json.dumps(asdict(result), indent=1), "utf-8")


def load(folder: Path) -> list[Result]:
    """Read what was kept of a pair."""
    return [
        _result(json.loads(file.read_text("utf-8")))
        for file in sorted(folder.glob(f"*-{RESULT_FILE}"))
    ]


def line(result: Result) -> str:
    """Say all of a result in one line."""
    cells = zip(HEADINGS, _cells(result), strict=True)
    return ", ".join(f"{heading} {cell}" for heading, cell in cells)


def markdown(results: Iterable[Result]) -> str:
    """Show results as a table."""
    rows = [HEADINGS, ["---", *["---:"] * (len(HEADINGS) - 1)], *map(_cells, results)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _cells(result: Result) -> list[str]:
    counts = Counter(result.runs[0].counts)
    rows = sum(counts.values())
    others = rows - sum(counts[verdict] for verdict in OWN_COLUMN)
    name = result.pair if result.claims == "bind" else f"{result.pair}, {result.claims} claims"
    return [
        name,
        str(rows),
        *(str(counts[verdict]) for verdict in OWN_COLUMN),
        str(others),
        f"{result.bind_seconds:.0f}",
        " / ".join(f"{run.seconds:.1f}" for run in result.runs),
        " / ".join(f"{run.cpu:.1f}" for run in result.runs),
        " / ".join(Way(run.workers, run.cold).name for run in result.runs),
        str(result.oracle_rows),
        str(result.disagreements + len(result.differences)),
    ]


def _result(document: Mapping[str, Any]) -> Result:
    runs = tuple(GateRun(**run) for run in document["runs"])
    different = tuple(document["differences"])
    return Result(**{**document, "runs": runs, "differences": different})
