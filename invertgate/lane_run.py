"""Run the properties of a patch, each in a private copy, by pytest or by an executable."""

import hashlib
import os
import posixpath
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from invertgate.config import Config
from invertgate.copies import Copies, copies
from invertgate.experiment.session import calming_options
from invertgate.isolation.contain import held, launcher
from invertgate.lanes.paths import PathClass, classify
from invertgate.lanes.properties import Property
from invertgate.lanes.runners import (
    Commanded,
    Finding,
    Local,
    Room,
    Runner,
    Token,
    executables_in,
    run_all,
)
from invertgate.patch.difference import diff, index_with
from invertgate.patch.git import Repository, strings
from invertgate.patch.globs import first_match
from invertgate.patch.projects import find_projects, reader
from invertgate.patch.worktree import files_of_worktree
from invertgate.request import Request
from invertgate.trial import usable_cores

COLLECT_PROPERTIES: Final = "--override-ini=python_functions=prop_*"
_PATCH: Final = ("--patch", "--src-prefix=a/", "--dst-prefix=b/", "--diff-algorithm=default")


@dataclass(frozen=True, slots=True)
class Ground:
    """What is judged, against what, and under which policy."""

    repository: Repository
    base: str
    head: str
    """The judged commit; empty for the working tree."""
    config: Config
    changed: frozenset[str]
    """All paths that differ."""


def findings(request: Request, ground: Ground, stated: Sequence[Property]) -> list[Finding]:
    """Run properties side by side.

    Args:
        request: What the user asked for.
        ground: What is judged.
        stated: The properties that the plan allows.
    """
    if not stated:
        return []
    config = ground.config
    lending = copies(ground.repository, ground.head, config, len(stated), request.environment)
    with lending as lent:
        if touched := _runner_in_patch(ground, lent):
            why = f"the patch changes {touched}, which is part of the command that is asked"
            return [Finding(each.id, Token.UNRESOLVED, why) for each in stated]
        runner = _runner(ground, lent)
        jobs = [(each, _room(ground, lent, n, each)) for n, each in enumerate(stated)]
        return run_all(jobs, runner, config.workers or usable_cores(), lent.abandon)


def local_runner(config: Config, lent: Copies, seconds: float, *more: str) -> Local:
    """Return the runner that starts pytest."""
    calming = calming_options(lent.trees.scratch)
    held_by = launcher(held(config.contain).always, lent.trees.scratch)
    return Local((*calming, *config.pytest_args, *more), seconds, launcher=held_by)


def _runner(ground: Ground, lent: Copies) -> Runner:
    config = ground.config
    if not config.property_command:
        return local_runner(config, lent, config.property_seconds, COLLECT_PROPERTIES)
    return Commanded(
        config.property_command,
        fixture_digest(ground, lent),
        patch_text(ground),
        config.property_seconds,
    )


def _room(ground: Ground, lent: Copies, number: int, stated: Property) -> Room:
    answer = lent.trees.place(number) / "answer.json"
    if ground.config.property_command:
        return Room(lent.folder(number), lent.marked(), answer)
    file, separator, name = stated.test.partition("::")
    project = find_projects([file], reader(lent.folder(number)))[file].folder
    test = posixpath.relpath(file, project or ".") + separator + name
    return Room(lent.folder(number, project), lent.environment(number, project), answer, test)


def _runner_in_patch(ground: Ground, lent: Copies) -> str:
    """Return a file of the command that the patch changes, or nothing."""
    words = ground.config.property_command
    named = executables_in(words, lent.folder(0), lent.folder(0))
    named |= executables_in(words, ground.repository.top, ground.repository.top)
    return min(named & ground.changed, default="")


def fixture_digest(ground: Ground, lent: Copies) -> str:
    """Return the SHA-256 of what ``sha256sum`` prints of all fixtures, sorted by path."""
    lines = []
    for path in sorted(_fixtures(ground)):
        file = lent.trees.pristine / path
        if file.is_file():
            lines.append(f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {path}\n")
    return hashlib.sha256(os.fsencode("".join(lines))).hexdigest()


def _fixtures(ground: Ground) -> Iterator[str]:
    for path in _files(ground):
        is_neutral = first_match(path, ground.config.neutral) is not None
        if classify(path, table=ground.config.table, neutral=is_neutral) is PathClass.FIXTURE:
            yield path


def _files(ground: Ground) -> Sequence[str]:
    if ground.head:
        listing = ("ls-tree", "-r", "-z", "--name-only", "--full-tree", ground.head)
        return strings(ground.repository.read(*listing))
    files = files_of_worktree(ground.repository)
    return (*files.tracked, *files.untracked)


def patch_text(ground: Ground) -> str:
    """Return the patch as git shows it, files that are not tracked yet included."""
    repository = ground.repository
    if ground.head:
        return _text(diff(repository, ground.base, ground.head, _PATCH))
    untracked = [path for path in files_of_worktree(repository).untracked if path in ground.changed]
    if not untracked:
        return _text(diff(repository, ground.base, "", _PATCH))
    with index_with(repository, untracked, ground.base) as extra:
        return _text(diff(repository, ground.base, "", _PATCH, extra=extra))


def _text(patch: bytes) -> str:
    return patch.decode(errors="replace")
