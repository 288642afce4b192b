"""Let every run find its private folders alike: what a run has written in them is put back.

On Linux the kernel tells (inotify) whether anything in the tree changed, so that a run that wrote
nothing costs nothing. Elsewhere the tree is compared after every run.
"""

import contextlib
import ctypes
import os
import shutil
import stat
import struct
import sys
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, Final

_CHANGES: Final = 0x2 | 0x4 | 0x8 | 0x40 | 0x80 | 0x100 | 0x200 | 0x400 | 0x800
"""``IN_MODIFY``, ``IN_ATTRIB``, ``IN_CLOSE_WRITE``, ``IN_MOVED_FROM``, ``IN_MOVED_TO``,
``IN_CREATE``, ``IN_DELETE``, ``IN_DELETE_SELF``, ``IN_MOVE_SELF``."""
_WRITTEN: Final = 0x2 | 0x8
"""``IN_MODIFY`` and ``IN_CLOSE_WRITE``: all that is heard of a file without a name."""
_EVENT: Final = struct.Struct("iIII")
_ONLY_FOLDERS: Final = 0x01000000
_WANTED: Final = _CHANGES | _ONLY_FOLDERS
_BUFFER: Final = 1 << 16
_SPARE: Final = "settled"
"""How the names of copies begin, beside the tree."""


class Tree:
    """A folder, and what it has to be again after every run."""

    def __init__(self, top: str, spare: str, reference: str = "", leave: str = "") -> None:
        """Take a folder as it is.

        Args:
            top: The folder.
            spare: Where a copy may be kept of what it has to be; nothing is there yet.
            reference: Such a copy, if there is one already.
            leave: A name that is left alone.
        """
        self.top = top
        self.leave = frozenset((leave,))
        self._spare = spare
        self._reference = _Reference(reference or self._copied())

    def settle(self) -> None:
        """Take the folder as it is now for what runs start from."""
        if _compared(self.top, self._reference, self.leave, mend=False):
            self._spare += "+"
            self._reference = _Reference(self._copied())

    def mend(self) -> None:
        """Put back what was changed since the folder was settled."""
        _compared(self.top, self._reference, self.leave, mend=True)

    def _left_out(self, folder: str, names: list[str]) -> set[str]:
        odd = {name for name in names if not _can_be_copied(os.path.join(folder, name))}
        return odd | (self.leave & set(names) if folder == self.top else set())

    def _copied(self) -> str:
        shutil.rmtree(self._spare, ignore_errors=True)
        shutil.copytree(self.top, self._spare, symlinks=True, ignore=self._left_out)
        return self._spare


class Folders:
    """The private folders of a process, watched together."""

    def __init__(self, place: str, trees: Sequence[Tree], kept: Iterable[str]) -> None:
        """Begin to watch.

        Args:
            place: The folder in which the trees lie beside each other.
            trees: What is put back after a run.
            kept: Names in that folder that belong there; others are removed.
        """
        self._place = place
        self._trees = trees
        self._kept = frozenset((*os.listdir(place), *kept))
        self._watch = _watch()
        self._watch_all()
        self._settle()

    def settle(self) -> None:
        """Take all folders as they are now for what runs start from."""
        if self._has_changed():
            self._watch_all()
            self._settle()

    def _settle(self) -> None:
        for tree in self._trees:
            tree.settle()

    def restore(self, *, anyway: bool = False) -> None:
        """Make all folders again what they were when they were settled.

        Args:
            anyway: Do not rely on what the kernel told: another process may have heard it.
        """
        if not self._has_changed() and not anyway:
            return
        for tree in self._trees:
            tree.mend()
        for name in os.listdir(self._place):
            if name not in self._kept and not name.startswith(_SPARE):
                _remove(os.path.join(self._place, name))
        self._watch_all()

    def _watch_all(self) -> None:
        folders = [self._place]
        for tree in self._trees:
            for folder, names, _ in os.walk(tree.top):
                if folder == tree.top:
                    names[:] = [name for name in names if name not in tree.leave]
                folders.append(folder)
        for folder in folders:
            path = os.fsencode(folder)
            if self._watch >= 0 and _libc().inotify_add_watch(self._watch, path, _WANTED) < 0:
                os.close(self._watch)  # out of watches: compare from now on
                self._watch = -1
        self._has_changed()

    def _has_changed(self) -> bool:
        """Read away what the kernel has to tell; say whether there was anything."""
        if self._watch < 0:
            return True
        changed = False
        try:
            while told := os.read(self._watch, _BUFFER):
                changed = changed or _matters(told)
        except BlockingIOError:
            return changed
        return changed


