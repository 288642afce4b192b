"""The lists that a repository keeps for us, read strictly: every value with its line."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from typing import Final, Never

from yaml import events as kinds

from invertgate.errors import UsageError
from invertgate.source_text import Refuse, decoded
from invertgate.yaml_events import Events, events_of, is_null, is_text, line_of, noun

_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Written:
    """A single value as it is written."""

    text: str
    line: int
    is_text: bool
    """YAML takes it for text, and for no number, truth value or date."""


@dataclass(frozen=True, slots=True)
class Record:
    """One element of the list: fields by name, each with what is written there."""

    name: str
    line: int
    fields: Mapping[str, Written | tuple[Written, ...]]

    def text(self, field: str) -> str:
        """Return a field that must be text and say something.

        Raises:
            UsageError: It is missing, empty, no text, or a list.
        """
        written = self.single(field)
        if not written.is_text or not written.text.strip():
            self.refuse(field, f"must be text, not {written.text or 'nothing'}")
        if written.text != written.text.strip():
            self.refuse(field, "begins or ends with a blank")
        return written.text

    def single(self, field: str) -> Written:
        """Return a field that must be a single value.

        Raises:
            UsageError: It is missing, or a list.
        """
        found = self._there(field)
        if isinstance(found, tuple):
            self.refuse(field, "must be one value, not a list")
        return found

    def texts(self, field: str) -> tuple[str, ...]:
        """Return a field that must be a list of texts, or a single one.

        Raises:
            UsageError: It is missing, empty, or holds something else.
        """
        found = self._there(field)
        several = found if isinstance(found, tuple) else (found,)
        if not several:
            self.refuse(field, "must name something, not nothing")
        for written in several:
            if not written.is_text or not written.text.strip():
                refuse(self.name, written.line, f'field "{field}" must hold texts only')
        return tuple(written.text for written in several)

    def day(self, field: str, today: date, most: int, option: str) -> date:
        """Return a field that must be a day, and one that is not too far away.

        Args:
            field: Its name.
            today: What day it is, in UTC.
            most: How many days from today it may lie.
            option: What a user calls that limit.

        Raises:
            UsageError: It is missing, no day as ``YYYY-MM-DD``, or too far away.
        """
        day = self._day(field)
        days = (day - today).days
        if days > most:
            self.refuse(field, f"is {days} days from today ({today}, UTC); {option} is {most}")
        return day

    def _day(self, field: str) -> date:
        written = self.single(field).text
        what = f"must be a day as YYYY-MM-DD, not {written or 'nothing'}"
        if not _DATE.fullmatch(written):
            self.refuse(field, what)
        try:
            return date.fromisoformat(written)
        except ValueError:
            self.refuse(field, what)

    def refuse(self, field: str, what: str) -> Never:
        """Say what is wrong with a field.

        Raises:
            UsageError: Always.
        """
        found = self.fields.get(field)
        line = found.line if isinstance(found, Written) else found[0].line if found else self.line
        refuse(self.name, line, f'field "{field}" {what}')

    def _there(self, field: str) -> Written | tuple[Written, ...]:
        if field not in self.fields:
            self.refuse(field, "is missing")
        return self.fields[field]


@dataclass(frozen=True, slots=True)
class Shape:
    """What a file of this kind must look like."""

    key: str
    """The one key at its top, under which the list stands."""
    required: tuple[str, ...]
    optional: tuple[str, ...] = ()


def records(source: bytes, name: str, shape: Shape) -> list[Record]:
    """Read a list of records.

    Args:
        source: The file's bytes; an empty file has none.
        name: What messages call it.
        shape: What it must look like.

    Raises:
        UsageError: It is malformed; the message names file, line and field.
    """
    complain = partial(refuse, name)
    text = decoded(source, complain, "keep what both sides say")
    events = events_of(text, complain)
    next(events)  # the stream starts
    if isinstance(next(events), kinds.StreamEndEvent):
        return []
    found = list(_top(events, name, shape, complain))
    next(events)  # the document ends
    if not isinstance(after := next(events), kinds.StreamEndEvent):
        complain(line_of(after), "a second document starts; write one list")
    return found


def refuse(name: str, line: int, what: str) -> Never:
    """Say where a file is malformed.

    Raises:
        UsageError: Always.
    """
    raise UsageError(f"{name}:{line}: {what}")


def _top(events: Events, name: str, shape: Shape, complain: Refuse) -> Iterator[Record]:
    top = next(events)
    if is_null(top):
        return
    expected = f'the file must have one key, "{shape.key}", and a list under it'
    if not isinstance(top, kinds.MappingStartEvent):
        complain(line_of(top), f"{expected}; it is {noun(top)}")
    key = next(events)
    if isinstance(key, kinds.MappingEndEvent):
        return
    if not isinstance(key, kinds.ScalarEvent) or key.value != shape.key:
        complain(line_of(key), f"{expected}; here stands {noun(key)}")
    listed = next(events)
    if isinstance(listed, kinds.SequenceStartEvent):
        yield from _elements(events, name, shape, complain)
    elif not is_null(listed):
        complain(line_of(listed), f'field "{shape.key}" must be a list, not {noun(listed)}')
    if not isinstance(after := next(events), kinds.MappingEndEvent):
        complain(line_of(after), f"{expected}; here stands {noun(after)} as well")


def _elements(events: Events, name: str, shape: Shape, complain: Refuse) -> Iterator[Record]:
    for event in events:
        match event:
            case kinds.SequenceEndEvent():
                return
            case kinds.MappingStartEvent():
                yield _record(events, Record(name, line_of(event), {}), shape, complain)
            case _:
                fields = ", ".join(shape.required)
                what = f'an element of "{shape.key}" must be a mapping with {fields}'
                complain(line_of(event), f"{what}; it is {noun(event)}")


def _record(events: Events, empty: Record, shape: Shape, complain: Refuse) -> Record:
    fields: dict[str, Written | tuple[Written, ...]] = {}
    known = (*shape.required, *shape.optional)
    for key in events:
        if isinstance(key, kinds.MappingEndEvent):
            break
        if not isinstance(key, kinds.ScalarEvent):
            complain(line_of(key), f"the name of a field must be text, not {noun(key)}")
        if key.value not in known:
            has = ", ".join(known)
            complain(line_of(key), f'field "{key.value}" is unknown; known are {has}')
        if key.value in fields:
            complain(line_of(key), f'field "{key.value}" stands twice')
        fields[key.value] = _value(events, key.value, line_of(key), complain)
    _refuse_missing(fields, shape.required, empty.line, complain)
    return Record(empty.name, empty.line, fields)


def _refuse_missing(
    fields: Mapping[str, object], required: Sequence[str], line: int, complain: Refuse
) -> None:
    for field in required:
        if field not in fields:
            complain(line, f'field "{field}" is missing')


def _value(
    events: Events, field: str, line: int, complain: Refuse
) -> Written | tuple[Written, ...]:
    event = next(events)
    if isinstance(event, kinds.SequenceStartEvent):
        return tuple(_listed(events, field, complain))
    if not isinstance(event, kinds.ScalarEvent):
        complain(line, f'field "{field}" must not be {noun(event)}')
    return _written(event, line)


def _listed(events: Events, field: str, complain: Refuse) -> Iterator[Written]:
    for event in events:
        match event:
            case kinds.SequenceEndEvent():
                return
            case kinds.ScalarEvent():
                yield _written(event, line_of(event))
            case _:
                complain(line_of(event), f'field "{field}" must hold texts, not {noun(event)}')


def _written(scalar: kinds.ScalarEvent, line: int) -> Written:
    if is_null(scalar):
        return Written("", line, is_text=False)
    return Written(str(scalar.value), line, is_text(scalar))
