"""The rows of a YAML table, each value as text that stands there and with its line."""

from collections.abc import Iterator
from functools import partial
from typing import Final

from yaml import events as kinds

from invertgate.table.raw import Foreign, RawRow, Value, refuse
from invertgate.yaml_events import Events, events_of, is_null, is_text, line_of, noun

_AS_WRITTEN: Final = frozenset({"id", "predicate", "side"})
"""Fields whose text YAML itself would take for a number or a truth value (``on``, ``true``)."""


def yaml_rows(text: str, name: str) -> Iterator[RawRow]:
    """Read the rows one at a time.

    Args:
        text: The table; an empty one has no rows.
        name: What messages call it.

    Raises:
        TableError: It is no YAML, or no list of mappings with plain values.
    """
    events = events_of(text, partial(refuse, name))
    next(events)  # the stream starts
    if isinstance(next(events), kinds.StreamEndEvent):
        return
    top = next(events)
    if isinstance(top, kinds.SequenceStartEvent):
        yield from _elements(events, name)
    elif not is_null(top):
        refuse(name, line_of(top), f"the table must be a list of rows, not {noun(top)}")
    next(events)  # the document ends
    if not isinstance(after := next(events), kinds.StreamEndEvent):
        refuse(name, line_of(after), "a second document starts; a table is one list of rows")


def _elements(events: Events, name: str) -> Iterator[RawRow]:
    for event in events:
        match event:
            case kinds.SequenceEndEvent():
                return
            case kinds.MappingStartEvent():
                yield _row(events, line_of(event), name)
            case _:
                refuse(name, line_of(event), f"a row must be a mapping, not {noun(event)}")


def _row(events: Events, line: int, name: str) -> RawRow:
    pairs: list[tuple[str, Value]] = []
    lines: list[int] = []
    for key in events:
        if isinstance(key, kinds.MappingEndEvent):
            break
        if not isinstance(key, kinds.ScalarEvent):
            refuse(name, line_of(key), f"the name of a field must be text, not {noun(key)}")
        value = next(events)
        if not isinstance(value, kinds.ScalarEvent):
            refuse(name, line_of(key), f'field "{key.value}" must be text, not {noun(value)}')
        pairs.append((key.value, _value(key.value, value)))
        lines.append(line_of(key))
    return RawRow(line, tuple(pairs), tuple(lines))


def _value(field: str, scalar: kinds.ScalarEvent) -> Value:
    if is_null(scalar):
        return None
    taken_as_it_stands = field in _AS_WRITTEN or is_text(scalar)
    return str(scalar.value) if taken_as_it_stands else Foreign(scalar.value)
