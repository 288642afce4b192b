"""Go on with a run that was killed: what it said of the very same things is not asked again."""

import os
from collections.abc import Collection, Generator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from hashlib import sha256
from pathlib import Path
from typing import Final

from invertgate.config import Config
from invertgate.nightly import journal
from invertgate.nightly.contents import NotToldError, tree_digest
from invertgate.nightly.journal import Journal
from invertgate.nightly.surroundings import surroundings_digest
from invertgate.report.store import FOLDER
from invertgate.request import Request
from invertgate.survey import ProjectSurvey, Survey
from invertgate.trial import Laboratory

_GIT: Final = ("HEAD", "packed-refs", "index", "shallow", "config")
"""What of a private repository may change what git tells a test."""
_NO_MATTER: Final = frozenset({"workers"})
"""Options that no verdict hangs on."""


@contextmanager
def resumed(
    request: Request, seen: Survey, project: ProjectSurvey, lab: Laboratory, tree: str
) -> Generator[Journal]:
    """Lend the journal of a run, which holds what a killed one said of the very same things.

    Args:
        request: What the user asked for.
        seen: What is judged.
        project: The project that is judged.
        lab: Its private trees, in which nothing was run yet.
        tree: What :func:`tree_of` says of them.
    """
    folder, tag = seen.repository.top / FOLDER, _tag(request)
    if not request.resume:
        journal.remove(folder, tag)
    if not tree or (journal.is_there(folder, tag) and _is_tracked(seen)):
        yield Journal(None, ())  # a patch could bring its own verdicts along
        return
    try:
        key = _key(seen, project, lab, tree)
    except NotToldError:
        yield Journal(None, ())
        return
    with journal.opened(folder, tag, key) as opened:
        yield opened


def tree_of(lab: Laboratory) -> str:
    """Return a digest of all files of the copies; empty if they cannot be summed up."""
    try:
        return tree_digest(lab.place.scratch / "pristine" / lab.place.name)
    except NotToldError:
        return ""


def finished(request: Request, folder: Path) -> None:
    """Remove the journal of a run whose report is written."""
    journal.remove(folder, _tag(request))


def _tag(request: Request) -> str:
    """Return a word that runs share which were asked for alike."""
    given: Mapping[str, object] = request.overrides
    asked = sorted((name, str(value)) for name, value in given.items() if name not in _NO_MATTER)
    told = (asked, request.paths, request.ids, request.head, str(request.shard))
    return sha256(os.fsencode(repr(told))).hexdigest()[:12]


def _is_tracked(seen: Survey) -> bool:
    return bool(seen.repository.read("ls-files", "-z", "--cached", "--", FOLDER))


def _key(seen: Survey, project: ProjectSurvey, lab: Laboratory, tree: str) -> str:
    """Return a digest of all that verdicts hang on.

    Raises:
        NotToldError: There is something that cannot be summed up.
    """
    place = lab.place
    told = (
        tree,
        [_digest(place.scratch / "0" / place.name / ".git" / name) for name in _GIT],
        _digest(place.scratch / "0" / "home" / ".gitconfig"),
        surroundings_digest(place.environment, place.scratch, seen.repository.top),
        project.folder,
        settings_told(project.config),
        str(place.original),
    )
    return sha256(os.fsencode(repr(told))).hexdigest()


def _digest(path: Path) -> str:
    try:
        return sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


def settings_told(config: Config, without: Collection[str] = _NO_MATTER) -> list[tuple[str, str]]:
    """Return name and value of the options that verdicts hang on.

    Args:
        config: The options.
        without: Names of options that are left out.
    """
    named = (field.name for field in fields(config) if field.name not in without)
    return [(name, repr(getattr(config, name))) for name in named]
