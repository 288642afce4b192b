"""The switch: which outcomes are inverted in this process, and the probes that woven code calls.

Every decision of a woven file has two slots on the *board*, a small file that is mapped into all
processes of a run: an even one for its true side (or its handler, case or else), and the odd one
behind it for its false side. A probe marks the slot of the outcome that is taken *before* it is
inverted, so a mark says that the point was passed even if the process is killed right after.
"""

from __future__ import annotations

import builtins
import mmap
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import FrameType

PROBE_TEST = "invertgate test"
PROBE_HANDLER = "invertgate handler"
PROBE_STAR_HANDLER = "invertgate star handler"
PROBE_BODY = "invertgate body"
PROBE_GUARD = "invertgate guard"
PROBE_VERSION = "invertgate version"
EVERYTHING = "invertgate everything"
"""Names of builtins that are no identifiers, so that nothing in user code can shadow them."""

HEADER = 512
"""Bytes of the board before the first file: flags of the run as a whole, and the two below."""
FLAG_LOST_CHILD = 0
"""A Python child process was started that cannot have the switch."""
FLAG_OLD_PYTHON = 1
"""A child process runs a Python on which nothing is woven."""
FLAG_UNSEEN = 2
"""Something was done of which it cannot be told what it read."""
FLAGS = (FLAG_LOST_CHILD, FLAG_OLD_PYTHON)
_INVERTED = 3
"""How many slots are inverted; they follow one another."""
_FIRST_INVERTED = slice(4, 8)
"""The first of them."""
_REFUSED = slice(8, 256)
"""Where the first thing stands that containment refused; zeros behind it."""
_STARTED = slice(256, HEADER)
"""Marks for the programs, other than Python, that were started under containment."""


class Board:
    """A mapped file in which processes of a run note what happened; a byte a fact."""

    def __init__(self, path: str, files: int, slots: int) -> None:
        self.path = path
        self.files = files
        self.size = size_of(files, slots)
        self._first_slot = HEADER + 2 * files
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
        try:
            if os.fstat(descriptor).st_size < self.size:
                os.ftruncate(descriptor, self.size)
            self._memory = mmap.mmap(descriptor, self.size)
            self._kept = bytes(self._first_slot)
            self._remembered = bytes(self.size)
        finally:
            os.close(descriptor)

    def flag(self, number: int) -> None:
        """Set a flag of the run as a whole."""
        self._memory[number] = 1

    def flagged(self, number: int) -> bool:
        """Tell whether a flag is set."""
        return self._memory[number] == 1

    def invert(self, slots: tuple[int, ...]) -> None:
        """Choose what is inverted in every process that starts from now on.

        Args:
            slots: Numbers that follow one another; none in a control.
        """
        self._memory[_INVERTED] = len(slots)
        self._memory[_FIRST_INVERTED] = (slots[0] if slots else 0).to_bytes(4, "little")

    def inverted(self) -> tuple[int, ...]:
        """Return the slots that are inverted."""
        first = int.from_bytes(self._memory[_FIRST_INVERTED], "little")
        return tuple(range(first, first + self._memory[_INVERTED]))

    def refuse(self, what: str) -> None:
        """Note what containment refuses; the first is kept."""
        if self._memory[_REFUSED.start] == 0:
            room = _REFUSED.stop - _REFUSED.start
            self._memory[_REFUSED] = what.encode("utf-8", "replace")[:room].ljust(room, b"\0")

    def start(self, mark: int) -> None:
        """Note that a program was started that cannot be watched."""
        self._memory[_STARTED.start + mark % (_STARTED.stop - _STARTED.start)] = 1

    def woven(self, file: int) -> None:
        """Note that the woven code of a file was loaded."""
        self._memory[HEADER + file] = 1

    def is_woven(self, file: int) -> bool:
        """Tell whether some process loaded the woven code of a file."""
        return self._memory[HEADER + file] == 1

    def bare(self, file: int) -> None:
        """Note that a file was, or may have been, executed without being woven."""
        self._memory[HEADER + self.files + file] = 1

    def all_bare(self) -> list[int]:
        """Return the files that some process executed without weaving."""
        return [file for file in range(self.files) if self._memory[HEADER + self.files + file]]

    def keep_files(self) -> None:
        """Remember which files are woven or bare now: that stays true of every fork."""
        self._kept = self._memory[: self._first_slot]

    def take(self, slot: int) -> None:
        """Note that an outcome was taken."""
        self._memory[self._first_slot + slot] = 1

    def taken(self, slot: int) -> bool:
        """Tell whether an outcome was taken."""
        return self._memory[self._first_slot + slot] == 1

    def all_taken(self) -> list[int]:
        """Return the slots of all outcomes that were taken."""
        return self.read(self.content(), self.files)[1]

    def content(self) -> bytes:
        """Return all that is noted, for :meth:`read`."""
        return self._memory[:]

    @staticmethod
    def read(content: bytes, files: int) -> tuple[list[int], list[int]]:
        """Return the files that were executed without being woven, and the slots taken."""
        bare = content[HEADER + files : HEADER + 2 * files]
        marks = content[HEADER + 2 * files :]
        return _set_in(bare), _set_in(marks)

    def remember(self) -> None:
        """Remember all that is noted now, for :meth:`recall`."""
        self._remembered = self._memory[:]

    def recall(self) -> None:
        """Note what was remembered, and nothing else."""
        self._memory[:] = self._remembered

    def clear(self) -> None:
        """Forget what a run noted; what was kept of the files stays."""
        self._memory[: self._first_slot] = self._kept
        self._memory[self._first_slot :] = bytes(self.size - self._first_slot)


