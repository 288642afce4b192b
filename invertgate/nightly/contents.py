"""Digests of what files hold: equal only if a test that reads them would find the same."""

import os
import stat
from collections.abc import Callable, Iterator
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Final

_MOST: Final = 50_000
"""Files of a folder outside of the repository; with more, nobody waits for us to look at them."""
_NOT_READ: Final = frozenset(("__pycache__", ".git", "node_modules", "invertgate.out"))


Content = Callable[[Path], bytes]
"""Tells what of a file's content goes into a digest."""


class NotToldError(Exception):
    """What is there cannot be summed up, so that nothing can be said to be unchanged."""


def tree_digest(top: Path) -> str:
    """Return a digest of a private copy: names, contents, modes and links.

    Args:
        top: The folder at its top.

    Raises:
        NotToldError: A link leads to a folder outside, or something cannot be read.
    """
    whole = sha256()
    try:
        for line in _lines(top, top, _content):
            whole.update(line)
    except OSError as error:
        raise NotToldError(str(error)) from error
    return whole.hexdigest()


def names_digest(top: Path) -> str:
    """Return a digest of what a private copy is like without its contents: names, modes, links.

    Args:
        top: The folder at its top.

    Raises:
        NotToldError: A link leads to a folder outside, or something cannot be read.
    """
    whole = sha256()
    try:
        for line in _lines(top, top, lambda _: b""):
            whole.update(line)
    except OSError as error:
        raise NotToldError(str(error)) from error
    return whole.hexdigest()


def folder_digest(folder: Path, but: Path) -> str:
    """Return a digest of all files of a folder: names and contents, whenever they were written.

    Args:
        folder: A folder outside of the repository.
        but: A folder in it that is not looked at.

    Raises:
        NotToldError: It cannot be read.
    """
    whole = sha256()
    try:
        for entry in _files(folder, but):
            name = os.fsencode(os.path.relpath(entry.path, folder))
            whole.update(b"%s\0%s\n" % (name, _content(Path(entry.path))))
    except OSError as error:
        raise NotToldError(str(error)) from error
    return whole.hexdigest()


def file_digest_of(path: Path) -> str:
    """Return a digest of what opening a path gives, also if there is nothing to be opened.

    Raises:
        NotToldError: It is there, and cannot be read.
    """
    try:
        return "folder" if path.is_dir() else _content(path).decode()
    except (FileNotFoundError, NotADirectoryError):
        return "nothing"
    except OSError as error:
        raise NotToldError(str(error)) from error


def looks_digest(folder: Path, but: Path) -> str:
    """Return a digest of how the files of a folder look: names, sizes and times, not contents.

    Args:
        folder: A folder outside of the repository.
        but: A folder in it that is not looked at.

    Raises:
        NotToldError: It is too large, or cannot be read.
    """
    whole = sha256()
    seen = 0
    try:
        for entry in _files(folder, but):
            about = entry.stat()
            line = f"{entry.path}\0{about.st_size}\0{about.st_mtime_ns}\n"
            whole.update(os.fsencode(line))
            seen += 1
            if seen > _MOST:
                raise NotToldError(f"{folder} holds too many files")
    except OSError as error:
        raise NotToldError(str(error)) from error
    return whole.hexdigest()


def _lines(folder: Path, top: Path, content: "Content") -> Iterator[bytes]:
    for entry in _sorted(folder):
        name = os.fsencode(os.path.relpath(entry.path, top))
        if entry.is_symlink():
            yield b"link %s\0%s\n" % (name, _link(Path(entry.path), top))
        elif entry.is_dir():
            yield b"folder %s\n" % name
            yield from _lines(Path(entry.path), top, content)
        else:
            mode = stat.S_IMODE(entry.stat().st_mode)
            yield b"file %s\0%o\0%s\n" % (name, mode, content(Path(entry.path)))


def _link(link: Path, top: Path) -> bytes:
    """Return where a link leads, and outside of the copy also what is there."""
    pointed = link.readlink()
    meant = Path(os.path.normpath(link.parent / pointed))
    if meant.is_relative_to(top):
        return b"inside " + os.fsencode(meant.relative_to(top))
    if meant.is_dir():
        raise NotToldError(f"{link.relative_to(top)} leads to a folder outside")
    return os.fsencode(meant) + b"\0" + (_content(meant) if meant.exists() else b"nothing")


def _content(path: Path) -> bytes:
    with path.open("rb") as stream:
        return file_digest(stream, "sha256").hexdigest().encode()


def _files(folder: Path, but: Path) -> Iterator["os.DirEntry[str]"]:
    for entry in _sorted(folder):
        path = Path(entry.path)
        if not entry.is_dir(follow_symlinks=False):
            if entry.is_file():
                yield entry
        elif entry.name not in _NOT_READ and path != but and not (path / "pyvenv.cfg").exists():
            yield from _files(path, but)


def _sorted(folder: Path) -> list["os.DirEntry[str]"]:
    with os.scandir(folder) as entries:
        return sorted(entries, key=lambda entry: entry.name)
