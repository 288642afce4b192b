"""Rows as their file has them, before anybody asks what they mean."""

import re
from dataclasses import dataclass
from functools import partial
from typing import Final, Never

from invertgate import source_text
from invertgate.errors import TableError

_AFTER_CONFLICT: Final = (
    "keep the rows of both sides, each once, then run `invertgate table --write`"
)
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
    return source_text.decoded(source, partial(refuse, name), _AFTER_CONFLICT)


def refuse(name: str, line: int, what: str) -> Never:
    """Say where the table is malformed.

    Raises:
        TableError: Always.
    """
    raise TableError(f"{name}:{line}: {what}")
