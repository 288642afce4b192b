"""Text of strangers as HTML: it is shown, character for character, and never markup."""

import re
from itertools import groupby
from typing import Final

from markupsafe import Markup, escape

from invertgate.model import Kind, Side
from invertgate.report.words import outcome_in_words

_IN_BACKTICKS: Final = re.compile(r"`([^`]+)`")

_AFTER_JOINT: Final = re.compile(r"/|::|_(?=[^_])|\[")


def shown(text: str) -> Markup:
    """Return a text for one line of a page, with whatever cannot be seen spelled out."""
    return _shown(text, kept="")


def shown_block(text: str) -> Markup:
    """Return a text whose line breaks and tabs stand as they are."""
    return _shown(text, kept="\n\t")


def breakable(text: str) -> Markup:
    """Return a path or nodeid that a browser may break where a reader would."""
    if not text.isprintable():
        return shown(text)
    return Markup(_AFTER_JOINT.sub(r"\g<0><wbr>", str(escape(text))))  # noqa: S704 - escaped before


def coded(text: str) -> Markup:
    """Return a sentence with what stands between backticks set as code."""
    return Markup(_IN_BACKTICKS.sub(_code, str(shown(text))))  # noqa: S704 - escaped before


def outcome_shown(kind: Kind | None, predicate: str, side: Side | None) -> Markup:
    """Say which way of which decision, its code set as code."""
    before, tick, rest = outcome_in_words(kind, predicate, side).partition("`")
    code, _, after = rest.rpartition("`")  # a predicate may hold backticks of its own
    if not tick:
        return escape(before)
    return Markup("{}<code>{}</code>{}").format(before, code, after)


def _shown(text: str, kept: str) -> Markup:
    if text.isprintable():
        return escape(text)
    runs = groupby(text, key=lambda letter: letter.isprintable() or letter in kept)
    return Markup().join(
        escape("".join(letters)) if is_plain else _odd("".join(letters))
        for is_plain, letters in runs
    )


def _odd(letters: str) -> Markup:
    spelled = letters.encode("unicode_escape").decode("ascii")
    return Markup('<b class="odd">{}</b>').format(spelled)


def _code(match: re.Match[str]) -> str:
    return f"<code>{match[1]}</code>"
