"""The one door to subprocesses: run one to its end, start one to live on, end a whole tree."""

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import psutil

GRACE_SECONDS = 2.0
"""How long a process may take to end by itself once it was asked to."""
_ROUNDS = 20  # against a process that starts others while it is being ended
_LOOK_EVERY: Final = 0.05
_PIECE: Final = 1 << 16
_LAST_WORDS: Final = 4096


@dataclass(frozen=True, slots=True)
class Completed:
    """How a process ended and what it wrote."""

    code: int
    """Its exit code; negative after a signal."""
    stdout: bytes
    stderr: bytes


def run(
    argv: Sequence[str],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    input: bytes = b"",  # noqa: A002 - as subprocess calls it
    timeout: float | None = None,
) -> Completed:
    """Run a program to its end, with nothing of the caller's on its standard input.

    Args:
        argv: The program and its arguments; no shell is asked.
        cwd: Where it runs; by default where we do.
        env: Its whole environment; by default ours.
        input: What it reads from standard input.
        timeout: Seconds after which it is killed (it alone, not its children).

    Returns:
        How it ended, whatever the exit code.

    Raises:
        OSError: The program cannot be started.
        subprocess.TimeoutExpired: It took too long, and was killed.
    """
    done = subprocess.run(
        argv, cwd=cwd, env=env, input=input, timeout=timeout, capture_output=True, check=False
    )
    return Completed(done.returncode, done.stdout, done.stderr)


class Cut(StrEnum):
    """Why a process was not heard to its end."""

    LATE = "time used up"
    FLOOD = "too much output"


@dataclass(frozen=True, slots=True)
class Answer:
    """What a process said that was asked something, and how it ended."""

    code: int
    """Its exit code; negative after a signal, which may be ours."""
    stdout: bytes
    """As much as was asked for."""
    stderr: bytes
    """The last of it."""
    cut: Cut | None = None


def ask(
    argv: Sequence[str],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    input: bytes = b"",  # noqa: A002 - as subprocess calls it
    seconds: float,
    most: int,
) -> Answer:
    """Run a program that is not trusted to end, or to be short.

    Args:
        argv: The program and its arguments; no shell is asked.
        cwd: Where it runs; by default where we do.
        env: Its whole environment; by default ours.
        input: What it finds on standard input, whether it reads it or not.
        seconds: On the clock, after which it is ended.
        most: Bytes of standard output after which it is ended.

    Returns:
        What it said. It and all that it started are gone.

    Raises:
        OSError: The program cannot be started.
    """
    from tempfile import TemporaryFile  # noqa: PLC0415 - see tree

    with TemporaryFile() as question:
        question.write(input)
        question.seek(0)
        with subprocess.Popen(
            argv,
            cwd=cwd,
            env=env,
            stdin=question,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        ) as asked:
            said, complained = bytearray(), bytearray()
            try:
                cut = _listen(asked, (said, complained), time.monotonic() + seconds, most)
            finally:
                end_tree(asked.pid)
    return Answer(asked.returncode, bytes(said[:most]), bytes(complained), cut)


def _listen(
    asked: subprocess.Popen[bytes], heard: tuple[bytearray, bytearray], end: float, most: int
) -> Cut | None:
    """Gather what a process says until it is gone; what it started may hold its pipes open."""
    import psutil  # noqa: PLC0415 - see tree

    process = psutil.Process(asked.pid)  # asked in this way, it stays to be waited for
    said, complained = heard
    pipes = zip((asked.stdout, asked.stderr), heard, strict=True)
    streams = {pipe.fileno(): buffer for pipe, buffer in pipes if pipe}
    while time.monotonic() < end:
        is_gone = not _runs(process)
        ready, _, _ = select.select(list(streams), [], [], 0 if is_gone else _LOOK_EVERY)
        if is_gone and not ready:
            return None
        for stream in ready:
            piece = os.read(stream, _PIECE)
            streams[stream].extend(piece)
            if not piece:
                del streams[stream]
        del complained[:-_LAST_WORDS]
        if len(said) > most:
            return Cut.FLOOD
    return Cut.LATE


def start(
    argv: Sequence[str],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    log: Path | None = None,
    pass_fds: Sequence[int] = (),
) -> subprocess.Popen[bytes]:
    """Start a program that leads a session of its own, so that Ctrl-C reaches only us.

    Args:
        argv: The program and its arguments; no shell is asked.
        cwd: Where it runs; by default where we do.
        env: Its whole environment; by default ours.
        log: File to which its output and errors are appended; by default they are dropped.
        pass_fds: Descriptors that stay open in it under the same numbers (not on Windows).

    Returns:
        The process. Whoever starts it ends it (``end_tree``, then ``wait``), as ``running`` does.

    Raises:
        OSError: The program cannot be started, or the log cannot be written.
    """
    with open(log or os.devnull, "ab") as output:  # noqa: PTH123 - devnull is no file of ours
        return subprocess.Popen(
            argv,
            cwd=cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            pass_fds=pass_fds,
            start_new_session=True,
        )


