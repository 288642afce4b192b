"""Notes which files a process opens or loads, and whether it does what cannot be followed.

Only in runs whose verdicts are to be kept: then there is a log for each tree, of paths, each with a
zero behind it. What a verdict hangs on is more than the files that a test names: it is all
that any process of its runs has opened.
"""

from __future__ import annotations

import os
import sys

from .switch import FLAG_UNSEEN, SWITCH

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from .settings import Boot

COVERED = "covered"
"""Name of the file in the scratch folder that lists folders which are looked at as a whole."""

_LISTING = frozenset(("os.listdir", "os.scandir", "os.walk", "os.fwalk"))
_PROGRAMS = frozenset(("os.system", "os.spawn", "os.startfile", "pty.spawn"))
_NETWORK = frozenset(
    (
        "socket.connect",
        "socket.sendto",
        "socket.sendmsg",
        "socket.bind",
        "socket.getaddrinfo",
        "socket.gethostbyname",
        "socket.gethostbyaddr",
        "socket.getnameinfo",
    )
)
_NO_FILES = ("/dev/", "/proc/", "/sys/")
"""What these hold is of the machine and the moment, as time is; it cannot be kept."""
_OF_THE_SYSTEM = ("uname",)
"""Programs that read no file; `platform` starts it."""
_ASKING = f"{os.sep}pytest_rerunfailures.py"
"""The end of the name of a module that talks to the controller when pytest starts."""
_UNIX = 1
"""``AF_UNIX``; the module that names it is not loaded everywhere."""

_abspath = os.path.abspath  # bound now: a test may leave its own in their places
_exists = os.path.exists
_isabs = os.path.isabs
_isdir = os.path.isdir
_fsdecode = os.fsdecode
_fsencode = os.fsencode
_open = os.open
_write = os.write
_close = os.close


