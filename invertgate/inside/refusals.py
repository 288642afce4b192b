"""What containment keeps a process from is noted: a test that fails by it has not noticed anything.

Inverted code may be refused what would succeed elsewhere. Such a run proves neither that the test
notices nor that it does not, so the board gets a flag and the first thing that was refused. It is
seen by audit events, before it is tried. What a program does that is no Python cannot be seen: a
mark for its command line lets the judge tell whether only the inverted run started it.
"""

from __future__ import annotations

import os

from .switch import SWITCH

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Arguments = tuple[object, ...]
    Look = Callable[[Arguments], str]

LISTENING = "listening"
"""Name of the file that lists the ports on which somebody outside listens."""

REFUSED = "containment kept it from "
"""How the note of a run begins that was refused something; what was refused stands behind it."""

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_LOOPBACK = ("127.", "::ffff:127.")
_HERE = ("", "localhost", "::1", "::", "0.0.0.0", "<broadcast>")  # noqa: S104
_CACHE = "__pycache__"
_INTERNET = (2, 10)
"""``AF_INET`` and ``AF_INET6`` of Linux; the module that names them is not loaded everywhere."""
_LISTENS = "0A"

_realpath = os.path.realpath  # bound now: a test may leave its own in their places
_lexists = os.path.lexists
_isdir = os.path.isdir
_readlink = os.readlink
_fsdecode = os.fsdecode
_join = os.path.join
_split = os.path.split
_open = open


def watcher(level: str, scratch: str) -> Callable[[str, Arguments], None] | None:
    """Return what is to be called with every audit event, or None if nothing is refused."""
    looks: dict[str, Look] = {}
    if level:
        looks.update(_looks_at_sockets(scratch))
    if level == "files":
        looks.update(_looks_at_files(scratch))
    if not looks:
        return None

    def watch(event: str, arguments: Arguments) -> None:
        look = looks.get(event)
        if look is None:
            return
        try:
            refused = look(arguments)
        except Exception:  # noqa: BLE001  # odd arguments are for the call itself to complain of
            return
        if refused and SWITCH.board is not None:
            SWITCH.board.refuse(refused)

    return watch


def _looks_at_files(scratch: str) -> dict[str, Look]:
    """Return what says, for an event, which path outside would be changed."""
    writable = (scratch + os.sep, "/dev/", "/proc/")

    def is_held(path: str) -> bool:
        return not (path + os.sep).startswith(writable)

    def opened(arguments: Arguments) -> str:
        path, _, flags = arguments
        if isinstance(path, int) or not isinstance(flags, int) or not flags & _WRITES:
            return ""
        full = _realpath(_fsdecode(path))  # type: ignore[arg-type]
        is_there = _lexists(full) or (flags & os.O_CREAT and _isdir(_split(full)[0]))
        is_refused = is_there and is_held(full) and not _is_byte_code(full)
        return f"writing {full}" if is_refused else ""

    def changed(
        position: int, folder: int, word: str, *, new: bool = False, follow: bool = False
    ) -> Look:
        def look(arguments: Arguments) -> str:
            if isinstance(arguments[position], int):
                return ""
            full = _entry(arguments[position], arguments[folder] if folder else -1)
            full = _realpath(full) if follow else full
            is_there = _lexists(full) != new and _isdir(_split(full)[0])
            is_refused = is_there and is_held(full) and not (new and _is_byte_code(full))
            return f"{word} {full}" if is_refused else ""

        return look

    def removed(arguments: Arguments) -> str:  # refused before anybody looks whether it is there
        full = _entry(arguments[0], arguments[1])
        return f"removing {full}" if is_held(full) and _isdir(_split(full)[0]) else ""

    def renamed(arguments: Arguments) -> str:
        source, target = _entry(arguments[0], arguments[2]), _entry(arguments[1], arguments[3])
        outside = [path for path in (source, target) if is_held(path)]
        return f"moving {source} to {target}" if outside else ""

    return {
        "open": opened,
        "os.remove": removed,
        "os.rmdir": removed,
        "os.rename": renamed,
        "os.mkdir": changed(0, 2, "making", new=True),
        "os.link": changed(1, 3, "making", new=True),
        "os.symlink": changed(1, 2, "making", new=True),
        "os.truncate": changed(0, 0, "writing", follow=True),
        "os.chmod": changed(0, 2, "changing", follow=True),
        "os.chown": changed(0, 3, "changing", follow=True),
        "os.utime": changed(0, 3, "changing", follow=True),
        "os.setxattr": changed(0, 0, "changing", follow=True),
        "os.removexattr": changed(0, 0, "changing", follow=True),
    }


