"""Private copies of what is judged, and the environment of what is run in them."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from shutil import copytree
from tempfile import TemporaryDirectory
from typing import Final

from invertgate import process
from invertgate.config import Config
from invertgate.inside import settings
from invertgate.isolation.environment import environment, install_inside, original_of
from invertgate.isolation.trees import Selection, Trees, environments_in, private_trees
from invertgate.patch.git import Repository
from invertgate.patch.private import lend_repository
from invertgate.patch.worktree import checkout_to, files_of_worktree

_NOTHING: Final[Mapping[str, bytes]] = {}


@dataclass(frozen=True, slots=True)
class Copies:
    """Private copies of one tree, each with an environment that belongs to it."""

    trees: Trees
    given: Mapping[str, str]
    """The user's environment."""

    def folder(self, number: int, project: str = "") -> Path:
        """Return a project's folder in a copy."""
        return self.trees.top(number) / project

    def environment(self, number: int, project: str = "") -> dict[str, str]:
        """Return the environment of a process that runs the project's code out of a copy."""
        return {
            **environment(self.given, self.trees, project),
            **settings.private_variables(str(self.trees.place(number)), number),
            "PWD": str(self.folder(number, project)),
        }

    def marked(self) -> dict[str, str]:
        """Return the user's environment for a process that does not run the project's code.

        It is the user's own, with what the process needs to reach things outside, and with the
        mark by which all that it starts is found again.
        """
        return {**self.given, settings.RUN: str(self.trees.scratch)}

    def abandon(self) -> None:
        """End all that was started in these environments."""
        process.end_marked(settings.RUN, str(self.trees.scratch))


@contextmanager
def copies(
    repository: Repository,
    head: str,
    config: Config,
    count: int,
    given: Mapping[str, str],
) -> Generator[Copies]:
    """Lend copies that are gone when the block is left, with all that was started in them.

    Args:
        repository: The user's.
        head: The commit that is judged; empty for the working tree.
        config: Says which files are copied.
        count: How many copies.
        given: The user's environment.
    """
    selection = Selection(config.copy_exclude, config.copy_include)
    with judged_trees(repository, head, count, selection) as trees:
        lent = Copies(trees, given)
        original = original_of(given, repository.top)
        install_inside(trees)
        settings.write_boot(
            str(trees.scratch),
            {
                "original": str(original),
                "name": trees.name,
                "kept_out": [str(each) for each in environments_in(original)],
                "files": [],
                "slots": 0,
            },
        )
        try:
            yield lent
        finally:
            lent.abandon()


@contextmanager
def judged_trees(
    repository: Repository,
    head: str,
    count: int,
    selection: Selection,
    compared: Mapping[str, bytes] = _NOTHING,
) -> Generator[Trees]:
    """Lend copies of what is judged: the working tree, or a commit with the ignored files.

    Args:
        repository: The user's.
        head: The commit; empty for the working tree.
        count: How many copies.
        selection: Which files are copied.
        compared: Files of the commit that must be there byte for byte; a checkout may filter.
    """
    lend = _Lending(repository)
    if not head:
        with private_trees(repository.top, count, selection, lend) as trees:
            yield trees
        return
    with TemporaryDirectory(prefix="invertgate-head-") as folder:
        top = Path(folder, repository.top.name or "root")
        top.mkdir()
        checkout_to(repository, head, top)
        for path, content in compared.items():
            (top / path).write_bytes(content)
        ignored = files_of_worktree(repository).ignored
        with private_trees(top, count, selection, lend, (repository.top, ignored)) as trees:
            yield trees


class _Lending:
    """Puts a private repository beside the files of each copy; git is asked for the first only."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._first: Path | None = None

    def __call__(self, copy: Path) -> None:
        if self._first is None:
            lend_repository(self._repository, copy)
            self._first = copy
        else:
            copytree(self._first / ".git", copy / ".git", symlinks=True)
