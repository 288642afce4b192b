"""The tree of a Python file and the text it was made from."""

import ast
import re
import sys
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from itertools import accumulate
from tokenize import detect_encoding

from invertgate.model import NotParsed, Span

# Enough for 5,000 `elif` where Python can do it at all, and measured not to overflow the C stack.
_RECURSION_LIMIT = 10_000

_NEWER_SYNTAX = (
    (re.compile(rb"\s*type\s+\w+\s*[\[=]"), (3, 12)),
    (re.compile(rb"\s*(async\s+def|def|class)\s+\w+\s*\["), (3, 12)),
    (re.compile(rb"\s*except\b[^:(]*,"), (3, 14)),
)


class Lines:
    """The lines of a file as ``ast`` counts them: in UTF-8, without their line ends."""

    def __init__(self, source: bytes) -> None:
        self._lines = _utf8(_normal_newlines(source)).split(b"\n")

    def __getitem__(self, line: int) -> bytes:
        """Give a line by its number, from 1."""
        return self._lines[line - 1]

    def __len__(self) -> int:
        return len(self._lines)

    def between(self, line: int, column: int, end_line: int, end_column: int) -> bytes:
        """Cut out a region, counted as ``ast`` does."""
        if line == end_line:
            return self._lines[line - 1][column:end_column]
        first = self._lines[line - 1][column:]
        last = self._lines[end_line - 1][:end_column]
        return b"\n".join((first, *self._lines[line : end_line - 1], last))

    def stripped(self, first: int, last: int) -> tuple[bytes, ...]:
        """Give the lines from ``first`` to ``last`` without indentation, and without blank ones."""
        lines = (line.strip() for line in self._lines[first - 1 : last])
        return tuple(line for line in lines if line)

    def line_of_word(self, word: bytes, after: int, before: int) -> int:
        """Find the first line behind ``after`` that starts with a word; ``before`` if none does."""
        for line in range(after + 1, before):
            if self._lines[line - 1].lstrip(b" \t\f").startswith(word):
                return line
        return before


@dataclass(frozen=True, slots=True)
class Source:
    """A file that parses."""

    tree: ast.Module
    lines: Lines


def parse(path: str, source: bytes) -> Source | NotParsed:
    """Parse a file as Python would: any encoding it accepts, any line ends.

    Args:
        path: Named in the answer if the file does not parse.
        source: The bytes of the file.

    Returns:
        The tree with its lines, or line and reason why there is none.
    """
    try:
        with room_for_deep_trees(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return Source(ast.parse(source), Lines(source))
    except SyntaxError as error:
        line = error.lineno or 1
        return NotParsed(path, line, f"{error.msg or 'invalid syntax'}{_newer(source, line)}")
    except ValueError as error:
        return NotParsed(path, 1, str(error))
    except (RecursionError, MemoryError):
        return NotParsed(path, 1, f"nested too deeply for Python {_version(sys.version_info[:2])}")


@contextmanager
def room_for_deep_trees() -> Generator[None]:
    """Let deep trees be made, and f-strings in f-strings be followed."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _RECURSION_LIMIT))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


def _newer(source: bytes, line: int) -> str:
    lines = _normal_newlines(source).split(b"\n")
    text = lines[line - 1] if line <= len(lines) else b""
    for pattern, version in _NEWER_SYNTAX:
        if sys.version_info < version and pattern.match(text):
            running = _version(sys.version_info[:2])
            return f" (needs Python {_version(version)}, this is {running})"
    return ""


def _version(version: tuple[int, int]) -> str:
    return ".".join(map(str, version))


def _normal_newlines(source: bytes) -> bytes:
    return source.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in source else source


def _utf8(source: bytes) -> bytes:
    encoding, _ = detect_encoding(BytesIO(source).readline)
    if encoding == "utf-8":
        return source
    return source.decode(encoding).encode()


def lines_of_git(source: bytes, added: frozenset[int]) -> frozenset[int]:
    """Translate line numbers of git into those of Python.

    Args:
        source: The file.
        added: Lines as git counts them, which knows no line end but the line feed.

    Returns:
        The same lines as Python counts them: a lone carriage return ends a line too.
    """
    if b"\r" not in source.replace(b"\r\n", b""):
        return added
    git_lines = source.split(b"\n")
    sizes = [_normal_newlines(line.removesuffix(b"\r")).count(b"\n") + 1 for line in git_lines]
    ends = list(accumulate(sizes))
    return frozenset(
        number
        for line in added
        if line <= len(ends)
        for number in range(ends[line - 1] - sizes[line - 1] + 1, ends[line - 1] + 1)
    )


def span(node: ast.expr | ast.stmt | ast.pattern | ast.excepthandler) -> Span:
    """Tell where a node stands."""
    end_line, end_column = end(node)
    return Span(node.lineno, node.col_offset, end_line, end_column)


def end(node: ast.expr | ast.stmt | ast.pattern | ast.excepthandler) -> tuple[int, int]:
    """Tell where a node ends; the parser always says so, its types do not."""
    return (node.end_lineno or node.lineno, node.end_col_offset or node.col_offset)
