"""Set rows aside that only flaky tests claim: they are held, and such a test binds nothing."""

import posixpath
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date

from invertgate.errors import UsageError
from invertgate.lanes import quarantine
from invertgate.lanes.quarantine import Entry
from invertgate.model import Result, Row, Verdict
from invertgate.patch.git import Repository


@dataclass(frozen=True, slots=True)
class Lists:
    """The list of flaky tests, as it counts."""

    live: tuple[Entry, ...] = ()
    folder: str = ""
    """The project's, to which nodeids are relative; an entry may be relative to the top as well."""
    notes: tuple[str, ...] = ()

    def freezing(self, test: str) -> Entry | None:
        """Return the live entry that freezes a test, or None."""
        from_top = posixpath.join(self.folder, test)
        return quarantine.freezing(test, self.live) or quarantine.freezing(from_top, self.live)


@dataclass(frozen=True, slots=True)
class Held:
    """Rows that are held, and those that can be judged."""

    results: tuple[Result, ...]
    rows: tuple[Row, ...]
    """Without the claims that earn nothing."""


def without_flaky(rows: Sequence[Row], flaky: Lists) -> Held:
    """Take the claims of flaky tests away.

    Args:
        rows: Rows with claims.
        flaky: The lists that count.
    """
    results, left = [], []
    for row in rows:
        freezing = [(claim, flaky.freezing(claim.test)) for claim in row.claims]
        counting = tuple(claim for claim, entry in freezing if entry is None)
        if counting:
            left.append(replace(row, claims=counting))
        else:
            results += [_result(row, claim.test, entry) for claim, entry in freezing[:1] if entry]
    return Held(tuple(results), tuple(left))


def flaky_tests(
    repository: Repository, folder: str, base: str, head: str, today: date, max_days: int
) -> Lists:
    """Read the lists of flaky tests of a project and of the whole repository.

    The merge base's count: an entry that the patch adds does not, and one that it removes does.

    Args:
        repository: Where to look.
        folder: The project's.
        base: The merge base; empty if there is none, and the judged lists count.
        head: The judged commit; empty for the working tree.
        today: What day it is, in UTC.
        max_days: How many days from today an entry may still live.

    Raises:
        UsageError: A list that is judged is malformed. A malformed one at the merge base freezes
            nothing, and that is told: or else nobody could mend it. The judged one does not take
            its place, as the patch wrote it.
    """
    live: list[Entry] = []
    notes: list[str] = []
    for path in dict.fromkeys((quarantine.NAME, posixpath.join(folder, quarantine.NAME))):
        judged = quarantine.read(_content(repository, head, path), path, today, max_days)
        counting = judged
        if base:
            counting = ()
            try:
                source = repository.blob_at(base, path) or b""
                counting = quarantine.read(source, path, today, max_days)
            except UsageError as error:
                notes.append(f"at the merge base, {error}; no test is frozen until that is mended")
            notes += _changes(path, counting, judged)
        live += quarantine.live_entries(counting, today)
    return Lists(tuple(live), folder, tuple(notes))


def _content(repository: Repository, head: str, path: str) -> bytes:
    if head:
        return repository.blob_at(head, path) or b""
    try:
        return (repository.top / path).read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return b""
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error


def _changes(path: str, base: Iterable[Entry], head: Iterable[Entry]) -> Iterator[str]:
    before = {entry.id: entry for entry in base}
    after = {entry.id: entry for entry in head}
    for test in sorted(before.keys() | after.keys()):
        if before.get(test) != after.get(test):
            word = "adds" if test not in before else "removes" if test not in after else "changes"
            yield f"the patch {word} the entry {test} of {path}; that counts once it is merged"


def _result(row: Row, test: str, entry: Entry) -> Result:
    reason = f"the test is quarantined until {entry.expires} (UTC), {entry.owner}: {entry.reason}"
    return Result(row.outcome.path, row.outcome.id, Verdict.QUARANTINED, reason, test)
