"""Hand the switch to child processes, also under an environment of the test's own making."""

from __future__ import annotations

import os
import sys
from _collections_abc import Mapping, Sequence  # loaded by os; its public name is not

from .refusals import mark_of
from .settings import AS_IS, RUN, VARIABLES
from .switch import FLAG_LOST_CHILD, SWITCH

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .loading import Loading

    Watch = Callable[[str, tuple[object, ...]], None]

_ENVIRONMENT_ARGUMENT = 5
"""Position of the environment among the arguments of ``fork_exec``."""
_IGNORING = frozenset("EIS")
"""Options of Python that keep ``PYTHONPATH`` or ``sitecustomize`` from being read."""
_CLEARING = frozenset(("env", "sudo", "su", "runuser", "doas"))
"""Programs that start another one in an environment of their own."""
_EMPTY = (["-i"], ["-"], ["--ignore-environment"], ["-u"])
_TAKES_A_VALUE = frozenset("WXQ")


class HandOver:
    """Knows what child processes need, whatever becomes of ``os.environ``."""

    def __init__(self, bootstrap: str) -> None:
        self._bootstrap = bootstrap
        self._ours: dict[str, str] = {}
        self.refresh()

    def refresh(self) -> None:
        """Take over what ``os.environ`` says of the switch now."""
        self._ours = {name: os.environ[name] for name in VARIABLES if name in os.environ}

    def restore(self) -> None:
        """Give the process's own environment back to children that inherit it."""
        for name, value in self._ours.items():
            os.putenv(name, value)
        os.putenv("PYTHONPATH", self._python_path(os.environ.get("PYTHONPATH", "")))

    def environment(self, given: Sequence[bytes] | None) -> list[bytes] | None:
        """Return the environment of a child that was to be started with a given one."""
        if given is None:
            if self._has_ours(os.environ) and self._in_path(os.environ):
                return None
            given = [name + b"=" + value for name, value in os.environb.items()]
        pairs = dict(each.split(b"=", 1) for each in given if b"=" in each)
        if pairs.pop(os.fsencode(AS_IS), None) is not None:
            return [name + b"=" + value for name, value in pairs.items()]
        for name in VARIABLES:
            pairs.pop(os.fsencode(name), None)
        for name, value in self._ours.items():
            pairs[os.fsencode(name)] = os.fsencode(value)
        path = os.fsdecode(pairs.get(b"PYTHONPATH", b""))
        pairs[b"PYTHONPATH"] = os.fsencode(self._python_path(path))
        return [name + b"=" + value for name, value in pairs.items()]

    def keeps(self, environment: Mapping[str, str] | None) -> bool:
        """Tell whether a child with this environment has the switch."""
        return environment is None or self._has_ours(environment)

    def _has_ours(self, environment: Mapping[str, str]) -> bool:
        return all(environment.get(name) == self._ours.get(name) for name in VARIABLES)

    def _in_path(self, environment: Mapping[str, str]) -> bool:
        return self._bootstrap in environment.get("PYTHONPATH", "").split(os.pathsep)

    def _python_path(self, path: str) -> str:
        entries = [entry for entry in path.split(os.pathsep) if entry]
        rest = [entry for entry in entries if entry != self._bootstrap]
        return os.pathsep.join([self._bootstrap, *rest])


def install(
    bootstrap: str, loading: Loading, watch: Watch | None = None, note: Watch | None = None
) -> HandOver:
    """See to it that children of this process have the switch, and note what escapes it.

    Args:
        bootstrap: The folder on ``PYTHONPATH`` by which they find it.
        loading: Notes what is executed without being woven.
        watch: Called with every audit event while this process is held, to note what is refused.
        note: Called with every audit event where it matters what is opened.
    """
    hand_over = HandOver(bootstrap)
    if sys.platform != "win32":
        _wrap_fork_exec(hand_over)
        _wrap_posix_spawn(hand_over)
    sys.addaudithook(_auditor(hand_over, loading, watch))
    if note is not None:
        sys.addaudithook(note)
    return hand_over


def _wrap_fork_exec(hand_over: HandOver) -> None:
    import _posixsubprocess

    original: Callable[..., int] = _posixsubprocess.fork_exec

    def fork_exec(*arguments: object) -> int:
        given = arguments[_ENVIRONMENT_ARGUMENT]
        environment = hand_over.environment(given)  # type: ignore[arg-type]
        return original(
            *arguments[:_ENVIRONMENT_ARGUMENT],
            environment,
            *arguments[_ENVIRONMENT_ARGUMENT + 1 :],
        )

    _posixsubprocess.fork_exec = fork_exec
    loaded = sys.modules.get("subprocess")
    if loaded is not None:
        vars(loaded)["_fork_exec"] = fork_exec


