"""What a single run is: asked for, carried out in a fork or in a fresh process, understood.

PYTEST_DONT_REWRITE.
"""

import contextlib
import gc
import json
import marshal
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NoReturn

import pytest

from . import boot, limits, record, settings, switch
from .limits import Limits
from .record import Record
from .switch import Board, started_in

_exit: Final = os._exit  # bound now: a test may leave its own in their places
_close: Final = os.close
_getpid: Final = os.getpid
_write: Final = os.write
_setsid: Final = os.setsid
_unfreeze: Final = gc.unfreeze
_dumps: Final = marshal.dumps
_loads: Final = marshal.loads

Raw = dict[str, Any]
"""What is known of a run that was carried out: ``told`` (what :func:`told_of` gives) and
``status`` (as ``waitpid`` has it), or ``passed`` (a limit); ``seconds``, ``cpu``, ``board``."""


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


def asked(number: int, order: Order, nothing: tuple[int, ...]) -> bytes:
    """Return what a fork is told to do: :func:`run_in_fork` reads it.

    Args:
        number: Tells the run from the one before.
        order: The run.
        nothing: What is inverted where nothing is.
    """
    return marshal.dumps((number, order.test, order.slots or nothing, order.limits.cpu))


def told_of(number: int, told: bytes) -> Record | None:
    """Return what a fork told of a run, or None if it told nothing, or not all of it."""
    try:
        content = marshal.loads(told)  # noqa: S302  # a fork of ours wrote it
    except (EOFError, ValueError, TypeError):
        return None
    if not isinstance(content, tuple) or len(content) != 2 or content[0] != number:  # noqa: PLR2004
        return None
    return content[1] if isinstance(content[1], dict) else None


def run_in_fork(
    items: Mapping[str, pytest.Item], request: bytes, telling: int, channel: int
) -> NoReturn:
    """Run an item in a fork, tell what happened, and vanish without any clean-up.

    A child that the test forks, and that comes back here, tells nothing: it is not the test.

    Args:
        items: What was collected.
        request: What :func:`asked` returned.
        telling: The descriptor on which to tell; only the worker reads it.
        channel: A descriptor of the process that is forked from, of no use here.
    """
    ours, status, number = _getpid(), 0, 0
    try:
        _close(channel)
        _unfreeze()
        number, test, slots, cpu = _loads(request)
        _setsid()
        limits.guard(cpu)
        switch.invert(slots)
        item = items.get(test)
        told = _NOT_HERE if item is None else record.run(item)
        status = 0 if told["ending"] == "passed" else 1
        if _getpid() == ours:
            _tell(telling, number, told)
    except BaseException as error:  # noqa: BLE001  # nothing may get back into the forked loop
        if _getpid() == ours:
            with contextlib.suppress(BaseException):
                told = {"ending": "ended without a report", "message": repr(error)[:400]}
                _tell(telling, number, told)
    finally:
        _exit(status)


_NOT_HERE: Final[Record] = {"ending": "not collected"}


def _tell(telling: int, number: int, told: Record) -> None:
    rest = _dumps((number, told))
    while rest:
        rest = rest[_write(telling, rest) :]


class FreshProcesses:
    """Carries out cold runs one after another, in a process that has no other children."""

    def __init__(self, arguments: list[str], folder: str, worker: dict[str, Any]) -> None:
        """Remember what they have in common.

        Args:
            arguments: Pytest's, but for the test.
            folder: Where the tree lies, for what is told and answered.
            worker: What pytest-xdist tells its worker: ids that keep databases and ports apart.
        """
        self._arguments = arguments
        self._folder = folder
        self._worker = worker

    def carry_out(self, test: str, run_limits: Limits) -> Raw:
        """Run one test in a fresh process, and leave no process of it.

        What is inverted stands on the board.
        """
        before = limits.cpu_of_children()
        raw = self._run(test, run_limits)
        if limits.reap():
            limits.end_below(os.getpid())
        raw["cpu"] = limits.cpu_of_children() - before
        return raw

    def _run(self, test: str, run_limits: Limits) -> Raw:
        told = os.path.join(self._folder, "cold.json")
        answer = os.path.join(self._folder, "answer.json")
        with contextlib.suppress(FileNotFoundError):
            os.unlink(answer)
        with open(told, "w", encoding="utf-8") as file:
            json.dump({"test": test, "answer": answer, "worker": self._worker}, file)
        environment = {**boot.Here.environment, settings.COLD: told, settings.AS_IS: "1"}
        process = subprocess.Popen(
            self._command(test),
            cwd=boot.Here.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        return _awaited(process, answer, run_limits)

    def _command(self, test: str) -> list[str]:
        base = os.path.join(self._folder, "base")
        options = [*self._arguments, f"--basetemp={base}"]
        return [sys.executable, "-m", "pytest", *options, file_of(test)]


def file_of(nodeid: str) -> str:
    """Return the file of a test."""
    return nodeid.split("::", 1)[0]


def _awaited(process: "subprocess.Popen[bytes]", answer: str, run_limits: Limits) -> Raw:
    def ended(seconds: float) -> bool:
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    passed = limits.watch(os.getpid(), run_limits, ended)
    if passed:
        limits.end_below(os.getpid())
        process.wait()
        return {"passed": passed}
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    told = None
    with contextlib.suppress(OSError, ValueError), open(answer, "rb") as file:
        told = json.load(file)
    code = process.returncode
    return {"told": told, "status": -code if code < 0 else code << 8}


def understood(raw: Raw, order: Order) -> Record:
    """Return what a run told, in the words of ``model.Run``."""
    files, marks = Board.read(raw["board"], len(boot.Here.boot.files))
    if raw.get("passed"):
        result: Record = {"ending": raw["passed"], "message": raw.get("why") or ""}
    else:
        result = raw["told"] or _untold(os.waitstatus_to_exitcode(raw["status"]))
    if raw["cpu"] > order.limits.cpu and result["ending"] in ("passed", "failed"):
        result["ending"] = "cpu time used up"
    result.update(test=order.test, inverted=bool(order.slots), cold=order.cold)
    result.update(seconds=raw["seconds"], cpu=raw["cpu"])
    result.update(taken=marks, bare=files, notes=record.notes_of_board(raw["board"]))
    result.update(unwatched=started_in(raw["board"]))
    return result


def ending_of(status: int) -> str:
    """Say how a process ended.

    Args:
        status: As ``waitpid`` has it.
    """
    code = os.waitstatus_to_exitcode(status)
    return f"killed by {_signal_name(-code)}" if code < 0 else f"exit code {code}"


def _untold(code: int) -> Record:
    if code < 0:
        return {"ending": "killed by a signal", "message": _signal_name(-code)}
    return {"ending": "ended without a report", "message": f"exit code {code}"}


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
