"""The named properties of a repository, and which of them a patch calls for."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from invertgate.documents import Record, Shape, records, refuse

NAME: Final = "properties.yaml"
_SHAPE: Final = Shape("properties", ("id", "statement", "units", "files"), ("test",))
_ID: Final = re.compile(r"[\w.-]+", re.ASCII)
_NAME: Final = re.compile(r"(?:\w+::)*prop_\w*(?:\[.*\])?", re.DOTALL)
_UNITS: Final = re.compile(r"[1-9]\d{0,3}", re.ASCII)

Matches = Callable[[str, Iterable[str]], str | None]
"""Gives the first of some globs that matches a path."""


@dataclass(frozen=True, slots=True)
class Property:
    """A sentence about the code that must stay true, what it costs to check, and where it holds."""

    id: str
    statement: str
    units: int
    files: tuple[str, ...]
    """Globs of the files that select it."""
    test: str = ""
    """The nodeid, from the top of the repository, of the ``prop_`` function that states it."""
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Selection:
    """The properties that a patch calls for."""

    properties: tuple[Property, ...] = ()
    """In the order of their file, each once."""
    reworded: frozenset[str] = frozenset()
    """Ids of those among them that the patch changes: priced, and not counted."""
    unmapped: tuple[str, ...] = ()
    """Production files that no property answers for, leaving aside what the patch changes."""


def read(source: bytes, name: str) -> tuple[Property, ...]:
    """Read a list of properties.

    Args:
        source: Its bytes; an empty file names none.
        name: What messages call it.

    Raises:
        UsageError: It is malformed; the message names line and field.
    """
    found: dict[str, Property] = {}
    for record in records(source, name, _SHAPE):
        stated = _property(record)
        if (first := found.setdefault(stated.id, stated)) is not stated:
            what = (
                f'field "id": {stated.id} stands in line {first.line} already; keep one of the two'
            )
            refuse(name, stated.line, what)
    return tuple(found.values())


def reworded(base: Iterable[Property], head: Iterable[Property]) -> frozenset[str]:
    """Return the ids of properties that both sides have, and that do not say the same."""
    before = {stated.id: stated for stated in base}
    return frozenset(each.id for each in head if before.get(each.id, each) != each)


def select(
    properties: Sequence[Property],
    production: Sequence[str],
    changed: frozenset[str],
    first_match: Matches,
    moved: Sequence[str] = (),
) -> Selection:
    """Find the properties that changed files call for.

    Args:
        properties: Those of the merge base: one that the patch adds does not count.
        production: The changed production files.
        changed: Ids of properties that the patch rewords. They stay priced, or else a patch could
            buy itself room, and they answer for no file.
        first_match: Matches globs.
        moved: Where production files stood at the base: they call for their properties too, and
            need none where a file was only moved away.
    """
    called = tuple(
        stated
        for stated in properties
        if any(first_match(path, stated.files) for path in (*production, *moved))
    )
    standing = [stated for stated in called if stated.id not in changed]
    unmapped = tuple(
        path
        for path in production
        if not any(first_match(path, stated.files) for stated in standing)
    )
    return Selection(called, changed & {stated.id for stated in called}, unmapped)


def row_to_add(path: str) -> str:
    """Show the row of ``properties.yaml`` by which a file would have a property."""
    return f'{{id: …, statement: …, units: 1, files: ["{path}"], test: …}}'


def _property(record: Record) -> Property:
    name = record.text("id")
    if not _ID.fullmatch(name):
        record.refuse("id", f"must be letters, digits, _, . and - only, not {name}")
    units = record.single("units")
    if units.is_text or not _UNITS.fullmatch(units.text):
        record.refuse("units", f"must be a whole number from 1 to 9999, not {units.text or 'none'}")
    files = record.texts("files")
    for glob in files:
        if "\\" in glob or glob.startswith("/") or ".." in glob.split("/"):
            record.refuse("files", f"must be relative, with slashes, and stay inside: {glob}")
    test = record.text("test") if "test" in record.fields else ""
    if test and not _is_property_test(test):
        record.refuse("test", f"must be PATH::prop_NAME, with or without a class, not {test}")
    return Property(name, record.text("statement"), int(units.text), files, test, record.line)


def _is_property_test(nodeid: str) -> bool:
    path, separator, test = nodeid.partition("::")
    inside = not path.startswith("/") and ".." not in path.split("/") and not path.startswith("-")
    return bool(separator and path and inside and _NAME.fullmatch(test))
