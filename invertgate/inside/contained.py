"""Start a program that cannot reach the network, or write outside of one folder.

Run as a script, by a Python that loads nothing else, before pytest takes its place:
``python -I -S contained.py LEVEL FOLDER [PROGRAM ARGUMENT …]``. All that the program starts is held
in the same way. It sees the processes of the machine as before, and has no right to undo what was
done here.
"""

import ctypes
import fcntl
import os
import signal
import socket
import struct
import sys

NETWORK = "network"
"""No network but a loopback of its own."""
FILES = "files"
"""Beside that, everything but the folder (and devices, and ``/proc``) can only be read."""
LISTENING = "listening"
"""Name of the file in the folder that lists the ports on which somebody outside listens."""

_NEWNS, _NEWUSER, _NEWNET = 0x20000, 0x10000000, 0x40000000
_MS_NOSUID, _MS_NODEV, _MS_BIND, _MS_REC, _MS_PRIVATE = 2, 4, 0x1000, 0x4000, 1 << 18
_MOUNT_SETATTR, _AT_FDCWD, _AT_RECURSIVE, _RDONLY = 442, -100, 0x8000, 1
_ATTRIBUTES = struct.Struct("QQQQ")
_CAPBSET_DROP, _CAP_SYS_ADMIN = 24, 21
_GET_FLAGS, _SET_FLAGS, _UP_AND_RUNNING = 0x8913, 0x8914, 0x41
_REQUEST = struct.Struct("16sH22x")
_LISTENS = "0A"

_libc = ctypes.CDLL(None, use_errno=True)


def contain(level: str, folder: str) -> None:
    """Hold this process, and all that it starts from now on.

    Args:
        level: ``network`` or ``files``.
        folder: The one that stays writable; an absolute path without links.

    Raises:
        OSError: The machine does not grant it; some of it may have been done.
    """
    with open(os.path.join(folder, LISTENING), "w", encoding="ascii") as file:
        file.write(" ".join(map(str, sorted(listening()))))
    _unshare(_NEWNET | (_NEWNS if level == FILES else 0))
    _raise_loopback()
    if level == FILES:
        _freeze(folder)
        os.chdir(os.getcwd())  # where we stand is still a folder of the old mount
    _call("prctl", _CAPBSET_DROP, _CAP_SYS_ADMIN, 0, 0, 0)


def listening() -> set[int]:
    """Return the TCP ports on which some process in this network listens."""
    ports: set[int] = set()
    for table in ("/proc/self/net/tcp", "/proc/self/net/tcp6"):
        try:
            with open(table, encoding="ascii") as file:
                lines = [line.split() for line in file][1:]
        except OSError:
            continue
        ports |= {int(line[1].rpartition(":")[2], 16) for line in lines if line[3] == _LISTENS}
    return ports


def _call(name: str, *arguments: object) -> None:
    if getattr(_libc, name)(*arguments) < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


def _unshare(spaces: int) -> None:
    """Enter namespaces of our own: with a user namespace, or else with the rights we have."""
    try:
        _enter_user_namespace(spaces)
    except OSError:
        if os.geteuid() != 0:
            raise
        _call("unshare", spaces)


def _enter_user_namespace(spaces: int) -> None:
    """Enter namespaces in which nobody is somebody else than before.

    Only a process outside may say so of more than one user; it has to be root.
    """
    users, groups = _as_before("uid_map"), _as_before("gid_map")
    mine = f"{os.geteuid()} {os.geteuid()} 1", f"{os.getegid()} {os.getegid()} 1"
    go, ready = os.pipe()
    helper = os.fork() if os.geteuid() == 0 else -1
    if helper == 0:
        os.close(ready)
        os._exit(_map_all(go, os.getppid(), users, groups))
    os.close(go)
    try:
        _call("unshare", _NEWUSER | spaces)
        os.write(ready, b".") if helper > 0 else None
    finally:
        os.close(ready)
        is_mapped = helper > 0 and os.waitpid(helper, 0)[1] == 0
    if not is_mapped:
        _put("/proc/self/setgroups", "deny")
        _put("/proc/self/uid_map", mine[0])
        _put("/proc/self/gid_map", mine[1])


def _as_before(table: str) -> str:
    with open(f"/proc/self/{table}", encoding="ascii") as file:
        ranges = [line.split() for line in file]
    return "\n".join(f"{first} {first} {count}" for first, _, count in ranges)


def _map_all(go: int, process: int, users: str, groups: str) -> int:
    if not os.read(go, 1):
        return 1
    try:
        _put(f"/proc/{process}/uid_map", users)
        _put(f"/proc/{process}/gid_map", groups)
    except OSError:
        return 1
    return 0


def _put(path: str, text: str) -> None:
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def _raise_loopback() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        told = fcntl.ioctl(any_socket, _GET_FLAGS, _REQUEST.pack(b"lo", 0))
        _, flags = _REQUEST.unpack(told)
        fcntl.ioctl(any_socket, _SET_FLAGS, _REQUEST.pack(b"lo", flags | _UP_AND_RUNNING))


def _freeze(folder: str) -> None:
    """Make every mount read-only but that of the folder, ``/proc`` and shared memory of our own."""
    _call("mount", b"none", b"/", None, _MS_REC | _MS_PRIVATE, None)
    thawed = [path for path in ("/proc", folder) if not _is_frozen(path)]
    for path in ("/proc/sys", folder):
        if os.path.isdir(path):
            there = os.fsencode(path)
            _call("mount", there, there, None, _MS_BIND, None)
    _set_attributes("/", _AT_RECURSIVE, (_RDONLY, 0, 0, 0))
    for path in thawed:
        _set_attributes(path, 0, (0, _RDONLY, 0, 0))
    if os.path.isdir("/dev/shm"):  # noqa: S108  # where POSIX semaphores live
        flags = _MS_NOSUID | _MS_NODEV
        _call("mount", b"tmpfs", b"/dev/shm", b"tmpfs", flags, b"mode=1777")


def _is_frozen(path: str) -> bool:
    return bool(os.statvfs(path).f_flag & os.ST_RDONLY)


def _set_attributes(path: str, flags: int, attributes: tuple[int, int, int, int]) -> None:
    """Change the flags of a mount, and of those below it; Linux has this from 5.12 on."""
    packed = _ATTRIBUTES.pack(*attributes)
    number = ctypes.c_long(_MOUNT_SETATTR)
    size = ctypes.c_size_t(len(packed))
    _call("syscall", number, _AT_FDCWD, os.fsencode(path), flags, packed, size)


def _prove(level: str, folder: str) -> None:
    """See that what was asked for is so."""
    inside, outside = os.path.join(folder, "inside"), os.path.join(folder, "..", "outside")
    _put(inside, "")
    os.unlink(inside)
    if level == FILES and os.statvfs(os.path.dirname(outside)).f_flag & os.ST_RDONLY == 0:
        raise OSError(0, "mount: the rest can still be written")
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname(), 5).close()


def main(argv: list[str]) -> None:
    """Hold this process, and let a program take its place; without one, only try."""
    level, folder, *program = argv
    try:
        contain(level, folder)
        if not program:
            _prove(level, folder)
    except OSError as error:
        sys.exit(error.strerror or str(error))
    if program:
        os.environ["INVERTGATE_CONTAIN"] = level  # settings.CONTAIN, which is not at hand here
        for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them, others may not
            signal.signal(number, signal.SIG_DFL)
        os.execv(program[0], program)  # noqa: S606  # there is no shell, and nothing is quoted


if __name__ == "__main__":
    main(sys.argv[1:])
