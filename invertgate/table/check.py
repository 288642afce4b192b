"""The exact set: every new outcome has its row, and every row its outcome."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from invertgate.model import Claim, ClaimSource, Outcome, Result, Row, Verdict
from invertgate.table.document import Entry, Table
from invertgate.table.leftover import without_outcome
from invertgate.table.raw import refuse
from invertgate.table.selection import Key

NOT_IN_TABLE: Final = "not in the table"
NO_CLAIM: Final = "the table names no test for it"

_NO_NAMES: Final[Mapping[str, str]] = {}
_NO_TESTS: Final[Mapping[Key, Sequence[str]]] = {}
_NOTHING_FOUND: Final[Mapping[Key, str]] = {}


@dataclass(frozen=True, slots=True)
class Scope:
    """The part of a repository that is asked about; by default all of it."""

    paths: tuple[str, ...] | None = None
    """Files and folders, relative to the top of the repository."""
    keys: frozenset[Key] | None = None
    """Path and id of single outcomes."""

    def covers(self, key: Key) -> bool:
        """Tell whether an outcome or a row of the table is asked about."""
        if self.keys is not None and key not in self.keys:
            return False
        return self.paths is None or any(_is_under(key[0], path) for path in self.paths)


EVERYTHING: Final = Scope()


@dataclass(frozen=True, slots=True)
class Matched:
    """The outcomes and the table, laid beside each other.

    Every outcome in scope is in ``rows`` or in ``exempt``, and every row of the table in scope is
    the claim of one of ``rows``, or in ``leftovers``, or in ``inherited``.
    """

    rows: tuple[Row, ...]
    """The outcomes that need a test, in their order, with what claims them."""
    unbound: tuple[Result, ...]
    """Of ``rows``, those that nothing claims."""
    exempt: tuple[Result, ...]
    leftovers: tuple[Result, ...]
    inherited: tuple[Result, ...]
    notes: tuple[str, ...] = ()

    @property
    def is_exact(self) -> bool:
        """Tell whether rows and outcomes answer one another, claimed or not."""
        return not self.leftovers and all(row.reason != NOT_IN_TABLE for row in self.unbound)


def match(
    outcomes: Sequence[Outcome],
    table: Table,
    base_table: Table | None = None,
    markers: Mapping[Key, Sequence[str]] = _NO_TESTS,
    *,
    scope: Scope = EVERYTHING,
    renames: Mapping[str, str] = _NO_NAMES,
) -> Matched:
    """Lay outcomes and table beside each other.

    A row for an outcome that is exempt answers nothing that is asked: it is left over, or
    inherited, like a row for an outcome that is not there.

    Args:
        outcomes: All new outcomes, exempt ones too.
        table: The table that is judged; an empty one where there is none.
        base_table: The merge base's table, if it has one.
        markers: Nodeids that claim outcomes by marker.
        scope: What is asked about; other outcomes and other rows are ignored.
        renames: New paths of files that the patch renamed, by old path.

    Raises:
        TableError: A row has the id of an outcome and describes another one.
    """
    entries = {entry.key: entry for entry in table.entries if scope.covers(entry.key)}
    inside = [outcome for outcome in outcomes if scope.covers(outcome.key)]
    for outcome in inside:
        _refuse_other_decision(outcome, entries.get(outcome.key), table.name)
    rows = tuple(
        Row(outcome, _claims(entries.get(outcome.key), markers.get(outcome.key, ())))
        for outcome in inside
        if not outcome.exempt
    )
    answered = {row.outcome.key for row in rows}
    extra = [entry for key, entry in entries.items() if key not in answered]
    leftovers, inherited = without_outcome(extra, outcomes, base_table, renames, table.name)
    return Matched(
        rows,
        unbound=tuple(_unbound(row, entries) for row in rows if not row.claims),
        exempt=tuple(
            Result(outcome.path, outcome.id, Verdict.EXEMPT, outcome.exempt)
            for outcome in inside
            if outcome.exempt
        ),
        leftovers=leftovers,
        inherited=inherited,
        notes=_inheritance_note(inherited, table.name),
    )


def part_of(matched: Matched, covers: Callable[[Key], bool]) -> Matched:
    """Return what was matched as a whole, as far as it is to be judged.

    Args:
        matched: Outcomes and table, all of them: what is inherited depends on the whole patch.
        covers: Tells by path and id what belongs to the part.
    """

    def some(results: tuple[Result, ...]) -> tuple[Result, ...]:
        return tuple(result for result in results if covers(result.key))

    return Matched(
        tuple(row for row in matched.rows if covers(row.outcome.key)),
        some(matched.unbound),
        some(matched.exempt),
        some(matched.leftovers),
        some(matched.inherited),
        matched.notes,
    )


def stub(outcomes: Iterable[Outcome], name: str = Table().name) -> Table:
    """Make a table in which every outcome waits for its test."""
    return updated(outcomes, Table(name=name))


def updated(
    outcomes: Iterable[Outcome],
    table: Table,
    found: Mapping[Key, str] = _NOTHING_FOUND,
    renames: Mapping[str, str] = _NO_NAMES,
) -> Table:
    """Bring a table up to date: one row for every outcome that needs a test, and no other.

    Args:
        outcomes: All new outcomes, exempt ones too.
        table: The table as it is; claims for outcomes that are still there are kept, also where
            the text of the row is wrong or its file was renamed.
        found: Nodeids that take the place of the claims there are.
        renames: New paths of files that the patch renamed, by old path.
    """
    entries = {entry.key: entry for entry in table.entries}
    moved = {
        (renames[path], row_id): entry
        for (path, row_id), entry in entries.items()
        if path in renames
    }
    return Table(
        tuple(
            _entry(outcome, entries.get(outcome.key, moved.get(outcome.key)), found)
            for outcome in outcomes
            if not outcome.exempt
        ),
        table.name,
    )


def _is_under(path: str, folder: str) -> bool:
    return folder in {"", ".", path} or path.startswith(folder.rstrip("/") + "/")


def _refuse_other_decision(outcome: Outcome, entry: Entry | None, name: str) -> None:
    if entry is None:
        return
    for of in ("kind", "predicate", "side"):
        ours, theirs = getattr(outcome, of), getattr(entry, of)
        if ours != theirs:
            refuse(
                name,
                entry.line,
                f'field "{of}" is "{theirs}", but {outcome.id} in {outcome.path} has "{ours}"; '
                "`invertgate table --write` corrects the row",
            )


def _claims(entry: Entry | None, marked: Sequence[str]) -> tuple[Claim, ...]:
    in_table = [Claim(entry.test)] if entry is not None and entry.test is not None else []
    named = {claim.test for claim in in_table}
    by_marker = [Claim(test, ClaimSource.MARKER) for test in marked if test not in named]
    return (*in_table, *by_marker)


def _unbound(row: Row, entries: Mapping[Key, Entry]) -> Result:
    key = row.outcome.key
    return Result(*key, Verdict.UNBOUND, NO_CLAIM if key in entries else NOT_IN_TABLE)


def _inheritance_note(inherited: Sequence[Result], name: str) -> tuple[str, ...]:
    if not inherited:
        return ()
    rows = "1 row" if len(inherited) == 1 else f"{len(inherited)} rows"
    return (f"{name} holds {rows} of merged patches; `invertgate table --write` removes them",)


def _entry(outcome: Outcome, entry: Entry | None, found: Mapping[Key, str]) -> Entry:
    claimed = entry.test if entry is not None else None
    test = found.get(outcome.key, claimed)
    lock = entry.lock if entry is not None and test == claimed else None
    return Entry(
        outcome.id, outcome.path, outcome.kind, outcome.predicate, outcome.side, test, lock
    )
