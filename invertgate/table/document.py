"""The decision table as a document: strict to read, stable to write, JSON and YAML alike."""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from invertgate.model import Kind, Side
from invertgate.table.json_rows import json_rows
from invertgate.table.raw import Foreign, RawRow, Value, decoded, refuse

YAML_SUFFIXES: Final = (".yaml", ".yml")

_TWO_SIDES: Final = frozenset({Side.TRUE, Side.FALSE})
_ELSE: Final = frozenset({Side.ELSE})
_SIDES: Final[Mapping[Kind, frozenset[Side]]] = {
    Kind.IF: _TWO_SIDES,
    Kind.EXCEPT: frozenset({Side.HANDLER}),
    Kind.TRY_ELSE: _ELSE,
    Kind.MATCH: frozenset({Side.CASE}),
    Kind.FOR_ELSE: _ELSE,
    Kind.WHILE_ELSE: _ELSE,
    Kind.WHILE: _TWO_SIDES,
    Kind.IFEXP: _TWO_SIDES,
    Kind.COMPREHENSION: _TWO_SIDES,
}
_SIDE_ORDER: Final = {side: place for place, side in enumerate(Side)}


@dataclass(frozen=True, slots=True)
class Entry:
    """A row as the table has it."""

    id: str
    path: str
    kind: Kind
    predicate: str
    side: Side
    test: str | None = None
    """A nodeid, or None while nobody has claimed the outcome."""
    lock: str | None = None
    """Digest of the claimed test when it was locked."""
    line: int = field(default=0, compare=False)
    """Where it stands in its file, for messages; no part of what it says."""

    @property
    def key(self) -> tuple[str, str]:
        """What identifies it in a repository."""
        return (self.path, self.id)


@dataclass(frozen=True, slots=True)
class Table:
    """A decision table; two with the same rows in the same order are equal, whatever their name."""

    entries: tuple[Entry, ...] = ()
    name: str = field(default="branch_rows.json", compare=False)
    """What messages call it."""


def read(source: bytes, name: str) -> Table:
    """Read a table.

    Args:
        source: Its bytes; an empty table has no rows.
        name: What messages call it; by ``.yaml`` or ``.yml`` it is YAML, else JSON.

    Raises:
        TableError: It is malformed; the message names the file, the line and the field.
    """
    text = decoded(source, name)
    entries: dict[tuple[str, str], Entry] = {}
    for row in _rows(text, name):
        entry = _entry(row, name)
        if (first := entries.setdefault(entry.key, entry)) is not entry:
            refuse(
                name,
                entry.line,
                f'field "id": the row {entry.path}:{entry.id} stands in line {first.line} already; '
                "keep one of the two",
            )
    return Table(tuple(entries.values()), name)


def write(table: Table, suffix: str) -> bytes:
    """Write a table, so that equal rows make equal bytes whatever order they come in.

    Rows are sorted by what they say and never by where their code stands: a function that moves
    changes nothing, and rows of two patches land where their predicates belong, not all at the end.

    Args:
        table: What to write; its name does not matter.
        suffix: ``.yaml`` or ``.yml`` for YAML, anything else for JSON.
    """
    rows = [_written_fields(entry) for entry in sorted(table.entries, key=_place)]
    if not rows:
        return b"[]\n"
    if suffix in YAML_SUFFIXES:
        return "".join(map(_yaml_row, rows)).encode()
    return ("[\n" + ",\n".join(map(_json_row, rows)) + "\n]\n").encode()


def _rows(text: str, name: str) -> Iterable[RawRow]:
    if not name.endswith(YAML_SUFFIXES):
        return json_rows(text, name)
    from invertgate.table.yaml_rows import yaml_rows  # noqa: PLC0415 (JSON does not pay for YAML)

    return yaml_rows(text, name)


def _entry(row: RawRow, name: str) -> Entry:
    fields = dict(row.pairs)
    if len(fields) != len(row.pairs) or not fields.keys() <= _CHECKS.keys():
        _refuse_fields(row, name)
    for missing in _REQUIRED:
        if missing not in fields:
            refuse(name, row.line, f'field "{missing}" is missing')
    for index, (key, value) in enumerate(row.pairs):
        if trouble := _CHECKS[key](value):
            refuse(name, row.line_of(index), f'field "{key}" {trouble}')
    kind, side = Kind(_text(fields["kind"])), Side(_text(fields["side"]))
    if side not in _SIDES[kind]:
        sides = " or ".join(sorted(_SIDES[kind]))
        line = row.line_of(list(fields).index("side"))
        refuse(name, line, f'field "side" must be {sides} for {kind}, not "{side}"')
    return Entry(
        _text(fields["id"]),
        _text(fields["path"]),
        kind,
        _text(fields["predicate"]),
        side,
        _text(fields["test"]) or None,
        _text(fields.get("lock")) or None,
        row.line,
    )


