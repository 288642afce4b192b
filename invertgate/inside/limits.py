"""Watch a run from outside: processor time, wall time and memory of its whole process tree."""

import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import psutil

_FIRST_LOOK: Final = 0.05
_LOOK_EVERY: Final = 0.1
_PAGE: Final = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
_GUARD_FACTOR: Final = 3
_GUARD_EXTRA: Final = 2.0
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
    cpu, memory = 0.0, 0
    for process in _descendants(pid):
        with contextlib.suppress(psutil.Error):
            times = process.cpu_times()
            cpu += times.user + times.system
            cpu += getattr(times, "children_user", 0.0) + getattr(times, "children_system", 0.0)
            memory += process.memory_info().rss
    return Usage(cpu, memory)


def _descendants(pid: int) -> list[psutil.Process]:
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.Error:
        return []


def _resident(pid: int) -> int:
    """Return the resident memory of one process in bytes; cheap enough to ask often."""
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            return int(file.read().split()[1]) * _PAGE
    except (OSError, IndexError, ValueError):
        return 0


def watch(pid: int, limits: Limits, ended: Callable[[float], bool]) -> str:
    """Wait for a run to end, and say which limit it passed, or nothing.

    Looks at the whole tree only once the processor budget could have been used up, since a look
    costs milliseconds; at the memory of the first process from the start.

    Args:
        pid: the first process of the run, a child of this one.
        limits: what it may use.
        ended: waits for at most so many seconds and tells whether the run has ended.
    """
    started = time.monotonic()
    tick = _FIRST_LOOK
    while not ended(tick):
        tick = _LOOK_EVERY
        elapsed = time.monotonic() - started
        if elapsed > limits.wall:
            return "wall time used up"
        if elapsed < min(limits.cpu, 1.0) and _resident(pid) <= limits.memory:
            continue
        used = usage_below(os.getpid())
        if used.memory > limits.memory:
            return "memory used up"
        if used.cpu > limits.cpu:
            return "cpu time used up"
    return ""


def end_below(pid: int) -> None:
    """Kill all descendants of a process, also those that start while we look."""
    for _ in range(50):
        processes = [each for each in _descendants(pid) if each.is_running()]
        for process in processes:
            with contextlib.suppress(psutil.Error):
                process.kill()
        reap()
        if not processes:
            return
        time.sleep(0.002)


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


def guard(limits: Limits) -> None:
    """Limit this process itself, in case that nobody is left to watch it."""
    if sys.platform == "win32":
        return
    import resource

    seconds = int(limits.cpu * _GUARD_FACTOR + _GUARD_EXTRA) + 1
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    if hard == resource.RLIM_INFINITY or seconds < hard:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, hard))


def go_first() -> None:
    """Let the kernel, when memory runs out, end this process and its forks before others."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
            file.write("500")
