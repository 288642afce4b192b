"""List the files of a work tree as git sorts them, and write the tree of a commit elsewhere."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from invertgate.errors import NoBaseError
from invertgate.patch.git import Repository, refusal, strings


@dataclass(frozen=True, slots=True)
class WorktreeFiles:
    """The paths of a work tree, relative to its top, with slashes.

    A path may be a folder that stands for all that is in it: a submodule among the tracked ones,
    another repository among the untracked ones, and any ignored folder (these end in a slash).
    """

    tracked: tuple[str, ...]
    """As the index has them: one may be gone from the disk, or not be checked out."""
    untracked: tuple[str, ...]
    ignored: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Listing:
    """What the index does not say about a work tree, or hides."""

    known: tuple[str, ...] = ()
    """Tracked and untracked paths."""
    untracked: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    """Tracked paths that git was told to take for unchanged."""
    sparse: frozenset[str] = frozenset()
    """Tracked paths that a sparse checkout leaves out."""


def files_of_worktree(repository: Repository) -> WorktreeFiles:
    """List what a copy of the work tree may need.

    Raises:
        NoBaseError: git failed.
    """
    others = ("ls-files", "-z", "--others", "--exclude-standard")
    return WorktreeFiles(
        tracked=tuple(dict.fromkeys(strings(repository.read("ls-files", "-z", "--cached")))),
        untracked=tuple(strings(repository.read(*others))),
        ignored=tuple(strings(repository.read(*others, "--ignored", "--directory"))),
    )


def listing(repository: Repository, paths: Iterable[str] = ()) -> Listing:
    """List tracked files and untracked ones that git does not ignore, in one process.

    Args:
        repository: Where to look.
        paths: Files and folders to look in; the whole work tree by default.

    Raises:
        NoBaseError: git failed.
    """
    literal = tuple(f":(top,literal){path}" for path in paths)
    what = ("ls-files", "-z", "-v", "--cached", "--others", "--exclude-standard", "--", *literal)
    tagged = [(record[0], record[2:]) for record in strings(repository.read(*what))]
    return Listing(
        known=tuple(dict.fromkeys(path for _, path in tagged)),
        untracked=tuple(path for tag, path in tagged if tag == "?"),
        hidden=tuple(path for tag, path in tagged if tag.islower()),
        sparse=frozenset(path for tag, path in tagged if tag in "Ss"),
    )


def checkout_to(repository: Repository, revision: str, folder: Path) -> None:
    """Write the tree of a commit into an empty folder, as a checkout would.

    All files are written (also those that ``export-ignore`` or a sparse checkout leaves out),
    with the line ends and filters of attributes. Submodules become empty folders. The user's
    index, HEAD and work tree are not touched.

    Raises:
        NoBaseError: There is no such commit, or a partial clone lacks some content.
    """
    git_folder = repository.read("rev-parse", "--absolute-git-dir").removesuffix(b"\n")
    with TemporaryDirectory(prefix="invertgate-") as scratch:
        elsewhere = {
            "GIT_DIR": os.fsdecode(git_folder),
            "GIT_WORK_TREE": str(folder.resolve()),
            "GIT_INDEX_FILE": str(Path(scratch, "index")),
        }
        sparse = ("-c", "core.sparseCheckout=false", "-c", "core.splitIndex=false")
        repository.read(*sparse, "read-tree", "-m", "-u", revision, extra=elsewhere)


def object_folder(repository: Repository) -> Path:
    """Say where the repository keeps its objects, for one that shares them."""
    return repository.git_path("objects").resolve()


def files_mentioning(repository: Repository, text: str, head: str = "") -> list[str]:
    """List the Python files that hold a text.

    Args:
        repository: Where to look.
        text: Looked for as it stands.
        head: A commit; the working tree by default, with files that git does not ignore.

    Raises:
        NoBaseError: git failed.
    """
    where = (head,) if head else ("--untracked",)
    answer = repository.ask("grep", "-lzIF", "-e", text, *where, "--", "*.py")
    if answer.code > 1:
        raise NoBaseError(refusal(answer.stderr))
    found = strings(answer.stdout)
    return [path.removeprefix(f"{head}:") for path in found] if head else found
