"""Private copies of a working tree, one a worker, that are gone afterwards."""

import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from invertgate import process

_RUN: Final = "INVERTGATE_RUN"
"""The variable that tells all processes of a run its scratch folder."""
_PREFIX: Final = "ig-"  # short: the paths of sockets in it must stay below 108 bytes
_CACHES: Final = frozenset(
    (
        "__pycache__",
        ".pytest_cache",
        ".mypy_cache",
        ".ruff_cache",
        ".hypothesis",
        ".tox",
        ".nox",
        ".hg",
        ".svn",
        "node_modules",
        "invertgate.out",
    )
)
"""Folders that no test needs; ``.git`` is left out too, and lent in another way."""
_GIT_SETTINGS: Final = (".gitconfig", ".config/git")


@dataclass(frozen=True, slots=True)
class Trees:
    """Private copies of one tree; worker *n* has the *n*-th, counted from 0."""

    scratch: Path
    name: str
    count: int

    def place(self, number: int) -> Path:
        """Return the folder that holds a copy and the private folders beside it."""
        return self.scratch / str(number)

    @property
    def pristine(self) -> Path:
        """Return the top of the copy in which nothing is ever run."""
        return self.scratch / "pristine" / self.name

    def top(self, number: int) -> Path:
        """Return the top of a copy."""
        return self.place(number) / self.name


@dataclass(frozen=True, slots=True)
class Selection:
    """Which files of a working tree are copied."""

    exclude: tuple[str, ...] = ()
    """Globs of paths, relative to the top, that are left out."""
    include: tuple[str, ...] = ()
    """Globs of paths that are copied although a rule of ours leaves them out."""

    def leaves_out(self, path: str, name: str, is_environment: bool) -> bool:
        """Tell whether a file or folder is left out."""
        if any(fnmatchcase(path, glob) for glob in self.include):
            return False
        return (
            name in _CACHES
            or name == ".git"
            or is_environment
            or any(fnmatchcase(path, glob) for glob in self.exclude)
        )


_EVERYTHING: Final = Selection(include=("*",))


@contextmanager
def private_trees(
    root: Path,
    count: int,
    selection: Selection,
    furnish: Callable[[Path], None] | None = None,
    beside: tuple[Path, Sequence[str]] | None = None,
) -> Generator[Trees]:
    """Lend copies of a working tree.

    Args:
        root: The top of the tree; it is only read.
        count: How many copies.
        selection: Which files are copied.
        furnish: Called with the top of each copy, to put a repository beside its files.
        beside: Another tree, and files and folders of it that are copied too.

    Yields:
        The copies. They, and all that was put beside them, are gone when the block is left.
    """
    _remove_remains()
    scratch = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-"))
    try:
        trees = Trees(scratch.resolve(), root.name or "root", count)
        _copy(root, trees.pristine, selection)
        if beside is not None:
            _copy_some(*beside, trees.pristine, selection)
        for number in range(count):
            _furnish(trees, number)
            if furnish is not None:
                furnish(trees.top(number))
        yield trees
    finally:
        _remove(scratch)


def environments_in(root: Path) -> tuple[Path, ...]:
    """Return the virtual environments that lie in a tree, at most three folders down."""
    found = []
    for pattern in ("pyvenv.cfg", "*/pyvenv.cfg", "*/*/pyvenv.cfg", "*/*/*/pyvenv.cfg"):
        found += [path.parent for path in root.glob(pattern)]
    return tuple(found)


def _furnish(trees: Trees, number: int) -> None:
    place = trees.place(number)
    for name in ("home", "tmp", "pyc", "woven"):
        (place / name).mkdir(parents=True)
    _seed_home(place / "home")
    _copy(trees.pristine, trees.top(number), _EVERYTHING)


def _seed_home(home: Path) -> None:
    """Give a private home the user's settings of git, which tests that commit rely on."""
    for name in _GIT_SETTINGS:
        source = Path.home() / name
        target = home / name
        with suppress(OSError):
            if source.is_dir():
                shutil.copytree(source, target)
            elif source.is_file():
                shutil.copyfile(source, target)


def _copy(root: Path, target: Path, selection: Selection) -> None:
    """Copy a tree with its times, empty folders and links, without following any link."""
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        made = target / folder
        made.mkdir(parents=True, exist_ok=True)
        with suppress(PermissionError), os.scandir(root / folder) as entries:
            for entry in entries:
                path = f"{folder}/{entry.name}" if folder else entry.name
                if _copy_entry(entry, path, root, target, selection):
                    waiting.append(path)


def _copy_some(root: Path, paths: Sequence[str], target: Path, selection: Selection) -> None:
    """Copy files and folders that are not there yet."""
    for path in paths:
        relative = path.rstrip("/")
        source = root / relative
        is_environment = (source / "pyvenv.cfg").exists()
        if selection.leaves_out(relative, source.name, is_environment):
            continue
        if source.is_dir() and not source.is_symlink():
            _copy(source, target / relative, selection)
        elif source.is_file() and not (target / relative).exists():
            (target / relative).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target / relative)


def _copy_entry(
    entry: "os.DirEntry[str]", path: str, root: Path, target: Path, selection: Selection
) -> bool:
    """Copy a file or link; tell whether it is a folder to go into."""
    is_folder = entry.is_dir(follow_symlinks=False)
    is_environment = is_folder and Path(entry.path, "pyvenv.cfg").exists()
    if selection.leaves_out(path, entry.name, is_environment):
        return False
    if is_folder:
        return True
    if entry.is_symlink():
        _copy_link(Path(entry.path), target / path, root, target)
    elif stat.S_ISREG(entry.stat(follow_symlinks=False).st_mode):
        with suppress(FileNotFoundError, PermissionError):  # it went away, or is nobody's to read
            shutil.copy2(entry.path, target / path)
    return False


def _copy_link(link: Path, target: Path, root: Path, top: Path) -> None:
    """Copy a link; it points into the copy if it did into the tree, and elsewhere as before."""
    pointed = link.readlink()
    if pointed.is_absolute() and pointed.is_relative_to(root):
        pointed = top / pointed.relative_to(root)
    elif not pointed.is_absolute():
        meant = Path(os.path.normpath(link.parent / pointed))
        pointed = pointed if meant.is_relative_to(root) else meant
    target.symlink_to(pointed)


def _remove(folder: Path) -> None:
    """Remove a folder, also where tests have taken the right to do so away."""

    def make_writable(function: Callable[[str], object], path: str, _: object) -> None:
        with suppress(OSError):
            Path(path).parent.chmod(0o700)
            if not Path(path).is_symlink():  # it may lead to a file of the user's
                Path(path).chmod(0o700)
            function(path)

    shutil.rmtree(folder, onerror=make_writable)


def _remove_remains() -> None:
    """Remove what runs of ours have left that were killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*-*"):
        with suppress(ValueError, OSError):
            pid = int(folder.name.removeprefix(_PREFIX).split("-")[0])
            if folder.stat().st_uid == os.getuid() and not _is_alive(pid):
                process.end_marked(_RUN, str(folder.resolve()))
                _remove(folder)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def missing_in(top: Path, paths: Iterable[str]) -> Sequence[str]:
    """Return those of some files that are not there in a copy."""
    return [path for path in paths if not (top / path).is_file()]
