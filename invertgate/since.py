"""From which commit on a sweep looks: a revision, or the last commit before a day."""

import re
from dataclasses import dataclass
from typing import Final

from invertgate.errors import NoBaseError
from invertgate.patch.git import Repository

_DATE: Final = re.compile(
    r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2})?(Z|[+-]\d{2}:?\d{2})?)?"
    r"|\d+ ?\.?(minute|hour|day|week|month|year)s?[ .]ago|yesterday"
)


@dataclass(frozen=True, slots=True)
class Since:
    """The commit that is compared with."""

    commit: str
    """Empty if the whole history is younger."""
    name: str
    """In words."""


def since(repository: Repository, text: str) -> Since:
    """Find out what a user means by ``--since``.

    Args:
        repository: In whose history to look.
        text: A revision, or a date (``2026-03-14``, ``2 weeks ago``).

    Raises:
        NoBaseError: It is neither.
    """
    [commit] = repository.commits([text]) if "\n" not in text else [None]
    if commit is not None:
        return Since(commit, f"{text} ({commit[:12]})")
    if not _DATE.fullmatch(text):
        raise NoBaseError(
            f"--since {text} names no commit here and is no date; give a revision, or a date as in "
            '2026-03-14 or "2 weeks ago"'
        )
    found = repository.read("rev-list", "-1", f"--before={text}", "HEAD").decode().strip()
    if not found and repository.shallow:
        raise NoBaseError(
            f"this shallow clone does not reach back to {text}; run git fetch --unshallow"
        )
    if not found:
        return Since("", f"{text}, before which there is no commit")
    return Since(found, f"{text} ({found[:12]})")