Started = subprocess.Popen[bytes]
"""A program that was started."""


@contextmanager
def running(
    argv: Sequence[str],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    log: Path | None = None,
    pass_fds: Sequence[int] = (),
) -> Generator[subprocess.Popen[bytes]]:
    """Lend a started program; when the block is left, it and all that it started are gone.

    The arguments are those of ``start``.
    """
    process = start(argv, cwd=cwd, env=env, log=log, pass_fds=pass_fds)
    try:
        yield process
    finally:
        end_tree(process.pid)
        process.wait()


def on_terminal(
    argv: Sequence[str], *, cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> int:
    """Run a program that has our terminal: it reads our input, and Ctrl-C is its own to answer.

    Args:
        argv: The program and its arguments; no shell is asked.
        cwd: Where it runs; by default where we do.
        env: Its whole environment; by default ours.

    Returns:
        Its exit code; negative after a signal. When we are asked to end in another way than by
        Ctrl-C, it is ended first, with all that it started.

    Raises:
        OSError: The program cannot be started.
    """
    # A function and not SIG_IGN, which the program would inherit: nobody could interrupt it.
    before = signal.signal(signal.SIGINT, lambda _number, _frame: None)
    try:
        with subprocess.Popen(argv, cwd=cwd, env=env) as running:
            try:
                return running.wait()
            except BaseException:
                end_tree(running.pid)
                raise
    finally:
        signal.signal(signal.SIGINT, before)


def end_tree(pid: int, grace: float = GRACE_SECONDS) -> None:
    """End a process, what it started, and what those left behind in its session.

    Each is asked first (SIGTERM) and killed when ``grace`` seconds have passed; what appears
    meanwhile is killed too. Nothing happens to this process and to its own session. The exit
    status is left for whoever waits for the process.

    Args:
        pid: The process, not yet waited for: once it is, its number may be another's.
        grace: Seconds between asking and killing.
    """
    asked = tree(pid)
    for process in asked:
        with _whatever_became_of_it():
            process.terminate()
    _wait_for_all(asked, grace)
    for _ in range(_ROUNDS):
        left = [process for process in {*asked, *tree(pid)} if _runs(process)]
        if not left:
            return
        for process in left:
            with _whatever_became_of_it():
                process.kill()
        _wait_for_all(left, GRACE_SECONDS)


def tree(pid: int) -> "list[psutil.Process]":
    """List a process, its descendants, and those of all members of the session that it leads."""
    import psutil  # noqa: PLC0415 - costs more than all that a patch without outcomes needs

    members = _session(pid)
    with _whatever_became_of_it():
        members.append(psutil.Process(pid))
    for member in tuple(members):
        with _whatever_became_of_it():
            members += member.children(recursive=True)
    return list({member.pid: member for member in members if member.pid != os.getpid()}.values())


def end_marked(name: str, value: str) -> None:
    """Kill every process that has a variable of a certain value in its environment.

    Args:
        name: The variable.
        value: What only processes of one run have.
    """
    import psutil  # noqa: PLC0415 - see tree

    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            if process.pid != os.getpid() and process.environ().get(name) == value:
                process.kill()


def _session(leader: int) -> "list[psutil.Process]":
    import psutil  # noqa: PLC0415 - see tree

    if sys.platform == "win32" or os.getsid(0) == leader:
        return []
    members = []
    for process in psutil.process_iter():
        with suppress(OSError):  # it ended, or is none of our business
            if os.getsid(process.pid) == leader:
                members.append(process)
    return members


def _wait_for_all(processes: "Sequence[psutil.Process]", seconds: float) -> None:
    # Not psutil.wait_procs: that reaps our children, and their exit status is lost for Popen.
    end = time.monotonic() + seconds
    while any(_runs(process) for process in processes) and time.monotonic() < end:
        time.sleep(0.005)


def _runs(process: "psutil.Process") -> bool:
    import psutil  # noqa: PLC0415 - see tree

    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


@contextmanager
def _whatever_became_of_it() -> Generator[None]:
    import psutil  # noqa: PLC0415 - see tree

    with suppress(psutil.Error):
        yield
