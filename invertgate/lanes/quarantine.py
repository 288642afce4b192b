"""The list of flaky tests: who answers for each, and until when it earns nothing.

Dates are days in UTC, the last one included; what day it is comes in as an argument.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from enum import StrEnum
from typing import Final

from invertgate.documents import Record, Shape, records, refuse

NAME: Final = "flaky.yaml"
_SHAPE: Final = Shape("flaky", ("id", "owner", "reason", "expires"))


@dataclass(frozen=True, slots=True)
class Entry:
    """A test that fails by chance, frozen until somebody has mended it."""

    id: str
    """A nodeid, with or without its parameters, or the bare name of a test."""
    owner: str
    reason: str
    expires: date
    """The last day, in UTC, on which it is frozen."""
    line: int = field(default=0, compare=False)

    def is_live(self, today: date) -> bool:
        """Tell whether it counts on a day."""
        return today <= self.expires

    def names(self, nodeid: str) -> bool:
        """Tell whether it means a test."""
        plain = _without_parameters(nodeid)
        if "::" in self.id:
            return self.id in {nodeid, plain}
        bare = plain.rpartition("::")[2]
        return self.id in {bare, bare + nodeid[len(plain) :]}

    def touches(self, nodeid: str) -> bool:
        """Tell whether it means a test, or one of the parameters that a test is run with."""
        if self.names(nodeid) or "[" in nodeid:
            return self.names(nodeid)
        return replace(self, id=_without_parameters(self.id)).names(nodeid)


class State(StrEnum):
    """What has become of an entry."""

    LIVE = "live"
    STALE = "stale"
    """It is live, and names no test that pytest collects."""
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True)
class Standing:
    """An entry, and what it comes to."""

    entry: Entry
    state: State
    nodeids: tuple[str, ...]
    """The collected tests that it names."""
    is_new: bool = False
    """The merge base does not have it: it counts once it is merged."""


def read(source: bytes, name: str, today: date, max_days: int) -> tuple[Entry, ...]:
    """Read a list of flaky tests.

    Args:
        source: Its bytes; an empty file names none.
        name: What messages call it.
        today: What day it is, in UTC.
        max_days: How many days from today an entry may still live.

    Raises:
        UsageError: It is malformed, or an entry lives too long; the message names line and field.
    """
    found: dict[str, Entry] = {}
    for record in records(source, name, _SHAPE):
        entry = _entry(record, today, max_days)
        if (first := found.setdefault(entry.id, entry)) is not entry:
            what = (
                f'field "id": {entry.id} stands in line {first.line} already; keep one of the two'
            )
            refuse(name, entry.line, what)
    return tuple(found.values())


def live_entries(document: Iterable[Entry], today: date) -> tuple[Entry, ...]:
    """Return the entries that count on a day; the others are dead, and their tests count again."""
    return tuple(entry for entry in document if entry.is_live(today))


def freezing(nodeid: str, entries: Iterable[Entry]) -> Entry | None:
    """Return the entry that freezes a test, or None."""
    return next((entry for entry in entries if entry.names(nodeid)), None)


def is_quarantined(nodeid: str, entries: Iterable[Entry]) -> bool:
    """Tell whether a test earns nothing.

    Args:
        nodeid: The test.
        entries: Live ones; see ``live_entries``.
    """
    return freezing(nodeid, entries) is not None


def standings(
    document: Sequence[Entry],
    today: date,
    collected: Collection[str],
    base: Collection[Entry] | None = None,
) -> tuple[Standing, ...]:
    """Tell what has become of each entry.

    Args:
        document: The list as it is judged.
        today: What day it is, in UTC.
        collected: The nodeids that pytest collects.
        base: The list of the merge base, if that is known.
    """
    return tuple(_standing(entry, today, collected, base) for entry in document)


def _standing(
    entry: Entry, today: date, collected: Collection[str], base: Collection[Entry] | None
) -> Standing:
    nodeids = tuple(nodeid for nodeid in collected if entry.names(nodeid))
    state = State.LIVE if nodeids else State.STALE
    if not entry.is_live(today):
        state = State.EXPIRED
    return Standing(entry, state, nodeids, is_new=base is not None and entry not in base)


def _entry(record: Record, today: date, max_days: int) -> Entry:
    test = record.text("id")
    if set("*?") & set(_without_parameters(test)):
        record.refuse("id", f"must name one test, not a pattern: {test}")
    expires = record.day("expires", today, max_days, "max_quarantine_days")
    return Entry(test, record.text("owner"), record.text("reason"), expires, record.line)


def _without_parameters(nodeid: str) -> str:
    file, separator, test = nodeid.partition("::")  # a folder may have brackets in its name
    return file + separator + test.partition("[")[0] if separator else file.partition("[")[0]
