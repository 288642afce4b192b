"""The text of a file that people edit by hand: UTF-8, without the remains of a merge."""

import json
import re
from collections.abc import Callable
from math import isfinite
from typing import Final, Never

Refuse = Callable[[int, str], Never]
"""Says that a file is malformed: in which line, from 1, and what is wrong there."""

_CONFLICT: Final = re.compile(r"^(?:<{7}|={7}|>{7}|\|{7})(?=[ \r\n]|\Z)", re.MULTILINE)


def decoded(source: bytes, refuse: Refuse, after_conflict: str) -> str:
    """Decode a file, with or without a byte order mark.

    Args:
        source: Its bytes.
        refuse: Called where it is not UTF-8, or git left a conflict in it.
        after_conflict: What to do about a conflict.
    """
    if source.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in source[:4]:
        refuse(1, "this is not UTF-8 but looks like UTF-16; save the file as UTF-8")
    try:
        text = source.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = source.count(b"\n", 0, error.start) + 1
        refuse(line, "this is not UTF-8; save the file as UTF-8")
    if conflict := _CONFLICT.search(text):
        line = line_at(text, conflict.start())
        refuse(line, f"a merge conflict is left ({conflict[0]}); {after_conflict}")
    return text


def line_at(text: str, position: int) -> int:
    """Give the line, from 1, of a place in a text."""
    return text.count("\n", 0, position) + 1


def json_of(text: str | bytes) -> object:
    """Read JSON as its standard has it: no ``NaN``, no number that a float cannot hold.

    Raises:
        ValueError: It is none, or nested too deeply.
    """
    try:
        return json.loads(text, parse_constant=_refuse_number, parse_float=_finite)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def toml_of(source: bytes) -> dict[str, object]:
    """Read TOML, with or without a byte order mark.

    Raises:
        ValueError: It is none, is nested too deeply, or has a number of too many digits.
    """
    import tomllib  # noqa: PLC0415 (a project without TOML does not pay for it)

    try:
        return tomllib.loads(source.decode("utf-8-sig"))
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def _finite(digits: str) -> float:
    number = float(digits)
    return number if isfinite(number) else _refuse_number(digits)


def _refuse_number(word: str) -> Never:
    raise ValueError(f"{word:.20} is no number")