def _refuse_fields(row: RawRow, name: str) -> None:
    seen: set[str] = set()
    for index, (key, _) in enumerate(row.pairs):
        if key not in _CHECKS:
            known = ", ".join(_CHECKS)
            refuse(name, row.line_of(index), f'field "{key}" is unknown; a row has {known}')
        if key in seen:
            refuse(name, row.line_of(index), f'field "{key}" stands twice in this row')
        seen.add(key)


def _text(value: Value) -> str:
    return value if isinstance(value, str) else ""


def _shown(value: Value) -> str:
    match value:
        case Foreign(shown):
            return shown
        case None:
            return "null"
        case _:
            return _quoted(value if len(value) < _LONG else value[:_LONG] + "…")


def _id_trouble(value: Value) -> str:
    if isinstance(value, str) and _ID.fullmatch(value):
        return ""
    return f"must be 12 hex digits in lower case, not {_shown(value)}"


def _path_trouble(value: Value) -> str:
    if not isinstance(value, str):
        return f"must be text, not {_shown(value)}"
    if _NOT_INSIDE.isdisjoint(value.split("/")) and not _DRIVE.match(value):
        return ""
    return f"must lead from the top of the repository to a file inside, not {_shown(value)}"


def _predicate_trouble(value: Value) -> str:
    if isinstance(value, str) and value.strip():
        return ""
    return f"must be the text of the decision, not {_shown(value)}"


def _kind_trouble(value: Value) -> str:
    return "" if value in _KINDS else f"must be one of {', '.join(Kind)}, not {_shown(value)}"


def _side_trouble(value: Value) -> str:
    return "" if value in _ALL_SIDES else f"must be one of {', '.join(Side)}, not {_shown(value)}"


def _test_trouble(value: Value) -> str:
    if value is None or (isinstance(value, str) and value.strip()):
        return ""
    return f"must be one nodeid or null, not {_shown(value)}"


def _lock_trouble(value: Value) -> str:
    if value is None or (isinstance(value, str) and value.strip()):
        return ""
    return f"must be a digest that `invertgate bind --lock` wrote, not {_shown(value)}"


_LONG: Final = 80
_ID: Final = re.compile("[0-9a-f]{12}")
_DRIVE: Final = re.compile(r"[A-Za-z]:[\\/]")
_NOT_INSIDE: Final = frozenset({"", ".", ".."})
_KINDS: Final = frozenset(Kind)
_ALL_SIDES: Final = frozenset(Side)
_CHECKS: Final[Mapping[str, Callable[[Value], str]]] = {
    "id": _id_trouble,
    "path": _path_trouble,
    "kind": _kind_trouble,
    "predicate": _predicate_trouble,
    "side": _side_trouble,
    "test": _test_trouble,
    "lock": _lock_trouble,
}
_REQUIRED: Final = tuple(key for key in _CHECKS if key != "lock")


def _place(entry: Entry) -> tuple[str, str, str, int, str]:
    return (entry.path, entry.predicate, entry.kind, _SIDE_ORDER[entry.side], entry.id)


def _written_fields(entry: Entry) -> list[tuple[str, str]]:
    values = {
        "id": entry.id,
        "path": entry.path,
        "kind": entry.kind,
        "predicate": entry.predicate,
        "side": entry.side,
        "test": entry.test,
    } | ({} if entry.lock is None else {"lock": entry.lock})
    return [(key, "null" if value is None else _quoted(value)) for key, value in values.items()]


def _quoted(text: str) -> str:
    """Quote a text so that JSON and YAML read the same, and UTF-8 can hold it."""
    return _TO_ESCAPE.sub(lambda found: f"\\u{ord(found[0]):04x}", _ENCODER.encode(text))


_ENCODER: Final = json.JSONEncoder(ensure_ascii=False)
_TO_ESCAPE: Final = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")


def _json_row(row: list[tuple[str, str]]) -> str:
    lines = ",\n".join(f'    "{key}": {text}' for key, text in row)
    return f"  {{\n{lines}\n  }}"


def _yaml_row(row: list[tuple[str, str]]) -> str:
    return "- " + "\n  ".join(f"{key}: {text}" for key, text in row) + "\n"
