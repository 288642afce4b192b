"""The rows of a JSON table, each with its line."""

import json
import re
from collections.abc import Generator, Iterator
from typing import Final

from invertgate.source_text import line_at
from invertgate.table.raw import Foreign, Pairs, RawRow, Value, refuse

_BLANKS: Final = re.compile(r"[ \t\r\n]*")


def json_rows(text: str, name: str) -> Iterator[RawRow]:
    """Read the rows one at a time.

    Args:
        text: The table; an empty one has no rows.
        name: What messages call it.

    Raises:
        TableError: It is no JSON, or no list of objects.
    """
    start = _after_blanks(text, 0)
    if start == len(text):
        return
    if not text.startswith("[", start):
        what = "an object" if text.startswith("{", start) else repr(text[start : start + 20])
        refuse(name, line_at(text, start), f"the table must be a list of rows, not {what}")
    position = _after_blanks(text, start + 1)
    if not text.startswith("]", position):
        position = yield from _elements(text, position, name)
    end = _after_blanks(text, position + 1)
    if end != len(text):
        refuse(name, line_at(text, end), "nothing may follow the list of rows")


def _after_blanks(text: str, position: int) -> int:
    blanks = _BLANKS.match(text, position)
    return blanks.end() if blanks else position


def _elements(text: str, position: int, name: str) -> Generator[RawRow, None, int]:
    """Read the elements of a list; the place of its closing bracket is returned."""
    line, counted = 1, 0
    while True:
        line, counted = line + text.count("\n", counted, position), position
        pairs, end = _element(text, position, line, name)
        yield RawRow(line, pairs, text[position:end])
        position = _after_blanks(text, end)
        if text.startswith("]", position):
            return position
        if not text.startswith(",", position):
            refuse(name, line_at(text, position), "not valid JSON: expected , or ] after a row")
        position = _after_blanks(text, position + 1)
        if text.startswith("]", position):
            refuse(name, line_at(text, position), "not valid JSON: a comma stands before the ]")


def _element(text: str, position: int, line: int, name: str) -> tuple[Pairs, int]:
    try:
        element, end = _DECODER.raw_decode(text, position)
    except json.JSONDecodeError as error:
        refuse(name, error.lineno, f"not valid JSON: {error.msg} (column {error.colno})")
    except RecursionError:
        refuse(name, line, "not valid JSON: it is nested too deeply")
    if not isinstance(element, tuple):
        value = _value(element)
        shown = value.shown if isinstance(value, Foreign) else json.dumps(value)
        refuse(name, line, f"a row must be an object, not {shown}")
    return element, end


def _value(value: object) -> Value:
    match value:
        case str() | None | Foreign():
            return value
        case bool():
            return Foreign(str(value).lower())
        case list():
            return Foreign("a list")
        case _:
            return Foreign("an object")


def _pairs(pairs: list[tuple[str, object]]) -> Pairs:
    return tuple([(key, _value(value)) for key, value in pairs])


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_pairs,  # to a tuple, which nothing else in JSON becomes
    parse_int=Foreign,
    parse_float=Foreign,
    parse_constant=Foreign,
)