def refused_in(content: bytes) -> str:
    """Return the first thing that containment refused, by the content of a board, or nothing."""
    return content[_REFUSED].rstrip(b"\0").decode("utf-8", "replace")


def started_in(content: bytes) -> list[int]:
    """Return the marks of programs that were started and could not be watched."""
    return _set_in(content[_STARTED])


def _set_in(marks: bytes) -> list[int]:
    found = []
    number = marks.find(1)
    while number >= 0:
        found.append(number)
        number = marks.find(1, number + 1)
    return found


def size_of(files: int, slots: int) -> int:
    """Return the size in bytes of a board."""
    return HEADER + 2 * files + slots + 1


class Switch:
    """What is inverted in this process."""

    def __init__(self) -> None:
        self.inverted: frozenset[int] = frozenset()
        self.board: Board | None = None
        self._rests: dict[tuple[int, int], BaseException | None] = {}

    def test(self, slot: int, truth: bool) -> bool:
        """Return the truth of a test, overridden if the side that it takes is inverted."""
        side = slot if truth else slot + 1
        if self.board is not None:
            self.board.take(side)
        return truth if side not in self.inverted else not truth

    def body(self, slot: int) -> bool:
        """Tell whether an ``else`` body, or a case without a guard, is to be entered."""
        if self.board is not None:
            self.board.take(slot)
        return slot not in self.inverted

    def guard(self, slot: int, truth: bool) -> bool:
        """Return the truth of a guard, False if its case is inverted."""
        return truth and self.body(slot)

    def version(self, slot: int) -> bool:
        """Tell whether another version of a statement or expression takes its place."""
        return not self.body(slot)

    def handler(self, slot: int, expected: object) -> object:
        """Return what a handler expects, or nothing at all if it fits and is inverted."""
        return self._expect(slot, expected, _fits(sys.exception(), expected))

    def star_handler(self, slot: int, order: int, site: int, expected: object) -> object:
        """Do the same for ``except*``, where earlier handlers have taken their part of the group.

        While a later handler's type is evaluated, ``sys.exception()`` is the part that the one
        before it was given, so what is left has to be followed from the first on. ``order`` is 0
        for the first handler of a statement, ``site`` tells the statements of a frame apart; a
        negative ``slot`` belongs to a handler without a row.
        """
        frame: FrameType = sys._getframe(1)  # noqa: SLF001
        key = (id(frame), site)
        rest = sys.exception() if order == 0 else self._rests.get(key)
        part, left = _split(rest, expected)
        inverted = slot >= 0 and part is not None and slot in self.inverted
        self._rests[key] = rest if inverted else left
        return self._expect(slot, expected, part is not None) if slot >= 0 else expected

    def _expect(self, slot: int, expected: object, fits: bool) -> object:
        if not fits:
            return expected
        return expected if self.body(slot) else ()


def _fits(error: BaseException | None, expected: object) -> bool:
    """Decide as ``except`` does: by the class's ``__mro__``, tuples within tuples allowed."""
    if isinstance(expected, tuple):
        return any(_fits(error, each) for each in expected)
    return expected in type(error).__mro__


def _split(
    error: BaseException | None, expected: object
) -> tuple[BaseException | None, BaseException | None]:
    """Return the part of an exception that ``except*`` would take, and the rest."""
    if error is None:
        return None, None
    if not isinstance(error, BaseExceptionGroup):
        return (error, None) if _fits(error, expected) else (None, error)
    try:
        return error.split(expected)  # type: ignore[call-overload, no-any-return]
    except TypeError:  # the `except*` itself is about to say so
        return None, error


SWITCH = Switch()


def install() -> None:
    """Make the probes known to woven code."""
    names = vars(builtins)
    names[PROBE_TEST] = SWITCH.test
    names[PROBE_HANDLER] = SWITCH.handler
    names[PROBE_STAR_HANDLER] = SWITCH.star_handler
    names[PROBE_BODY] = SWITCH.body
    names[PROBE_GUARD] = SWITCH.guard
    names[PROBE_VERSION] = SWITCH.version
    names[EVERYTHING] = BaseException


def invert(slots: Iterable[int]) -> None:
    """Choose the outcomes that are inverted in this process and its children from now on."""
    SWITCH.inverted = frozenset(slots)
