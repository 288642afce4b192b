"""Carry out single runs: forks of a warm process, or fresh processes; each watched and ended."""

import contextlib
import fcntl
import json
import os
import resource
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, NoReturn

import pytest

from . import boot, limits, record, settings
from .limits import Limits
from .record import Record
from .restore import Folders, Tree
from .switch import SWITCH, Board, started_in

_exit: Final = os._exit  # bound now: a test may leave its own in their places
_getpid: Final = os.getpid
_write: Final = os.write
_dumps: Final = json.dumps

_HIGH: Final = 200
"""Descriptors of ours start here, out of the way of tests that close the low ones."""
_PIECE: Final = 1 << 16
_GRACE: Final = 1.0
_NAP: Final = 0.002
_AT_FIRST: Final = 0.05
"""Seconds of waiting before anything is watched."""

Raw = dict[str, Any]
"""What a process knows of a run that it carried out: ``told`` (a line of JSON), ``status`` (as
``waitpid`` has it) or ``passed`` (a limit), ``seconds``, ``cpu``, ``board``."""


@dataclass(frozen=True, slots=True)
class Order:
    """One run to be carried out."""

    test: str
    slots: tuple[int, ...]
    """What is inverted; empty in a control."""
    cold: bool
    limits: Limits
    other: bool = False
    """Fork from the other of a worker's two processes."""


class Runner:
    """Carries out runs one after another, in a process that has no other children."""

    def __init__(
        self,
        items: Mapping[str, pytest.Item],
        arguments: list[str],
        folder: str,
    ) -> None:
        self._items = items
        self._arguments = arguments
        self._folder = folder
        self.worker: dict[str, Any] = {}
        """What pytest-xdist tells its worker: ids that keep databases and ports apart."""
        here = boot.Here
        top = here.boot.tree(here.loading.number)
        beside = partial(os.path.join, folder)
        trees = [Tree(top, beside("settled-tree"), here.boot.pristine(), leave=".git")]
        trees += [
            Tree(path, beside(f"settled-{os.path.basename(path)}"))
            for path in (*map(beside, _PRIVATE), os.path.join(top, ".git"))
            if os.path.isdir(path)
        ]
        self.folders = Folders(folder, trees, _WRITTEN)

    def carry_out(self, order: Order) -> Raw:
        """Carry out one run, and leave nothing of it.

        Returns:
            What it told, not yet understood: every page that this process writes to between two
            forks is copied for it, so the worker reads it (``understood``).
        """
        board = SWITCH.board
        if board is not None:
            board.clear()
        started = time.monotonic()
        before = _children_cpu()
        raw = self._cold(order) if order.cold else self._warm(order)
        raw["seconds"] = time.monotonic() - started
        if limits.reap():
            limits.end_below(os.getpid())
        raw["cpu"] = _children_cpu() - before
        raw["board"] = board.content() if board is not None else b""
        self.folders.restore()
        return raw

    def _warm(self, order: Order) -> Raw:
        item = self._items.get(order.test)
        if item is None:
            return {"told": _NOT_HERE, "status": 0}
        _ = item.location  # the item keeps it, so that no fork has to find it
        reader, writer = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(reader)
            _forked(item, order, writer)
        os.close(writer)
        try:
            return _await_fork(pid, reader, order.limits)
        finally:
            os.close(reader)

    def _cold(self, order: Order) -> Raw:
        told = os.path.join(self._folder, "cold.json")
        answer = os.path.join(self._folder, "answer.json")
        with contextlib.suppress(FileNotFoundError):
            os.unlink(answer)
        with open(told, "w", encoding="utf-8") as file:
            orders = {"test": order.test, "answer": answer, "inverted": bool(order.slots)}
            json.dump({**orders, "worker": self.worker}, file)
        environment = {**boot.Here.environment, settings.COLD: told, settings.AS_IS: "1"}
        environment[settings.INVERT] = ",".join(map(str, order.slots))
        process = subprocess.Popen(
            self._command(order.test),
            cwd=boot.Here.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        return _await_process(process, answer, order.limits)

    def _command(self, test: str) -> list[str]:
        base = os.path.join(self._folder, "base")
        options = [*self._arguments, f"--basetemp={base}"]
        return [sys.executable, "-m", "pytest", *options, _file_of(test)]


_PRIVATE: Final = ("home", "tmp")
_WRITTEN: Final = ("base", "pyc", "woven", "cold.json", "answer.json", "answer.json.part")
"""What we and Python write beside a tree."""


_NOT_HERE: Final = b'{"ending": "not collected"}\n'


def _children_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)  # finer than os.times
    return used.ru_utime + used.ru_stime


