"""A change of a file as a unified diff for `git apply`: bytes, and paths as git quotes them."""

import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final

_CONTEXT: Final = 3
_NO_LINE_END: Final = b"\n\\ No newline at end of file\n"
_ESCAPES: Final = {7: "a", 8: "b", 9: "t", 10: "n", 11: "v", 12: "f", 13: "r", 34: '"', 92: "\\"}
_PRINTABLE: Final = range(0x20, 0x7F)


def unified(path: str, lines: Sequence[bytes], changed: Mapping[int, bytes]) -> bytes:
    """Write a unified diff, as GNU diff and git define it, of lines that take the place of others.

    Args:
        path: The file, relative to the top of the repository.
        lines: Its lines as git counts them, with their ends.
        changed: What some of them become, by number from 0.
    """
    return b"".join(_diff(path, lines, changed))


def _diff(path: str, lines: Sequence[bytes], changed: Mapping[int, bytes]) -> Iterator[bytes]:
    yield b"--- " + _name(f"a/{path}") + b"\n"
    yield b"+++ " + _name(f"b/{path}") + b"\n"
    for hunk in _hunks(sorted(changed)):
        first = max(0, hunk[0] - _CONTEXT)
        last = min(len(lines), hunk[-1] + _CONTEXT + 1)
        region = f"{first + 1},{last - first}"
        yield f"@@ -{region} +{region} @@\n".encode()
        for is_changed, numbers in groupby(range(first, last), key=changed.__contains__):
            run = list(numbers)
            yield from (_row(b"-" if is_changed else b" ", lines[number]) for number in run)
            if is_changed:
                yield from (_row(b"+", changed[number]) for number in run)


def _hunks(numbers: Sequence[int]) -> list[list[int]]:
    """Put changed lines together whose context would touch."""
    hunks: list[list[int]] = []
    for number in numbers:
        if hunks and number - hunks[-1][-1] <= 2 * _CONTEXT + 1:
            hunks[-1].append(number)
        else:
            hunks.append([number])
    return hunks


def _row(sign: bytes, line: bytes) -> bytes:
    return sign + (line if line.endswith(b"\n") else line + _NO_LINE_END)


def _name(path: str) -> bytes:
    """Write a path as git does: quoted if it has to be, ended by a tab if it holds a space."""
    raw = os.fsencode(path)
    written = "".join(_character(byte) for byte in raw)
    if len(written) > len(raw):
        return f'"{written}"'.encode()
    return raw + (b"\t" if b" " in raw else b"")


def _character(byte: int) -> str:
    if escape := _ESCAPES.get(byte):
        return f"\\{escape}"
    return chr(byte) if byte in _PRINTABLE else f"\\{byte:03o}"
