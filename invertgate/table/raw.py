"""Rows as their file has them, before anybody asks what they mean."""

import re
from dataclasses import dataclass
from typing import Final, Never

from invertgate.errors import TableError

_CONFLICT: Final = re.compile(r"^(?:<{7}|={7}|>{7}|\|{7})(?=[ \r\n]|\Z)", re.MULTILINE)
_JSON_KEY: Final = re.compile(r'"(?:[^"\\]|\\.)*"(?=[ \t\r\n]*:)')


@dataclass(frozen=True, slots=True)
class Foreign:
    """A value that is neither text nor null, and how a message shows it."""

    shown: str


Value = str | Foreign | None
Pairs = tuple[tuple[str, Value], ...]


@dataclass(frozen=True, slots=True)
class RawRow:
    """A row with every key that its file has, repeated ones too."""

    line: int
    pairs: Pairs
    origin: str | tuple[int, ...]
    """The row's own source (JSON), or the line of each pair (YAML)."""

    def line_of(self, index: int) -> int:
        """Give the line of one of the pairs."""
        if isinstance(self.origin, tuple):
            return self.origin[index]
        keys = list(_JSON_KEY.finditer(self.origin))
        return self.line + self.origin.count("\n", 0, keys[index].start())


def decoded(source: bytes, name: str) -> str:
    """Decode a table, with or without a byte order mark.

    Raises:
        TableError: It is not UTF-8, or git left a conflict in it.
    """
    if source.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in source[:4]:
        refuse(name, 1, "this is not UTF-8 but looks like UTF-16; save the file as UTF-8")
    try:
        text = source.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = source.count(b"\n", 0, error.start) + 1
        refuse(name, line, "this is not UTF-8; save the file as UTF-8")
    if conflict := _CONFLICT.search(text):
        refuse(
            name,
            line_at(text, conflict.start()),
            f"a merge conflict is left ({conflict[0]}); keep the rows of both sides, each once, "
            "then run `invertgate table --write`",
        )
    return text


def line_at(text: str, position: int) -> int:
    """Give the line, from 1, of a place in a text."""
    return text.count("\n", 0, position) + 1


def refuse(name: str, line: int, what: str) -> Never:
    """Say where the table is malformed.

    Raises:
        TableError: Always.
    """
    raise TableError(f"{name}:{line}: {what}")
