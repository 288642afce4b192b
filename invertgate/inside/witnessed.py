"""What was opened in a tree since somebody asked: by its log, and as the kernel tells.

The log tells what Python opens. The kernel (inotify) tells what anybody opens in the tree: also a
library in C, or a program that a test starts.
"""

import ctypes
import os
import struct
import sys
from functools import cache
from typing import Any, Final

from .seen import log_of, read
from .settings import Boot

_OPENED: Final = 0x20
"""``IN_OPEN``."""
_ONLY_FOLDERS: Final = 0x01000000
_IS_FOLDER: Final = 0x40000000
_OVERFLOWN: Final = 0x4000
_GONE: Final = 0x8000
_EVENT: Final = struct.Struct("iIII")
_BUFFER: Final = 1 << 16


class Witness:
    """Follows one tree; it is asked by one process only."""

    def __init__(self, boot: Boot, number: int) -> None:
        self._top = boot.tree(number)
        self._log = os.open(log_of(boot.scratch, number), os.O_RDONLY)
        self._folders: dict[int, str] = {}
        self._is_sure = True
        self._watch = _watch()
        self._watch_all()

    def new(self) -> tuple[set[str], bool]:
        """Return what was opened since the last time, and whether that is sure to be all."""
        found, sure = self._heard()
        while piece := os.read(self._log, _BUFFER):
            while not piece.endswith(b"\0"):
                rest = os.read(self._log, _BUFFER)
                if not rest:
                    break
                piece += rest
            found.update(read(piece))
        return found, sure and self._is_sure

    def skip(self) -> None:
        """Forget what the kernel has told: it was ours. Folders may have been made anew."""
        self._heard()
        if self._is_stale:
            self._watch_all()

    def _watch_all(self) -> None:
        self._is_stale = False
        for folder, names, _ in os.walk(self._top):
            if folder == self._top and ".git" in names:
                names.remove(".git")
            self._add(folder)

    def _add(self, folder: str) -> None:
        wanted = _OPENED | _ONLY_FOLDERS
        path = os.fsencode(folder)
        number = _libc().inotify_add_watch(self._watch, path, wanted) if self._watch >= 0 else -1
        if number < 0:
            self._is_sure = False  # out of watches, or no kernel that tells
        self._folders[number] = os.path.relpath(folder, self._top)

    def _heard(self) -> tuple[set[str], bool]:
        found: set[str] = set()
        sure = True
        try:
            while self._watch >= 0 and (told := os.read(self._watch, _BUFFER)):
                sure = self._understood(told, found) and sure
        except BlockingIOError:
            pass
        return found, sure

    def _understood(self, told: bytes, found: set[str]) -> bool:
        position, sure = 0, True
        while position < len(told):
            number, mask, _, length = _EVENT.unpack_from(told, position)
            start = position + _EVENT.size
            position = start + length
            if mask & _OVERFLOWN:
                sure = False
            elif mask & _GONE:
                self._is_stale = True
            elif not mask & _IS_FOLDER and length:
                name = os.fsdecode(told[start:position].rstrip(b"\0"))
                found.add(os.path.normpath(os.path.join(self._folders.get(number, ""), name)))
        return sure


def _watch() -> int:
    if sys.platform != "linux":
        return -1
    return int(_libc().inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC))


@cache
def _libc() -> Any:
    return ctypes.CDLL(None)
