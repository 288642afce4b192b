"""The rows of a YAML table, each value as text that stands there and with its line."""

import re
from collections.abc import Iterator
from typing import Final

import yaml
from yaml import events as kinds
from yaml.resolver import Resolver

from invertgate.table.raw import Foreign, RawRow, Value, line_at, refuse

try:
    from yaml import CSafeLoader as Loader
except ImportError:  # PyYAML without its C library
    from yaml import SafeLoader as Loader  # type: ignore[assignment]

_UNREADABLE: Final = re.compile(
    "[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
)
_NULLS: Final = frozenset({"", "~", "null", "Null", "NULL"})
_AS_WRITTEN: Final = frozenset({"id", "predicate", "side"})
"""Fields whose text YAML itself would take for a number or a truth value (``on``, ``true``)."""

Events = Iterator[yaml.Event]


def yaml_rows(text: str, name: str) -> Iterator[RawRow]:
    """Read the rows one at a time.

    Args:
        text: The table; an empty one has no rows.
        name: What messages call it.

    Raises:
        TableError: It is no YAML, or no list of mappings with plain values.
    """
    events = _events(text, name)
    next(events)  # the stream starts
    if isinstance(next(events), kinds.StreamEndEvent):
        return
    top = next(events)
    if isinstance(top, kinds.SequenceStartEvent):
        yield from _elements(events, name)
    elif not _is_null(top):
        refuse(name, _line(top), f"the table must be a list of rows, not {_noun(top)}")
    next(events)  # the document ends
    if not isinstance(after := next(events), kinds.StreamEndEvent):
        refuse(name, _line(after), "a second document starts; a table is one list of rows")


def _events(text: str, name: str) -> Events:
    try:
        for event in yaml.parse(text, Loader=Loader):
            _refuse_indirection(event, name)
            yield event
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        what = " ".join(filter(None, (error.context, error.problem)))
        refuse(name, line, f"not valid YAML: {what}")
    except yaml.YAMLError:
        unreadable = _UNREADABLE.search(text)
        position = unreadable.start() if unreadable else 0
        refuse(
            name, line_at(text, position), "not valid YAML: a character that YAML does not allow"
        )


def _refuse_indirection(event: yaml.Event, name: str) -> None:
    if isinstance(event, kinds.AliasEvent):
        refuse(name, _line(event), "aliases are not read; write the value itself")
    if isinstance(event, kinds.ScalarEvent | kinds.CollectionStartEvent):
        if event.anchor is not None:
            refuse(name, _line(event), f"anchors are not read; remove &{event.anchor}")
        if event.tag is not None:
            refuse(name, _line(event), f"tags are not read; remove {event.tag}")


def _elements(events: Events, name: str) -> Iterator[RawRow]:
    for event in events:
        match event:
            case kinds.SequenceEndEvent():
                return
            case kinds.MappingStartEvent():
                yield _row(events, _line(event), name)
            case _:
                refuse(name, _line(event), f"a row must be a mapping, not {_noun(event)}")


def _row(events: Events, line: int, name: str) -> RawRow:
    pairs: list[tuple[str, Value]] = []
    lines: list[int] = []
    for key in events:
        if isinstance(key, kinds.MappingEndEvent):
            break
        if not isinstance(key, kinds.ScalarEvent):
            refuse(name, _line(key), f"the name of a field must be text, not {_noun(key)}")
        value = next(events)
        if not isinstance(value, kinds.ScalarEvent):
            refuse(name, _line(key), f'field "{key.value}" must be text, not {_noun(value)}')
        pairs.append((key.value, _value(key.value, value)))
        lines.append(_line(key))
    return RawRow(line, tuple(pairs), tuple(lines))


def _value(field: str, scalar: kinds.ScalarEvent) -> Value:
    if _is_null(scalar):
        return None
    if not scalar.implicit[0] or field in _AS_WRITTEN:  # quoted, or taken as it stands
        return str(scalar.value)
    tag = _RESOLVER.resolve(yaml.ScalarNode, scalar.value, (True, False))  # type: ignore[no-untyped-call]
    return str(scalar.value) if tag == _TEXT else Foreign(scalar.value)


def _is_null(event: yaml.Event) -> bool:
    return isinstance(event, kinds.ScalarEvent) and event.implicit[0] and event.value in _NULLS


def _noun(event: yaml.Event) -> str:
    match event:
        case kinds.SequenceStartEvent():
            return "a list"
        case kinds.MappingStartEvent():
            return "a mapping"
        case kinds.ScalarEvent():
            return repr(event.value)
        case _:
            return "nothing"


def _line(event: yaml.Event) -> int:
    return event.start_mark.line + 1 if event.start_mark else 1


_RESOLVER: Final = Resolver()
_TEXT: Final = "tag:yaml.org,2002:str"
