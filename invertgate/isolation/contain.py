"""How far inverted code can be held on this machine, and how a process is started so."""

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from invertgate import process
from invertgate.errors import UsageError
from invertgate.options import Contain

_PATIENCE: Final = 20.0
_MOST_SAID: Final = 1 << 12
_APPARMOR: Final = Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
_DEBIAN: Final = Path("/proc/sys/kernel/unprivileged_userns_clone")
_MOST: Final = Path("/proc/sys/user/max_user_namespaces")


@dataclass(frozen=True, slots=True)
class Granted:
    """What this machine can do, seen by trying it."""

    level: Contain
    """The strongest that was granted: ``none``, ``network`` or ``files``."""
    why: str = ""
    """What stood in the way of more, and what would help; empty where all is granted."""


@dataclass(frozen=True, slots=True)
class Held:
    """How the code of a run is held."""

    levels: tuple[Contain, ...]
    """For sessions in which something is inverted: the strongest first, then those to which a
    test may fall back that does not live under it."""
    always: Contain
    """For sessions in which nothing is inverted."""
    note: str = ""
    """What a reader should be told of it."""


class NotGrantedError(UsageError):
    """What was asked for cannot be had on this machine."""

    def __init__(self, asked: Contain, granted: Granted) -> None:
        super().__init__(
            f'contain = "{asked}" is not granted here ({granted.why}); '
            f'with contain = "auto" the run goes on with "{granted.level}"'
        )


@cache
def granted() -> Granted:
    """Try, once a process, what this machine grants: with real namespaces, in a child.

    Returns:
        The strongest level, and what stood in the way of more.
    """
    if sys.platform != "linux":
        return Granted(Contain.NONE, "only Linux has namespaces")
    refused = _refused(Contain.FILES)
    if not refused:
        return Granted(Contain.FILES)
    why = "; ".join(filter(None, (refused, _cure())))
    level = Contain.NONE if _refused(Contain.NETWORK) else Contain.NETWORK
    return Granted(level, why)


def held(asked: Contain, tried: Callable[[], Granted] = granted) -> Held:
    """Choose how the code of a run is held.

    Args:
        asked: The configuration's word.
        tried: Tells what the machine grants.

    Raises:
        NotGrantedError: It asks for what this machine does not grant.
    """
    if asked is Contain.NONE:
        return Held((Contain.NONE,), Contain.NONE)
    there = tried()
    levels = _down_from(there.level)
    if asked is Contain.AUTO:
        return Held(levels, Contain.NONE, _note(there))
    if asked not in levels:
        raise NotGrantedError(asked, there)
    return Held((asked,), asked)


def launcher(level: Contain, scratch: Path) -> tuple[str, ...]:
    """Return the words before a command line that has to be held.

    Args:
        level: How far.
        scratch: The folder that stays writable.
    """
    if level is Contain.NONE:
        return ()
    script = str(files("invertgate.inside") / "contained.py")
    return (sys.executable, "-I", "-S", script, str(level), str(scratch))


def _down_from(level: Contain) -> tuple[Contain, ...]:
    order = (Contain.FILES, Contain.NETWORK, Contain.NONE)
    return order[order.index(level) :]


def _note(there: Granted) -> str:
    if there.level is Contain.FILES:
        return ""
    kept = {
        Contain.NETWORK: "kept from the network, and not from files outside its copy",
        Contain.NONE: "kept neither from the network nor from files outside its copy",
    }
    return f"inverted code was {kept[there.level]}: {there.why}"


def _refused(level: Contain) -> str:
    """Try a level in a child; return why it is not granted, or nothing."""
    with TemporaryDirectory(prefix="ig-contain-") as folder:
        tried = launcher(level, Path(folder).resolve())
        try:
            done = process.ask(tried, seconds=_PATIENCE, most=_MOST_SAID)
        except OSError as error:
            return str(error)
    said = done.stderr.decode(errors="backslashreplace").strip().splitlines()
    return "" if done.code == 0 else (said or [f"exit code {done.code}"])[-1]


def _cure() -> str:
    """Say what would make Linux grant it, as far as the machine tells."""
    if _says(_MOST, "0"):
        return f"allow user namespaces (sysctl -w user.max_user_namespaces=10000, {_MOST} is 0)"
    if _says(_APPARMOR, "1"):
        return "allow them (sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0)"
    if _says(_DEBIAN, "0"):
        return "allow them (sudo sysctl -w kernel.unprivileged_userns_clone=1)"
    if os.path.exists("/.dockerenv") or os.path.exists("/run/.containerenv"):  # noqa: PTH110
        return (
            "a container has to be started with --cap-add SYS_ADMIN --security-opt "
            "seccomp=unconfined --security-opt apparmor=unconfined"
        )
    return "Linux 5.12 and user namespaces are needed"


def _says(path: Path, value: str) -> bool:
    try:
        return path.read_text(encoding="ascii").strip() == value
    except OSError:
        return False
