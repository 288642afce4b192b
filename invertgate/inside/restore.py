"""Let every run find the private tree alike: what a run has written in it is put back.

On Linux the kernel tells (inotify) whether anything in the tree changed, so that a run that wrote
nothing costs nothing. Elsewhere the tree is compared after every run.
"""

import contextlib
import ctypes
import os
import shutil
import struct
import sys
from functools import cache
from typing import Any, Final

_LEFT_ALONE: Final = frozenset((".git", "__pycache__"))
"""Not restored: they have no counterpart among the files that were copied."""
_CHANGES: Final = 0x2 | 0x4 | 0x40 | 0x80 | 0x100 | 0x200 | 0x400 | 0x800
"""``IN_MODIFY``, ``IN_ATTRIB``, ``IN_MOVED_FROM``, ``IN_MOVED_TO``, ``IN_CREATE``, ``IN_DELETE``,
``IN_DELETE_SELF``, ``IN_MOVE_SELF``."""
_ONLY_FOLDERS: Final = 0x01000000
_EVENT: Final = struct.Struct("iIII")
_BUFFER: Final = 1 << 16


class Tree:
    """A private tree, and what it has to be again after every run."""

    def __init__(self, top: str, reference: str, spare: str) -> None:
        self._top = top
        self._reference = reference
        self._spare = spare
        self._watch = _watch()
        if self._watch >= 0:
            self._watch_all()

    def settle(self) -> None:
        """Take the tree as it is now for what runs start from."""
        if not self._has_changed() or not _difference(self._top, self._reference):
            return
        self._spare += "+"
        shutil.copytree(
            self._top, self._spare, symlinks=True, ignore=lambda *_: _LEFT_ALONE & set(_[1])
        )
        self._reference = self._spare

    def restore(self) -> None:
        """Put back what was changed since the tree was settled."""
        if self._has_changed() and _restored(self._top, self._reference) and self._watch >= 0:
            self._watch_all()

    def _watch_all(self) -> None:
        for folder, names, _ in os.walk(self._top):
            names[:] = [name for name in names if name not in _LEFT_ALONE]
            path = os.fsencode(folder)
            if _libc().inotify_add_watch(self._watch, path, _CHANGES | _ONLY_FOLDERS) < 0:
                os.close(self._watch)  # out of watches: compare from now on
                self._watch = -1
                return
        self._events()

    def _has_changed(self) -> bool:
        return self._watch < 0 or self._events()

    def _events(self) -> bool:
        """Read what the kernel has to tell; say whether any of it matters."""
        changed = False
        while True:
            try:
                told = os.read(self._watch, _BUFFER)
            except BlockingIOError:
                return changed
            changed = changed or _matters(told)


def _matters(events: bytes) -> bool:
    position = 0
    while position < len(events):
        _, _, _, length = _EVENT.unpack_from(events, position)
        start = position + _EVENT.size
        name = events[start : start + length].rstrip(b"\0")
        if os.fsdecode(name) not in _LEFT_ALONE:
            return True
        position = start + length
    return False


def _watch() -> int:
    if sys.platform != "linux":
        return -1
    return int(_libc().inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC))


@cache
def _libc() -> Any:
    return ctypes.CDLL(None)


def _difference(tree: str, reference: str) -> bool:
    return _compared(tree, reference, mend=False)


def _restored(tree: str, reference: str) -> bool:
    return _compared(tree, reference, mend=True)


def _compared(tree: str, reference: str, *, mend: bool) -> bool:
    """Compare two trees by kind, size and time of files; tell whether they differed.

    Args:
        tree: The one that is mended, if asked.
        reference: What it should be.
        mend: Make them equal, and do not stop at the first difference.
    """
    differ = False
    waiting = [""]
    while waiting and (mend or not differ):
        folder = waiting.pop()
        mine, theirs = os.path.join(tree, folder), os.path.join(reference, folder)
        if os.path.islink(mine) or not os.path.isdir(mine):
            differ = True
            if not mend:
                return True
            _remove(mine)
            os.mkdir(mine)
        wanted = set(os.listdir(theirs))
        for name in set(os.listdir(mine)) - wanted - _LEFT_ALONE:
            differ = True
            if mend:
                _remove(os.path.join(mine, name))
        for name in wanted:
            path, source = os.path.join(folder, name), os.path.join(theirs, name)
            if os.path.isdir(source) and not os.path.islink(source):
                waiting.append(path)
            elif not _alike(os.path.join(mine, name), source):
                differ = True
                if mend:
                    _replace(os.path.join(mine, name), source)
    return differ


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


def empty(folder: str, seeded: frozenset[str]) -> None:
    """Remove what a run left in a private folder beside the tree.

    Args:
        folder: A home, or a place for temporary files; made anew if it is gone.
        seeded: Names in it that stay.
    """
    try:
        entries = os.listdir(folder)
    except OSError:
        os.makedirs(folder, exist_ok=True)
        return
    for entry in entries:
        if entry not in seeded:
            _remove(os.path.join(folder, entry))
