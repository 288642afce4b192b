"""Whether forks of this process begin as fresh processes do. PYTEST_DONT_REWRITE.

A fork has none of the threads of what it was forked from, and shares memory and programs with the
forks before it. What modules noted of process and time when they were imported is another
process's, and older. So a test can fail in every fork, and in no fresh process.
"""

import contextlib
import datetime as dt
import os
import sys
import threading
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from types import CellType, FrameType, FunctionType, ModuleType
from typing import Any, Final

from .limits import Children

_XDIST: Final = frozenset(("execnet", "xdist", "__channelexec__"))
_ATOMS: Final = frozenset((str, bytes, bool, type(None), complex, type(Ellipsis)))
_MOST: Final = 50_000
_CONTAINERS: Final[tuple[Any, ...]] = (list, tuple, set, frozenset)
_LONGEST: Final = 500
"""Longer containers are tables, and not looked into."""
_LOW: Final = 1000
"""Many a constant is the number of a process below; then its name has to say that it is one."""
_HINTS: Final = ("pid", "process", "owner", "creator")
_EARLY: Final = 5.0
_LATE: Final = 1.0
_SCALES: Final = (1, 1_000, 1_000_000_000)
_CLOCKS: Final = (time.time, time.monotonic)
_BEGAN: Final = tuple(clock() - _EARLY for clock in _CLOCKS)
_FIRST: Final = os.getpid()
_Datetime: Final = dt.datetime  # bound now: a test may leave its own in its place

_NO_MATTER: Final = (" (deleted)", "anon_inode:inotify")
"""Ends of what pytest captures output in, and of what we listen by."""

_BESIDE: Final = 2
"""Separators behind our folder in the path of a file of ours that stands beside a tree."""

_Named = tuple[str, Any]


def is_alive(ours: str, known: Collection[str] = ()) -> bool:
    """Tell whether this process has what no fork of it gets, or what they all share.

    Args:
        ours: The folder of our own files.
        known: Of what :func:`shared` tells: that is no matter.
    """
    return _has_threads() or _has_children() or not shared(ours).issubset(known)


def shared(ours: str) -> set[str]:
    """Return what this process and its forks write or read together, where Linux tells.

    That is memory, and open files, pipes and sockets: forks go on where another one stopped.

    Args:
        ours: The folder of our own files; they do not count.
    """
    return _shared_memory(ours) | {f"{number} {name}" for number, name in _open(ours)}


def _shared_memory(ours: str) -> set[str]:
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as file:
            shared = {line for line in file if line.split(" ", 2)[1] == "rw-s"}
    except OSError:
        return set()
    return {line for line in shared if ours not in line}


def _open(ours: str) -> Iterator[tuple[str, str]]:
    """Yield what is open, but for what is so in every process of ours."""
    with contextlib.suppress(OSError):
        for number in os.listdir("/proc/self/fd"):
            with contextlib.suppress(OSError):  # it was the one for the list
                name = os.readlink(f"/proc/self/fd/{number}")
                beside_a_tree = name.startswith(ours) and name.count(os.sep, len(ours)) <= _BESIDE
                if not (beside_a_tree or name.endswith(_NO_MATTER) or name.startswith("/dev/")):
                    yield number, name


def _has_children() -> bool:
    children = Children(os.getpid())
    with contextlib.closing(children):
        return bool(children.now())


def _has_threads() -> bool:
    frames = sys._current_frames()  # noqa: SLF001
    frames.pop(threading.get_ident(), None)
    return not all(map(_is_of_xdist, frames.values()))


def _is_of_xdist(frame: FrameType | None) -> bool:
    while frame is not None:
        if str(frame.f_globals.get("__name__")).partition(".")[0] in _XDIST:
            return True
        frame = frame.f_back
    return False


def is_dated(tree: str) -> bool:
    """Tell whether a project keeps the number of this process, or a time since it began.

    Args:
        tree: The folder of its modules.
    """
    top = tree + os.sep
    modules = {
        name: vars(module)
        for name, module in list(sys.modules.items())
        if type(module) is ModuleType and str(vars(module).get("__file__")).startswith(top)
    }
    pids = frozenset((_FIRST, os.getppid(), os.getpid()))
    ends = [clock() + _LATE for clock in _CLOCKS]
    spans = [
        (scale * start, scale * end)
        for start, end in zip(_BEGAN, ends, strict=True)
        for scale in _SCALES
    ]
    try:
        return any(_tells(name, value, pids, spans) for name, value in _kept(modules))
    except Exception:  # noqa: BLE001  # odd objects of the project
        return True


def _tells(
    name: str, value: Any, pids: frozenset[int], spans: Iterable[tuple[float, float]]
) -> bool:
    kind = type(value)
    if issubclass(kind, _Datetime):
        zones = (value.tzinfo,) if value.tzinfo else (None, dt.UTC)
        times = [_Datetime.replace(value, tzinfo=each).timestamp() for each in zones]
        return any(_BEGAN[0] < each < time.time() + _LATE for each in times)
    if kind is not int and kind is not float:
        return False
    if value in pids and (value >= _LOW or any(hint in name.lower() for hint in _HINTS)):
        return True
    return any(start < value < end for start, end in spans)


def _kept(modules: Mapping[str, Mapping[str, Any]]) -> Iterator[_Named]:
    """Yield what modules keep, and objects of their classes, each by the name that is next."""
    waiting: list[_Named] = [each for module in modules.values() for each in module.items()]
    seen = set[int]()
    while waiting and len(seen) < _MOST:
        name, value = waiting.pop()
        if type(value) in _ATOMS or id(value) in seen:
            continue
        seen.add(id(value))
        yield name, value
        waiting += _contained(name, value)
        waiting += _told(name, value, modules)


def _contained(name: str, value: Any) -> Iterable[_Named]:
    """Return what a container holds, without asking it: no code of the project is run."""
    kind = type(value)
    if issubclass(kind, dict):
        pairs = dict.items(value) if dict.__len__(value) <= _LONGEST else ()
        return [(key if type(key) is str else name, each) for key, each in pairs]
    for base in _CONTAINERS:
        if issubclass(kind, base):
            short = base.__len__(value) <= _LONGEST
            return [(name, each) for each in base.__iter__(value)] if short else ()
    return ()


def _told(name: str, value: Any, modules: Mapping[str, Mapping[str, Any]]) -> Iterable[_Named]:
    """Return what a function, a class or an object of the project keeps."""
    kind = type(value)
    if kind is CellType:
        with contextlib.suppress(ValueError):  # it may be empty
            return [(name, value.cell_contents)]
    elif kind in (staticmethod, classmethod):
        return [(name, value.__func__)]
    elif kind is FunctionType and value.__module__ in modules:
        kept = (value.__defaults__, value.__kwdefaults__, value.__closure__)
        return [(name, each) for each in kept]
    elif issubclass(kind, type) and value.__module__ in modules:
        return list(vars(value).items())
    elif kind.__module__ in modules and kind.__dictoffset__:
        return [(name, object.__getattribute__(value, "__dict__"))]
    return ()


_AT_FIRST: Final = frozenset(_open(os.sep))


def of_xdist() -> set[str]:
    """Return what a worker shares that is no matter, as :func:`shared` tells it.

    That is what was open before the project could open anything, the connection to the controller
    among it; and sockets: plugins have connections of their own.
    """
    sockets = {each for each in _open(os.sep) if each[1].startswith("socket:")}
    return {f"{number} {name}" for number, name in _AT_FIRST | sockets}
