"""The lines of source that a reader needs to see an outcome."""

import re
from io import BytesIO
from tokenize import detect_encoding
from typing import Final

from invertgate.model import Excerpt, Outcome

AROUND: Final = 3
"""Lines before the decision and after what it decides about."""
MOST: Final = 40

_LINE_END: Final = re.compile(r"\r\n|\r|\n")


def lines_of(source: bytes) -> list[str]:
    """Return the lines of a Python file as Python counts them, without their ends."""
    encoding, _ = detect_encoding(BytesIO(source).readline)
    lines = _LINE_END.split(source.decode(encoding, "replace"))
    return lines if lines[-1] else lines[:-1]


def excerpt(outcome: Outcome, lines: list[str]) -> Excerpt:
    """Cut out an outcome with its decision; where that is too long, what is nearest to its line.

    Args:
        outcome: One of the file's.
        lines: All lines of the file.
    """
    first = max(1, min(outcome.anchor.line, outcome.line, outcome.body[0]) - AROUND)
    last = min(len(lines), max(outcome.line, outcome.body[1]) + AROUND)
    if last - first >= MOST:
        first = max(first, outcome.line - MOST // 2)
        last = min(last, first + MOST - 1)
    return Excerpt(first, tuple(lines[first - 1 : last]))