def _wrap_posix_spawn(hand_over: HandOver) -> None:
    """Do the same for the other way to start a process, which ``subprocess`` takes where it can."""
    for name in ("posix_spawn", "posix_spawnp"):
        original: Callable[..., int] | None = getattr(os, name, None)
        if original is not None:
            setattr(os, name, _spawning(original, hand_over))


def _spawning(original: Callable[..., int], hand_over: HandOver) -> Callable[..., int]:
    def spawn(
        path: object, argv: object, env: Mapping[str, str] | None, /, **options: object
    ) -> int:
        if env is not None:
            pairs = [os.fsencode(name) + b"=" + os.fsencode(env[name]) for name in env]
            given = dict(pair.split(b"=", 1) for pair in hand_over.environment(pairs) or pairs)
            return original(path, argv, given, **options)
        return original(path, argv, env, **options)

    return spawn


def _auditor(hand_over: HandOver, loading: Loading, watch: Watch | None) -> Watch:
    """Return an audit hook that notes what is executed without the switch, here or in a child."""
    is_held = watch is not None

    def audit(event: str, arguments: tuple[object, ...]) -> None:
        if event == "exec":
            loading.note_execution(arguments[0])
        elif event == "compile":
            loading.note_compilation(arguments[0], arguments[1])
        elif event == "subprocess.Popen":
            _look_at(arguments[1], is_held)
        elif event == "os.system":
            _look_at(arguments[0], is_held)
            hand_over.restore()
        elif event in ("os.exec", "os.posix_spawn"):
            _look_at(arguments[1], is_held)
            if not hand_over.keeps(_texts(arguments[2])):
                _lost()
            elif arguments[2] is None:
                hand_over.restore()
        elif watch is not None:
            watch(event, arguments)

    return audit


def _texts(environment: object) -> Mapping[str, str] | None:
    if not isinstance(environment, Mapping):
        return None
    return {os.fsdecode(name): os.fsdecode(value) for name, value in environment.items()}


def _look_at(argv: object, is_held: bool = False) -> None:
    """Note a Python that is told not to read its environment, or that is not given ours.

    Under containment also whatever is no Python: what it is refused cannot be seen.
    """
    if isinstance(argv, str | bytes | os.PathLike):
        argv = [argv]
    if not isinstance(argv, Sequence):
        return
    texts = [os.fsdecode(word) for word in argv if isinstance(word, str | bytes | os.PathLike)]
    if is_lost([word for text in texts for word in _words(text)]):
        _lost()
    if is_held and SWITCH.board is not None and not _is_python(texts):
        SWITCH.board.start(mark_of(texts, os.environ.get(RUN, "")))


def _is_python(texts: Sequence[str]) -> bool:
    return bool(texts) and " " not in texts[0] and os.path.basename(texts[0]).startswith("python")


def _words(text: str) -> list[str]:
    """Split what may be a line for a shell; a single word stays one."""
    return text.replace(";", " ").replace("&", " ").split() if "python" in text else [text]


def is_lost(words: Sequence[str]) -> bool:
    """Tell whether a command line starts a Python that cannot have the switch."""
    cleared = False
    for position, word in enumerate(words):
        name = os.path.basename(word)
        if name in _CLEARING:
            cleared = cleared or name != "env" or words[position + 1 : position + 2] in _EMPTY
        elif name.startswith(("python", "pypy")) and (cleared or ignores(words[position + 1 :])):
            return True
    return False


def ignores(options: Sequence[str]) -> bool:
    """Tell whether Python's command line keeps it from loading ``sitecustomize``."""
    skip = False
    for option in options:
        if skip:
            skip = False
        elif not option.startswith("-") or option == "-" or option.startswith("--"):
            return False
        else:
            letters = option[1:]
            for position, letter in enumerate(letters):
                if letter in _IGNORING:
                    return True
                if letter in "cm":
                    return False
                if letter in _TAKES_A_VALUE:
                    skip = position == len(letters) - 1
                    break
    return False


def _lost() -> None:
    if SWITCH.board is not None:
        SWITCH.board.flag(FLAG_LOST_CHILD)