def _is_byte_code(path: str) -> bool:
    """Tell whether a path is where Python and pytest keep byte code.

    They do so by the way, when they import what they have no byte code of yet, and do without if
    they may not: a test sees no difference.
    """
    folder, name = _split(path)
    return name == _CACHE or (_split(folder)[1] == _CACHE and ".pyc" in name)


def _entry(path: object, folder: object) -> str:
    """Return the full path of an entry, with no link before its last part."""
    text = _fsdecode(path)  # type: ignore[arg-type]
    if isinstance(folder, int) and folder >= 0 and not text.startswith(os.sep):
        text = _join(_readlink(f"/proc/self/fd/{folder}"), text)
    before, name = _split(text)
    return _join(_realpath(before), name) if name not in ("", ".", "..") else _realpath(text)


def _looks_at_sockets(scratch: str) -> dict[str, Look]:
    """Return what says, for an event, who outside would be reached."""

    def reached(arguments: Arguments) -> str:
        family, address = getattr(arguments[0], "family", 0), arguments[1]
        if family not in _INTERNET or not isinstance(address, tuple):
            return ""
        host, port = str(address[0]), address[1]
        if not _is_here(host):
            return f"reaching {host} port {port}"
        outside = port in _ports_outside(scratch) and port not in _ports_here()
        return f"reaching port {port}, on which somebody outside listens" if outside else ""

    def asked(arguments: Arguments) -> str:
        host = arguments[0]
        if host is None or not isinstance(host, str | bytes):
            return ""
        name = host if isinstance(host, str) else host.decode("ascii", "replace")
        is_number = ":" in name or not name.strip("0123456789.")
        return "" if is_number or name in _known_hosts() else f"asking for the address of {name}"

    def bound(arguments: Arguments) -> str:
        family, address = getattr(arguments[0], "family", 0), arguments[1]
        if family not in _INTERNET or not isinstance(address, tuple):
            return ""
        return "" if _is_here(str(address[0])) else f"listening on {address[0]}"

    return {
        "socket.connect": reached,
        "socket.sendto": reached,
        "socket.sendmsg": reached,
        "socket.bind": bound,
        "socket.getaddrinfo": asked,
        "socket.gethostbyname": asked,
    }


def _is_here(host: str) -> bool:
    return host in _HERE or host.startswith(_LOOPBACK)


def _known_hosts() -> set[str]:
    names = set(_HERE)
    with _open("/etc/hosts", encoding="utf-8", errors="replace") as file:
        for line in file:
            names.update(line.partition("#")[0].split()[1:])
    return names


def _ports_outside(scratch: str) -> set[int]:
    with _open(_join(scratch, LISTENING), encoding="ascii") as file:
        return {int(port) for port in file.read().split()}


def _ports_here() -> set[int]:
    ports: set[int] = set()
    for table in ("/proc/self/net/tcp", "/proc/self/net/tcp6"):
        with _open(table, encoding="ascii") as file:
            lines = [line.split() for line in file][1:]
        ports.update(int(line[1].rpartition(":")[2], 16) for line in lines if line[3] == _LISTENS)
    return ports


def mark_of(words: Iterable[str], scratch: str) -> int:
    """Return a number for a command line; paths that may be written are all alike in it."""
    import zlib  # not hash(): another process has to come to the same number

    text = "\0".join(scratch if scratch in word else word for word in words)
    return zlib.crc32(text.encode("utf-8", "surrogateescape"))