class Seen:
    """What this process has opened so far."""

    def __init__(self, boot: Boot, number: int, *, is_held: bool) -> None:
        """Begin to note, in the log of a tree.

        Args:
            boot: Where all trees lie.
            number: Of the tree.
            is_held: The network that this process has is its own.
        """
        with open(os.path.join(boot.scratch, COVERED), "rb") as file:
            covered = [_fsdecode(folder) for folder in file.read().split(b"\0") if folder]
        self._covered = tuple(folder + os.sep for folder in covered)
        self._original = boot.original + os.sep
        self._kept_out = tuple(folder + os.sep for folder in boot.kept_out)
        self._scratch = boot.scratch + os.sep
        self._name = boot.name
        self._is_held = is_held
        self._python = sys.executable
        self._known: dict[str, None] = {}
        self._boot = boot
        self._number = number
        self._is_writing = False

    def enter(self, number: int) -> None:
        """Go on in the log of another tree, with all that was noted before."""
        known, self._known, self._number = self._known, {}, number
        for path in known:
            self._note(path)

    def stop(self) -> None:
        """Note nothing from now on: this process does only what is ours."""
        self._is_writing = True

    def watch(self, event: str, arguments: tuple[object, ...]) -> None:
        """Look at an audit event."""
        if self._is_writing:
            return
        try:
            self._look(event, arguments)
        except Exception:  # noqa: BLE001  # odd arguments: it is not known what they mean
            self._lose()

    def _look(self, event: str, arguments: tuple[object, ...]) -> None:
        if event == "open":
            self._opened(arguments[0])
        elif event == "exec":
            self._opened(getattr(arguments[0], "co_filename", 0))
        elif event == "import":
            self._opened(arguments[1] or 0)
        elif event in _LISTING:
            self._listed(arguments[0])
        elif event == "sqlite3.connect":
            self._connected(arguments[0])
        elif event in _NETWORK:
            self._reached(event, arguments)
        elif event in ("subprocess.Popen", "os.exec", "os.posix_spawn"):
            self._started(arguments[0], arguments[1])
        elif event in _PROGRAMS:
            self._lose()

    def _opened(self, path: object) -> None:
        place = self._place(path)
        if place.startswith(".git/") or place == ".git":
            self._lose()
        elif place:
            self._note(place)

    def _listed(self, folder: object) -> None:
        """Take listings of the tree for granted: names are looked at as a whole."""
        if folder is None or isinstance(folder, int):
            return
        place = self._place(folder)
        if not _isabs(place) or (place + os.sep).startswith(self._original):
            return
        if _isdir(place):
            self._lose()
        else:
            self._note(place)

    def _connected(self, database: object) -> None:
        if isinstance(database, str) and database.startswith("file:"):
            if "mode=memory" not in database and not database.startswith("file::memory:"):
                self._lose()
        elif database not in (":memory:", "", b":memory:", b""):
            self._opened(database)

    def _reached(self, event: str, arguments: tuple[object, ...]) -> None:
        """Tell whether somebody outside may have answered."""
        if getattr(arguments[0], "family", 0) == _UNIX:
            address = arguments[1]
            inside = isinstance(address, str) and _abspath(address).startswith(self._scratch)
            if not inside and event != "socket.bind":
                self._lose()
        elif not self._is_held and event != "socket.bind" and not self._is_of_a_plugin():
            self._lose()

    def _is_of_a_plugin(self) -> bool:
        """Tell whether a plugin of pytest asks the controller for something."""
        frame = sys._getframe()  # noqa: SLF001
        while frame.f_back is not None and frame.f_code.co_filename == __file__:
            frame = frame.f_back
        path = frame.f_code.co_filename
        return path.startswith(self._covered) and path.endswith(_ASKING)

    def _started(self, program: object, words: object) -> None:
        """Follow this very Python, which has the switch, and nothing else."""
        named = program if isinstance(program, str | bytes | os.PathLike) else _first(words)
        text = _fsdecode(named)  # type: ignore[arg-type]
        if text not in (self._python, *_OF_THE_SYSTEM):
            self._lose()

    def _place(self, path: object) -> str:
        """Return a path in the tree, or else an absolute one; empty if nothing hangs on it."""
        text = _fsdecode(path) if isinstance(path, str | bytes | os.PathLike) else "<descriptor>"
        full = _abspath(text)
        if text.startswith("<") or (full + os.sep).startswith(_NO_FILES):
            return ""
        if (full + os.sep).startswith(self._scratch):
            return self._inside(full[len(self._scratch) :])
        if full.startswith(self._original) and not (full + os.sep).startswith(self._kept_out):
            within = full[len(self._original) :]
            there = _exists(os.path.join(self._boot.tree(self._number), within))
            return within if there else full
        return "" if (full + os.sep).startswith(self._covered) else full

    def _inside(self, path: str) -> str:
        """Return what a path in the scratch folder is of a tree."""
        number, _, rest = path.partition(os.sep)
        name, _, within = rest.partition(os.sep)
        return within if number.isdigit() and name == self._name else ""

    def _note(self, place: str) -> None:
        if place in self._known:
            return
        self._is_writing = True
        try:
            stream = _open(log_of(self._boot.scratch, self._number), os.O_WRONLY | os.O_APPEND)
            try:
                _write(stream, _fsencode(place) + b"\0")
            finally:
                _close(stream)
            self._known[place] = None
        except OSError:
            self._lose()
        finally:
            self._is_writing = False

    def _lose(self) -> None:
        if SWITCH.board is not None:
            SWITCH.board.flag(FLAG_UNSEEN)


def _first(words: object) -> object:
    if isinstance(words, str | bytes | os.PathLike):
        return words
    return next(iter(words), "")  # type: ignore[call-overload]


def log_of(scratch: str, number: int) -> str:
    """Return the path of a tree's log; not beside the tree, where every change is looked at."""
    return f"{scratch}{os.sep}opened-{number}"


def begun(boot: Boot, number: int, *, is_held: bool) -> Seen | None:
    """Return what notes, or None if there is no log to note in."""
    if not _exists(log_of(boot.scratch, number)):
        return None
    return Seen(boot, number, is_held=is_held)


def read(content: bytes) -> Sequence[str]:
    """Return the paths that a piece of a log holds."""
    return [_fsdecode(path) for path in content.split(b"\0") if path]