def _file_of(nodeid: str) -> str:
    return nodeid.split("::", 1)[0]


def _forked(item: pytest.Item, order: Order, writer: int) -> NoReturn:
    """Run an item in a fork, tell what happened, and vanish without any clean-up.

    A child that the test forks, and that comes back here, tells nothing: it is not the test.
    """
    ours, status = _getpid(), 0
    try:
        channel = fcntl.fcntl(writer, fcntl.F_DUPFD_CLOEXEC, _HIGH)
        os.close(writer)
        os.setsid()
        limits.guard(order.limits)
        boot.invert(order.slots)
        told = record.run(item, look_around=not order.slots)
        status = 0 if told["ending"] == "passed" else 1
        if _getpid() == ours:
            _tell(channel, told)
    except BaseException as error:  # noqa: BLE001  # nothing may get back into the forked loop
        if _getpid() == ours:
            with contextlib.suppress(BaseException):
                _tell(channel, {"ending": "ended without a report", "message": repr(error)[:400]})
    finally:
        _exit(status)


def _tell(channel: int, told: Record) -> None:
    line = _dumps(told).encode("utf-8", "backslashreplace") + b"\n"
    while line:
        line = line[_write(channel, line) :]


def _await_fork(pid: int, reader: int, run_limits: Limits) -> Raw:
    poll = select.poll()
    poll.register(reader, select.POLLIN | select.POLLHUP)
    told = b""

    def ended(seconds: float) -> bool:
        nonlocal told
        if not poll.poll(seconds * 1000):
            return False
        piece = os.read(reader, _PIECE)
        told += piece
        return not piece or told.endswith(b"\n")

    passed = "" if ended(_AT_FIRST) else limits.watch(pid, run_limits, ended)
    if not passed and not told.endswith(b"\n"):  # it gave the channel up, and may live on
        passed = limits.watch(pid, run_limits, partial(_ends_within, pid))
    if passed:
        limits.end_below(os.getpid())
        return {"passed": passed}
    if told and not poll.poll(_GRACE * 1000):  # it tells, and then it closes its end by ending
        os.kill(pid, signal.SIGKILL)
    return {"told": told, "status": os.waitpid(pid, 0)[1]}


def _ends_within(pid: int, seconds: float) -> bool:
    """Wait for a child to end, without taking its status."""
    end = time.monotonic() + seconds
    while os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        if time.monotonic() >= end:
            return False
        time.sleep(_NAP)
    return True


def understood(raw: Raw, order: Order) -> Record:
    """Return what a run told, in the words of ``model.Run``."""
    files, marks = Board.read(raw["board"], len(boot.Here.boot.files))
    if raw.get("passed"):
        result: Record = {"ending": raw["passed"]}
    else:
        result = _understood(raw["told"], os.waitstatus_to_exitcode(raw["status"]))
    if raw["cpu"] > order.limits.cpu and result["ending"] in ("passed", "failed"):
        result["ending"] = "cpu time used up"
    result.update(test=order.test, inverted=bool(order.slots), cold=order.cold)
    result.update(seconds=raw["seconds"], cpu=raw["cpu"])
    result.update(taken=marks, bare=files, notes=record.notes_of_board(raw["board"]))
    result.update(unwatched=started_in(raw["board"]))
    return result


def _understood(line: bytes, code: int) -> Record:
    if line.endswith(b"\n"):
        told: Record = json.loads(line)
        return told
    if code < 0:
        return {"ending": "killed by a signal", "message": _signal_name(-code)}
    return {"ending": "ended without a report", "message": f"exit code {code}"}


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _await_process(process: "subprocess.Popen[bytes]", answer: str, run_limits: Limits) -> Raw:
    def ended(seconds: float) -> bool:
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    passed = limits.watch(process.pid, run_limits, ended)
    if passed:
        limits.end_below(os.getpid())
        process.wait()
        return {"passed": passed}
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    told = b""
    with contextlib.suppress(OSError), open(answer, "rb") as file:
        told = file.read()
    code = process.returncode
    return {"told": told, "status": -code if code < 0 else code << 8}
