"""The text of constants, as ``ast.unparse`` writes it on Python 3.12."""

import sys
from collections.abc import Sequence
from types import EllipsisType

from invertgate.outcomes.printable import is_printable

_INFINITY = f"1e{sys.float_info.max_10_exp + 1}"
_LONG_QUOTES = ('"""', "'''")
_QUOTES = ("'", '"', *_LONG_QUOTES)

type_of_constant = str | bytes | int | float | complex | bool | EllipsisType | None


def constant(value: type_of_constant) -> str:
    """Write a constant; a ``u`` prefix, digit separators and the quotes of the source are gone."""
    if isinstance(value, str):
        return string(value)
    if value is ...:
        return "..."
    if isinstance(value, float | complex):
        return repr(value).replace("inf", _INFINITY)
    if isinstance(value, int):
        return _integer(value)
    return repr(value)


def _integer(value: int) -> str:
    try:
        return repr(value)
    except ValueError:  # more digits than Python is willing to write in decimal
        return hex(value)


def string(text: str) -> str:
    """Write a string as ``repr`` does on Python 3.12, whatever Unicode this Python knows."""
    if text.isascii():
        return repr(text)
    quote = '"' if "'" in text and '"' not in text else "'"
    body = "".join(f"\\{c}" if c == quote else _escaped(c) for c in text)
    return f"{quote}{body}{quote}"


def joined(parts: Sequence[tuple[str, bool]]) -> str:
    """Write a formatted string.

    Args:
        parts: Texts in their order, with True if the text is a constant (braces doubled), False if
            it is a replacement field and stands as it is.

    Returns:
        The literal, in the quotes that need the fewest escapes.
    """
    quotes: Sequence[str] = _QUOTES
    texts = []
    for text, is_constant in parts:
        if is_constant:
            written, possible = _least_escaped(text, quotes)
            if not set(possible) & set(quotes):
                return _joined_by_force(parts)
            quotes = possible
        else:
            written = text
            if "\n" in text:
                quotes = [quote for quote in quotes if quote in _LONG_QUOTES]
                if not quotes:
                    return _joined_by_force(parts)
        texts.append(written)
    return f"f{quotes[0]}{''.join(texts)}{quotes[0]}"


def format_text(text: str) -> str:
    """Write the constant part of a format specification."""
    if text.isascii() and text.isprintable() and "\\" not in text:
        return text
    return "".join(_escaped(c) for c in text)


def _joined_by_force(parts: Sequence[tuple[str, bool]]) -> str:
    texts = (string('"' + text)[2:-1] if is_constant else text for text, is_constant in parts)
    return f"f'''{''.join(texts)}'''"


def _least_escaped(text: str, quotes: Sequence[str]) -> tuple[str, Sequence[str]]:
    escaped = "".join(_escaped(c) for c in text)
    possible = [quote for quote in quotes if quote not in escaped]
    if not possible:
        fallback = string(text)
        quote = next((quote for quote in quotes if fallback[0] in quote), fallback[0])
        return fallback[1:-1], [quote]
    if not escaped:
        return escaped, possible
    possible.sort(key=lambda quote: quote[0] == escaped[-1])
    if possible[0][0] == escaped[-1]:
        escaped = f"{escaped[:-1]}\\{escaped[-1]}"
    return escaped, possible


def _escaped(character: str) -> str:
    if character != "\\" and is_printable(character):
        return character
    return character.encode("unicode_escape").decode()
