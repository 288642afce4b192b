"""``PATH:ID`` and ``ID`` as people write them, and the outcome they mean."""

import re
from collections.abc import Iterable
from posixpath import normpath
from typing import Final

from invertgate.errors import UsageError

Key = tuple[str, str]
"""Path and id of an outcome."""

_ID: Final = re.compile("[0-9a-f]{12}")
_FEWEST: Final = 4
_BEGUN: Final = re.compile(f"[0-9a-f]{{{_FEWEST},12}}")


def find(text: str, keys: Iterable[Key]) -> Key:
    """Find the one outcome that a selection means.

    Args:
        text: An id, or ``PATH:ID``.
        keys: Path and id of every outcome there is.

    Raises:
        UsageError: It means none or several; the message gives the choices.
    """
    known = list(keys)
    found = matching(text, known)
    if len(found) == 1:
        return found[0]
    if found:
        raise ambiguous(text, found)
    if not is_selection(text):
        begun = sorted({written(key) for key in known if text and key[1].startswith(text.lower())})
        hint = f"; did you mean {' or '.join(begun[:5])}?" if begun else ""
        raise UsageError(f"{text!r} is no id; write the 12 lower-case hex digits, or PATH:ID{hint}")
    elsewhere = [written(key) for key in known if key[1] == text.rpartition(":")[2]]
    hint = f"did you mean {' or '.join(elsewhere)}?" if elsewhere else _SEE_LIST
    raise UsageError(f"no new outcome is {text}; {hint}")


def find_begun(text: str, keys: Iterable[Key]) -> Key:
    """Find the one outcome that a selection means, of whose id the first digits are enough.

    Args:
        text: The beginning of an id (4 digits or more), or ``PATH:`` and such a beginning.
        keys: Path and id of every outcome there is.

    Raises:
        UsageError: It means none or several; the message gives the choices.
    """
    path, _, begun = text.rpartition(":")
    path = path and normpath(path)
    if _BEGUN.fullmatch(begun.lower()) is None:
        hint = f"write the first {_FEWEST} of its 12 hex digits or more, or PATH:ID; {_SEE_LIST}"
        raise UsageError(f"{text!r} is no id; {hint}")
    known = [key for key in dict.fromkeys(keys) if path in {"", key[0]}]
    found = [key for key in known if key[1].startswith(begun.lower())]
    if len(found) == 1:
        return found[0]
    if found and len(begun) == len(found[0][1]):
        raise ambiguous(text, found)
    if found:
        choices = ", ".join(map(written, found))
        raise UsageError(f"the ids of several outcomes begin with {text}: {choices}")
    raise UsageError(f"no new outcome is {text}; {_SEE_LIST}")


def matching(text: str, keys: Iterable[Key]) -> list[Key]:
    """Give the outcomes that a selection could mean, each once."""
    path, _, wanted = text.rpartition(":")
    path = path and normpath(path)
    return [key for key in dict.fromkeys(keys) if key[1] == wanted and path in {"", key[0]}]


def is_selection(text: str) -> bool:
    """Tell whether a text has the form of an id, or of ``PATH:ID``."""
    return _ID.fullmatch(text.rpartition(":")[2]) is not None


def ambiguous(text: str, found: Iterable[Key]) -> UsageError:
    """Make the error that gives the choices."""
    choices = ", ".join(map(written, found))
    return UsageError(f"{text} is the id of several outcomes; write one of {choices}")


def written(key: Key) -> str:
    """Write an outcome's path and id so that only it is meant."""
    return ":".join(key)


_SEE_LIST: Final = "`invertgate run --list` shows what there is"
