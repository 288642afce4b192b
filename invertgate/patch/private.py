"""Give a copy of a work tree a repository of its own, that shares the objects of the user's."""

import os
import shutil
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

from invertgate.patch.git import Repository, open_repository
from invertgate.patch.worktree import object_folder

_SETTINGS: Final = ("core.autocrlf", "core.eol", "core.filemode", "core.symlinks", "core.longpaths")


def lend_repository(repository: Repository, copy: Path) -> None:
    """Let tests in a copy ask git what they would be told in the original.

    The private repository has the same branches, tags, HEAD and index, and reads the same
    objects; it has no remotes, and nothing that is done in it reaches the user's.

    Args:
        repository: The user's.
        copy: The top of the copy.

    Raises:
        NoBaseError: git failed.
    """
    format_ = repository.read("rev-parse", "--show-object-format").decode().strip()
    repository.read(
        "-c",
        "init.templateDir=",
        "init",
        "--quiet",
        f"--object-format={format_}",
        "--initial-branch=main",
        str(copy),
    )
    git = copy / ".git"
    alternates = git / "objects" / "info" / "alternates"
    alternates.parent.mkdir(parents=True, exist_ok=True)
    alternates.write_bytes(os.fsencode(object_folder(repository)) + b"\n")
    _copy_refs(repository, git)
    _copy_settings(repository, open_repository(copy, repository.environment))
    for name in ("index", "shallow"):
        with suppress(OSError):
            shutil.copyfile(repository.git_path(name), git / name)


def own_objects(copy: Path, repository: Repository, commits: Iterable[str]) -> None:
    """Let a private repository need nothing of the user's any more, so that it can be moved.

    Args:
        copy: The top of the copy that it was lent to.
        repository: The user's.
        commits: What it must have although no branch may lead there.

    Raises:
        NoBaseError: git failed; a partial clone lacks objects, for one.
    """
    private = open_repository(copy, repository.environment)
    names = {f"refs/invertgate/{number}": commit for number, commit in enumerate(commits)}
    for name, commit in names.items():
        private.read("update-ref", name, commit)
    private.read("-c", "pack.threads=1", "repack", "-a", "-d", "-q")
    for name in names:
        private.read("update-ref", "-d", name)
    (copy / ".git" / "objects" / "info" / "alternates").unlink()


def _copy_refs(repository: Repository, git: Path) -> None:
    listed = repository.read("for-each-ref", "--format=%(objectname) %(refname)")
    (git / "packed-refs").write_bytes(b"# pack-refs with: sorted \n" + listed)
    with suppress(OSError):
        shutil.copyfile(repository.git_path("HEAD"), git / "HEAD")


def _copy_settings(repository: Repository, private: Repository) -> None:
    for name in _SETTINGS:
        answer = repository.ask("config", "--local", "--get", name)
        if answer.code == 0:
            private.read("config", "--local", name, os.fsdecode(answer.stdout.strip()))
