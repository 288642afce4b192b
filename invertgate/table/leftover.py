"""Rows of the table that no outcome answers: left over, or inherited from merged patches."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from invertgate.model import Outcome, Result, Verdict
from invertgate.table.document import Entry, Table

INHERITED: Final = "the merge base's table has this row; `invertgate table --write` removes it"


def without_outcome(
    entries: Sequence[Entry],
    outcomes: Sequence[Outcome],
    base_table: Table | None,
    renames: Mapping[str, str],
    name: str,
) -> tuple[tuple[Result, ...], tuple[Result, ...]]:
    """Judge rows that claim no outcome of the patch.

    Args:
        entries: The rows.
        outcomes: All new outcomes, exempt ones too.
        base_table: The merge base's table, if it has one.
        renames: New paths of files that the patch renamed, by old path.
        name: What messages call the table.

    Returns:
        What is left over and what is inherited: rows of the merge base's table, unchanged, as long
        as the patch has no outcome of its own that needs a row.
    """
    base = {entry.key: entry for entry in base_table.entries} if base_table else {}
    is_empty = all(outcome.exempt for outcome in outcomes)
    surroundings = _Surroundings(outcomes, base, renames)
    leftovers: list[Result] = []
    inherited: list[Result] = []
    for entry in entries:
        test = entry.test or ""
        if is_empty and base.get(entry.key) == entry:
            inherited.append(Result(*entry.key, Verdict.INHERITED, INHERITED, test))
        else:
            why = _LEFTOVER.format(name=name, entry=entry, why=_why_left(entry, surroundings))
            leftovers.append(Result(*entry.key, Verdict.LEFTOVER, why, test))
    return tuple(leftovers), tuple(inherited)


@dataclass(frozen=True, slots=True)
class _Surroundings:
    """Where the reason may lie."""

    outcomes: Sequence[Outcome]
    base: Mapping[tuple[str, str], Entry]
    renames: Mapping[str, str]


def _why_left(entry: Entry, around: _Surroundings) -> str:
    slashed = entry.path.replace("\\", "/")
    for outcome in around.outcomes:
        if outcome.key == entry.key:
            return f"this outcome is exempt and needs no row ({outcome.exempt})"
        if outcome.key == (slashed, entry.id):
            return f"paths are written with slashes ({slashed})"
    if entry.path in around.renames:
        return f"the patch renames {entry.path} to {around.renames[entry.path]}"
    for outcome in around.outcomes:
        if outcome.id == entry.id and not outcome.exempt:
            return f"the patch has this outcome in {outcome.path} instead"
    if around.base.get(entry.key) == entry:
        return "a merged patch left this row behind"
    return "the patch has no such new outcome"


_LEFTOVER: Final = (
    "{why}; `invertgate table --write` brings the table up to date "
    "({name}:{entry.line}, {entry.kind} {entry.side}: {entry.predicate})"
)