def _matters(events: bytes) -> bool:
    """Tell whether any event is of a file that can be found by its name.

    The files in which pytest captures output have none: the kernel calls them by a number.
    """
    position = 0
    while position < len(events):
        _, mask, _, length = _EVENT.unpack_from(events, position)
        start = position + _EVENT.size
        position = start + length
        name = events[start:position].rstrip(b"\0")
        if mask & ~_WRITTEN or not name.startswith(b"#") or not name[1:].isdigit():
            return True
    return False


def _watch() -> int:
    if sys.platform != "linux":
        return -1
    return int(_libc().inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC))


@cache
def _libc() -> Any:
    return ctypes.CDLL(None)


class _Reference:
    """A copy of what a folder has to be; nothing in it ever changes, so it is read once."""

    def __init__(self, top: str) -> None:
        self.top = top
        self.folders: dict[str, _Listing] = {}
        waiting = [""]
        while waiting:
            folder = waiting.pop()
            listing = _Listing(os.path.join(top, folder))
            self.folders[folder] = listing
            waiting += [os.path.join(folder, name) for name in listing.folders]


class _Listing:
    """What stands in one folder of a reference."""

    def __init__(self, folder: str) -> None:
        self.mode = stat.S_IMODE(os.stat(folder).st_mode)
        self.folders: set[str] = set()
        self.files: dict[str, _Look | None] = {}
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    self.folders.add(entry.name)
                else:
                    self.files[entry.name] = _look_of(entry)


_Look = tuple[int, int, int] | str
"""How a file looks: kind and mode, size and time of it, or where it leads."""


def _look_of(entry: "os.DirEntry[str]") -> _Look | None:
    """Return how a file looks; None if it is gone meanwhile."""
    try:
        if entry.is_symlink():
            return os.readlink(entry.path)
        there = entry.stat(follow_symlinks=False)
    except OSError:
        return None
    return (there.st_mode, there.st_size, there.st_mtime_ns)


def _compared(tree: str, reference: _Reference, leave: frozenset[str], *, mend: bool) -> bool:
    """Compare two trees by kind, size and time of files; tell whether they differed.

    Args:
        tree: The one that is mended, if asked.
        reference: What it should be.
        leave: Names that are left alone.
        mend: Make them equal, and do not stop at the first difference.
    """
    differ = False
    for folder, listing in reference.folders.items():  # those above come first
        if differ and not mend:
            return True
        mine = os.path.join(tree, folder)
        if os.path.islink(mine) or not os.path.isdir(mine):
            differ = True
            if not mend:
                return True
            _remove(mine)
            os.mkdir(mine)
        if stat.S_IMODE(os.stat(mine).st_mode) != listing.mode:
            differ = True
            os.chmod(mine, listing.mode)  # also where it is only compared: it must be readable
        here = frozenset() if folder else leave
        differ = _folder_differs(mine, reference, folder, here, mend=mend) or differ
    return differ


def _folder_differs(
    mine: str, reference: _Reference, folder: str, leave: frozenset[str], *, mend: bool
) -> bool:
    """Compare what stands in one folder, without those below."""
    listing = reference.folders[folder]
    with os.scandir(mine) as entries:
        there = {entry.name: entry for entry in entries}
    strangers = [
        name
        for name in there
        if name not in listing.files and name not in listing.folders and name not in leave
    ]
    changed = [
        name
        for name, look in listing.files.items()
        if name not in there or look is None or _look_of(there[name]) != look
    ]
    if mend:
        for name in strangers:
            _remove(os.path.join(mine, name))
        for name in changed:
            _replace(os.path.join(mine, name), os.path.join(reference.top, folder, name))
    return bool(strangers or changed)


def _can_be_copied(path: str) -> bool:
    mode = os.lstat(path).st_mode
    return stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode)


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
