"""Locks on claimed tests: written by `bind --lock`, held by `run --locked`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from invertgate.model import Claim, ClaimSource, PolicySource, Result, Row, Verdict
from invertgate.patch.scope import Judged
from invertgate.survey import ProjectSurvey, Survey
from invertgate.table.claimed import parts_of
from invertgate.table.document import Entry, Table
from invertgate.table.lock import Held, changes_since, lock_of, trouble_with
from invertgate.table.selection import Key
from invertgate.table.sources import Sources, UntraceableError

_NOTHING: Final[Mapping[Key, Entry]] = {}


@dataclass(frozen=True, slots=True)
class Guarded:
    """Rows that are locked out, and those that can be judged."""

    results: tuple[Result, ...]
    rows: tuple[Row, ...]
    """Without claims by other tests than the one that a row is held for."""
    notes: tuple[str, ...] = ()


def without_locked_out(seen: Survey, project: ProjectSurvey, rows: Sequence[Row]) -> Guarded:
    """Take rows out whose test was edited since it was locked, or that a patch points elsewhere.

    Args:
        seen: What is judged.
        project: The project of the rows.
        rows: All that need a test, claimed or not.

    Raises:
        UsageError: A file cannot be read.
    """
    if not project.config.locked:
        return Guarded((), tuple(rows))
    sources = _sources(seen, project)

    def changes(test: str, lock: str) -> str:
        try:
            return changes_since(lock, parts_of(test, sources))
        except UntraceableError as error:
            return f"the claimed test changed since it was locked: {error}"

    results: list[Result] = []
    left: list[Row] = []
    beside: list[str] = []
    for row, held in _held(seen, project, rows):
        key, test = row.outcome.key, held.entry.test if held.entry is not None else None
        if trouble := trouble_with(held, changes):
            results.append(Result(*key, Verdict.LOCKED_OUT, trouble, test or ""))
        elif held.is_held and test:
            left.append(replace(row, claims=(Claim(test),)))
            beside += [one.test for one in row.claims if one.source is ClaimSource.MARKER]
        else:
            left.append(row)
    return Guarded(tuple(results), tuple(left), _notes(seen, project, left, beside))


def held_keys(seen: Survey, project: ProjectSurvey, rows: Sequence[Row]) -> frozenset[Key]:
    """Return the rows that must not be pointed at another test: locked, or held by the base.

    Args:
        seen: What is judged.
        project: The project of the rows.
        rows: All that could be.
    """
    return frozenset(
        row.outcome.key
        for row, held in _held(seen, project, rows)
        if held.lock is not None or (project.config.locked and held.is_held)
    )


def with_locks(seen: Survey, project: ProjectSurvey, table: Table) -> tuple[Table, tuple[str, ...]]:
    """Write into the rows of a table what their tests look like now.

    Args:
        seen: What is judged.
        project: The project of the table.
        table: Rows that were not asked about stay as they are.

    Returns:
        The table, and what to tell: how many rows are locked, and which tests cannot be.
    """
    sources = _sources(seen, project)
    notes: dict[str, None] = {}
    made: list[str] = []

    def locked(entry: Entry) -> Entry:
        if entry.test is None or not seen.scope.covers(entry.key):
            return entry
        try:
            made.append(lock_of(parts_of(entry.test, sources)))
            return replace(entry, lock=made[-1])
        except UntraceableError as error:
            notes[f"{entry.test} cannot be locked: {error}"] = None
            return entry

    new = Table(tuple(map(locked, table.entries)), table.name)
    count = "1 row is" if len(made) == 1 else f"{len(made)} rows are"
    return new, (f"{count} locked; `run --locked` holds them", *notes)


def _sources(seen: Survey, project: ProjectSurvey) -> Sources:
    files = Judged(seen.repository, seen.patch.base, seen.patch.head).head_files()
    return Sources(lambda path: files([path]).get(path), project.folder)


def _held(seen: Survey, project: ProjectSurvey, rows: Sequence[Row]) -> list[tuple[Row, Held]]:
    """Pair rows with what the tables say of them; the merge base's by an older name of a file."""
    entries = {entry.key: entry for entry in project.table.entries}
    before = _NOTHING
    if project.base_table is not None and seen.policy is PolicySource.BASE:
        of_base = {entry.key: entry for entry in project.base_table.entries}
        moved = {
            (seen.renames.get(path, path), row_id): one for (path, row_id), one in of_base.items()
        }
        before = moved | of_base
    return [(row, Held(entries.get(row.outcome.key), before.get(row.outcome.key))) for row in rows]


def _notes(
    seen: Survey, project: ProjectSurvey, rows: Sequence[Row], beside: Sequence[str]
) -> tuple[str, ...]:
    free = sum(not held.is_held for _, held in _held(seen, project, rows))
    notes = [
        f"{test} claims a row that is held for another test; that does not count" for test in beside
    ]
    if free:
        what = "1 row is" if free == 1 else f"{free} rows are"
        notes.append(
            f"{what} not locked, and judged as without --locked; `invertgate bind --lock` locks "
            "the tests that the table names, a claim by marker cannot be locked"
        )
    return tuple(notes)
