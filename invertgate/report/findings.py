"""The rows that do not let a patch pass, worst first, and what to say of each."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from invertgate.errors import WORST_FIRST, ExitCode
from invertgate.model import Verdict
from invertgate.report.build import EXIT_CODES
from invertgate.report.document import Report, ReportRow
from invertgate.report.words import (
    MEANINGS,
    NEXT_STEPS,
    counted,
    next_for_group,
    outcome_in_words,
    visible,
)


class Level(StrEnum):
    """How much a row matters to the gate."""

    ERROR = "error"
    """The gate is shut."""
    WARNING = "warning"
    """The gate is not open: a person has to decide, or it could not be proved."""


LEVELS: Final[Mapping[ExitCode, Level]] = {
    ExitCode.FINDINGS: Level.ERROR,
    ExitCode.RED: Level.ERROR,
    ExitCode.UNPROVEN: Level.WARNING,
    ExitCode.HOLD: Level.WARNING,
}
"""By what a row of the verdict does to the exit code; rows that pass have none."""

_RANKS: Final = {
    verdict: (WORST_FIRST.index(EXIT_CODES[verdict]), place)
    for place, verdict in enumerate(Verdict)
}


def level_of(verdict: Verdict | None) -> Level | None:
    """Return how much a row of this verdict matters, or None if it lets the patch pass."""
    return LEVELS.get(EXIT_CODES[verdict]) if verdict else None


def findings(report: Report) -> list[ReportRow]:
    """Return the rows that do not let the patch pass, worst first, then as in the report."""
    ranked = [
        (_RANKS[row.verdict], row)
        for row in report.rows
        if row.verdict is not None and level_of(row.verdict) is not None
    ]
    return [row for _, row in sorted(ranked, key=lambda pair: pair[0])]


def trouble(report: Report) -> str:
    """Say why a report says nothing of a patch, or too little; empty if it was completed."""
    if report.error:
        return lines_of(report.error)
    if report.complete:
        return ""
    undecided = (
        f", {counted(report.undecided, 'row')} without a verdict" if report.undecided else ""
    )
    return f"the run was stopped before its end{undecided}: this says nothing of the patch"


def headline(row: ReportRow) -> str:
    """Say in one line which way of which decision a row is, and its verdict."""
    verdict = row.verdict.replace("_", " ") if row.verdict else "not judged"
    return f"{verdict}: {outcome_in_words(row.kind, row.predicate, row.side)}"


def story(row: ReportRow) -> list[str]:
    """Say in a few lines why a row has its verdict, and what would help."""
    if row.verdict is None:
        return ["nothing was judged"]
    lines = [reason(row)]
    if row.test:
        lines.append(f"test: {row.test}")
    if row.hint:
        lines.append(f"hint: {row.hint}")
    if row.nearest:
        lines.append(f"nearest: {', '.join(row.nearest)}")
    advice = row.advice
    if not advice and row.verdict in NEXT_STEPS:
        advice = (next_for_group(row.verdict, [row] if row.test else []),)
    lines += [f"what helps: {sentence}" for sentence in advice]
    return [visible(line) for line in lines]


def reason(row: ReportRow) -> str:
    """Say why a row has its verdict: in its own words, by its waiver, or by what it means."""
    if row.waiver:
        return f"{row.waiver.reason} ({row.waiver.owner}, until {row.waiver.expires} in UTC)"
    return row.reason or (MEANINGS[row.verdict] if row.verdict else "")


def lines_of(text: str) -> str:
    """Return text whose lines stay lines, and in which all else that is no letter is spelled."""
    return "\n".join(visible(line) for line in text.splitlines())
