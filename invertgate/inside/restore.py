"""Make a private tree again what it was: an inverted run may have written, or deleted, in it."""

import contextlib
import os
import shutil
from typing import Final

_OURS: Final = frozenset((".git",))
"""Not restored: the private repository has no counterpart among the files."""


def restore(tree: str, pristine: str) -> int:
    """Make a tree equal to another one, by size and time of files; return how much differed."""
    differences = 0
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        mine, theirs = os.path.join(tree, folder), os.path.join(pristine, folder)
        if os.path.islink(mine) or not os.path.isdir(mine):
            _remove(mine)
            os.mkdir(mine)
            differences += 1
        wanted = set(os.listdir(theirs))
        for name in set(os.listdir(mine)) - wanted - _OURS - {"__pycache__"}:
            _remove(os.path.join(mine, name))
            differences += 1
        for name in wanted:
            path = os.path.join(folder, name)
            source = os.path.join(theirs, name)
            if os.path.isdir(source) and not os.path.islink(source):
                waiting.append(path)
            elif not _alike(os.path.join(mine, name), source):
                _replace(os.path.join(mine, name), source)
                differences += 1
    return differences


def _alike(one: str, other: str) -> bool:
    if os.path.islink(other):
        return os.path.islink(one) and os.readlink(one) == os.readlink(other)
    try:
        mine, theirs = os.lstat(one), os.lstat(other)
    except OSError:
        return False
    return (mine.st_mode, mine.st_size, mine.st_mtime_ns) == (
        theirs.st_mode,
        theirs.st_size,
        theirs.st_mtime_ns,
    )


def _replace(path: str, source: str) -> None:
    _remove(path)
    if os.path.islink(source):
        os.symlink(os.readlink(source), path)
    else:
        shutil.copy2(source, path)


def _remove(path: str) -> None:
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
