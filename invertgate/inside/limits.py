"""Watch a run from outside: processor time, wall time and memory of its whole process tree."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

TYPE_CHECKING = False
if TYPE_CHECKING:
    import psutil

# psutil is loaded where it is needed: every worker and every fresh process would wait for it, and
# hardly any ever asks.

_ROUNDS: Final = 50
_NAP: Final = 0.002
_FIRST_LOOK: Final = 0.05
_LOOK_EVERY: Final = 0.1
_PAGE: Final = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
_TICKS: Final = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
_FIRST_TIME: Final = 11
"""Where the four times stand in ``/proc/PID/stat``, counted from behind the name."""
_RESIDENT: Final = 21
_GUARD_FACTOR: Final = 3
_GUARD_EXTRA: Final = 2.0
_HARD: Final = resource.getrlimit(resource.RLIMIT_CPU)[1]
_SUBREAPER: Final = 36
"""``PR_SET_CHILD_SUBREAPER`` of Linux: orphans come to us and not to process 1."""
_DEATH_SIGNAL: Final = 1
"""``PR_SET_PDEATHSIG`` of Linux."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a run may use: seconds of processor time and of the clock, bytes of memory."""

    cpu: float
    wall: float
    memory: int


@dataclass(frozen=True, slots=True)
class Usage:
    """What a process tree has used so far."""

    cpu: float
    memory: int


def usage_below(pid: int) -> Usage:
    """Return what all descendants of a process have used, in seconds and bytes."""
    if not os.path.exists(f"/proc/{pid}/task/{pid}/children"):
        return _usage_anywhere(pid)
    used = Usage(0.0, 0)
    waiting = [pid]
    while waiting:
        for child in _listed(waiting.pop()):
            waiting.append(child)
            used = _added(used, child)
    return used


def _listed(pid: int) -> list[int]:
    """Return the children that the kernel lists; it looks at no other process of the machine."""
    children = Children(pid)
    with contextlib.closing(children):
        return children.listed() or []


def _added(used: Usage, pid: int) -> Usage:
    """Add what a process has used, and its children that ended (see ``proc_pid_stat(5)``)."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
        ticks = sum(map(int, fields[_FIRST_TIME : _FIRST_TIME + 4]))
        return Usage(used.cpu + ticks / _TICKS, used.memory + int(fields[_RESIDENT]) * _PAGE)
    except (OSError, ValueError, IndexError):
        return used  # it has ended


def _usage_anywhere(pid: int) -> Usage:
    import psutil

    cpu, memory = 0.0, 0
    for process in _descendants(pid):
        with contextlib.suppress(psutil.Error):
            times = process.cpu_times()
            cpu += times.user + times.system
            cpu += getattr(times, "children_user", 0.0) + getattr(times, "children_system", 0.0)
            memory += process.memory_info().rss
    return Usage(cpu, memory)


def _descendants(pid: int) -> list[psutil.Process]:
    import psutil

    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.Error:
        return []


class Children:
    """The children of a process, ended ones too; cheap to ask for where the kernel lists them."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._lists: list[int] = []  # one for each thread that it has now
        with contextlib.suppress(OSError):
            for thread in os.listdir(f"/proc/{pid}/task"):
                path = f"/proc/{pid}/task/{thread}/children"
                self._lists.append(os.open(path, os.O_RDONLY | os.O_CLOEXEC))

    def now(self) -> list[int]:
        """Return their numbers."""
        listed = self.listed()
        return [each.pid for each in _descendants(self._pid)] if listed is None else listed

    def listed(self) -> list[int] | None:
        """Return those that the kernel lists; None if it lists none, or the process is gone."""
        with contextlib.suppress(OSError):
            if self._lists:
                told = map(_whole, self._lists)
                return [int(child) for each in told for child in each.split()]
        return None

    def close(self) -> None:
        """Ask no more."""
        while self._lists:
            os.close(self._lists.pop())


def _whole(descriptor: int) -> bytes:
    told = b""
    while piece := os.pread(descriptor, _PAGE, len(told)):
        told += piece
    return told


def cpu_of_children() -> float:
    """Return the seconds that ended children of this process used, and theirs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)  # finer than os.times
    return used.ru_utime + used.ru_stime


def _children_of(pid: int) -> list[int]:
    children = Children(pid)
    with contextlib.closing(children):
        return children.now()


def _resident(pid: int) -> int:
    """Return the resident memory of one process in bytes; cheap enough to ask often."""
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            return int(file.read().split()[1]) * _PAGE
    except (OSError, IndexError, ValueError):
        return 0


def watch(top: int, limits: Limits, ended: Callable[[float], bool]) -> str:
    """Wait for a run to end, and say which limit it passed, or nothing.

    Looks at the whole tree only once the processor budget could have been used up; at the memory of
    the first process from the start.

    Args:
        top: the process below which all are of the run: its only child is the first of them.
        limits: what it may use.
        ended: waits for at most so many seconds and tells whether the run has ended.
    """
    started = time.monotonic()
    tick = _FIRST_LOOK
    first: list[int] = []
    while not ended(tick):
        tick = _LOOK_EVERY
        elapsed = time.monotonic() - started
        if elapsed > limits.wall:
            return "wall time used up"
        first = first or _children_of(top)[:1]
        if elapsed < min(limits.cpu, 1.0) and sum(map(_resident, first)) <= limits.memory:
            continue
        used = usage_below(top)
        if used.memory > limits.memory:
            return "memory used up"
        if used.cpu > limits.cpu:
            return "cpu time used up"
    return ""


def end_below(pid: int) -> None:
    """Kill all descendants of this process, also those that start while we look."""
    for _ in range(_ROUNDS):
        processes = _descendants(pid) if _children_of(pid) else []
        _kill(processes)
        reap()
        if not processes:
            return
        time.sleep(_NAP)


def kill_below(pid: int) -> None:
    """Kill all descendants of another process, which itself must collect what they leave."""
    for _ in range(_ROUNDS):
        living = [each for each in _descendants(pid) if _lives(each)]
        if not living:
            return
        _kill(living)
        time.sleep(_NAP)


def _kill(processes: Iterable[psutil.Process]) -> None:
    import psutil

    for process in processes:
        with contextlib.suppress(psutil.Error):
            process.kill()


def _lives(process: psutil.Process) -> bool:
    import psutil

    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def reap() -> bool:
    """Collect what ended children left; tell whether any child is still there."""
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return False
        if pid == 0:
            return True


def adopt_orphans() -> None:
    """Make orphaned descendants children of this process, where the platform can."""
    _prctl(_SUBREAPER, 1)


def die_with_parent() -> None:
    """End this process when its parent ends, where the platform can."""
    _prctl(_DEATH_SIGNAL, signal.SIGKILL)


def _prctl(option: int, value: int) -> None:
    if sys.platform != "linux":
        return
    with contextlib.suppress(OSError, AttributeError):
        _libc().prctl(option, value, 0, 0, 0)


@cache
def _libc() -> Any:
    import ctypes

    return ctypes.CDLL(None)


def guard(cpu: float) -> None:
    """Limit the processor time of this process itself, in case that nobody is left to watch it.

    Args:
        cpu: the seconds that the run may use.
    """
    seconds = int(cpu * _GUARD_FACTOR + _GUARD_EXTRA) + 1
    if _HARD == resource.RLIM_INFINITY or seconds < _HARD:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, _HARD))


def go_first() -> None:
    """Let the kernel, when memory runs out, end this process and its forks before others."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
            file.write("500")
