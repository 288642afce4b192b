"""The worker's end of a process that forks zygotes: asks for runs, watches and ends them.

PYTEST_DONT_REWRITE. Nothing is ever forked from a worker while runs go on, so what it does costs
no copies of memory; see ``zygote`` for the other end.
"""

import contextlib
import fcntl
import json
import marshal
import os
import select
import socket
import subprocess
import sys
import time
import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final, NoReturn

import pytest

from . import boot, limits, record, settings, unlike
from .channel import Channel
from .collected import Collected
from .items import act_as_worker
from .limits import Children, Limits
from .opens import Opens
from .record import Record
from .restore import Folders, Tree
from .runs import FreshProcesses, Order, Raw, asked, file_of, told_of, understood
from .switch import Board
from .witnessed import Witness
from .zygote import FORK, Answer, Zygote, keep

_IDS: Final = ("workerid", "workercount", "testrunuid")
_HIGH: Final = 200
"""Descriptors of ours start here, out of the way of tests that close the low ones."""
_PIECE: Final = 1 << 16
_AT_FIRST: Final = 0.05
"""Seconds of waiting before anything is watched."""
_PRIVATE: Final = ("home", "tmp")
_WRITTEN: Final = ("base", "pyc", "woven", "cold.json", "answer.json", "answer.json.part")
"""What we and Python write beside a tree."""


class Keeper:
    """Carries out runs on one tree, by a process that keeps pytest as it is before collection."""

    def __init__(
        self,
        number: int,
        channel: Channel,
        told: int,
        tests: Mapping[str, Sequence[str]],
        witness: Witness | None,
        *,
        is_alive: bool = False,
    ) -> None:
        """Begin when that process is ready.

        Args:
            number: Of the tree.
            tests: The tests of each file that may be run.
            channel: To the process.
            told: The descriptor on which its forks tell; it does not block.
            witness: Of what was opened in the tree since the process started; None if nobody asks.
            is_alive: That process has lost what its forks lack, or shares with them (see `unlike`).
        """
        self._opens = Opens(witness)
        here = boot.Here.boot
        self._channel = channel
        self._told = told
        self._answered = select.poll()
        self._answered.register(channel.descriptor, select.POLLIN)
        self._board = Board(here.board(number), len(here.files), here.slots)
        self._folders = _folders(number)
        self._file = ""
        self._tests = tests
        self._at_import: list[int] = []
        self._is_alive = is_alive
        self.is_unlike = is_alive
        """A fork is not what a fresh process would be."""
        self._stands: dict[str, Answer] = {}
        self._unopened = _unopened({})
        """How a test stands whose file could not be opened."""
        self._process = 0
        self._children = Children(self._process)
        self._nothing = here.nothing()
        self._run = 0
        """What tells a run from the one before; by chance, so that a test cannot count them."""
        self._opens.skip()

    def open(self, test: str) -> list[int]:
        """See to it that a test's file is collected; return what was taken meanwhile."""
        file = file_of(test)
        if file == self._file:
            return self._at_import
        if self._file:
            self._ask({"close": True})
        self._folders.restore(anyway=True)
        self._opens.skip()
        opened = self._ask({"open": file, "tests": self._tests.get(file, [])})
        self._file = file
        self._at_import = opened.get("at_import", [])
        self._stands = opened.get("stands", {})
        self.is_unlike = self._is_alive or opened.get("unlike", False)
        self._unopened = _unopened(opened)
        self._opens.collected()
        self._process = opened.get("process", 0)
        self._children.close()
        self._children = Children(self._process)
        if self._process:
            self._folders.settle()
            self._opens.skip()
            self._board.keep_files()
        return self._at_import

    def stand_of(self, test: str) -> Answer:
        """Say how a test stands: ``ending`` and ``reason`` if it cannot be run, or ``external``."""
        self.open(test)
        return self._stands.get(test, self._unopened)

    def carry_out(self, order: Order) -> Record:
        """Carry out one run, and leave nothing of it."""
        self.open(order.test)
        self._board.clear()
        self._board.invert(order.slots or self._nothing)
        started = time.monotonic()
        raw = self._cold(order) if order.cold else self._warm(order)
        raw["seconds"] = time.monotonic() - started
        raw["board"] = self._board.content()
        opened = self._opens.of_run(raw["board"])
        self._folders.restore()
        self._opens.skip()
        return {**understood(raw, order), "opened": opened}

    def close(self) -> None:
        """Let it go; it ends when nobody asks any more."""
        with contextlib.suppress(OSError):
            self._channel.close()

    def _cold(self, order: Order) -> Raw:
        told = (order.limits.cpu, order.limits.wall, order.limits.memory)
        answer = self._ask({"run": {"test": order.test, "limits": told}})
        return answer if "cpu" in answer else _lost(answer)

    def _warm(self, order: Order) -> Raw:
        self._run = int.from_bytes(os.urandom(4), "little")
        self._send(FORK + asked(self._run, order, self._nothing))
        told, passed = self._followed(order.limits)
        answer = self._receive()
        if isinstance(answer, dict):
            return _lost(answer)
        status, cpu = answer
        if self._children.now():
            cpu += self._ask({"sweep": True}).get("cpu", 0.0)
            self._read()
        if passed:
            return {"passed": passed, "cpu": cpu}
        return {"told": told_of(self._run, told), "status": status, "cpu": cpu}

    def _followed(self, run_limits: Limits) -> tuple[bytes, str]:
        """Wait for a fork to end, or end it; return what it told, and which limit it passed."""
        if self._answered.poll(_AT_FIRST * 1000):
            return self._read(), ""
        told = b""

        def ended(seconds: float) -> bool:
            nonlocal told
            told += self._read()  # or else it would wait for that when it has much to tell
            return bool(self._answered.poll(seconds * 1000))

        passed = limits.watch(self._process, run_limits, ended)
        if passed:
            limits.kill_below(self._process)
        return told + self._read(), passed

    def _read(self) -> bytes:
        """Read what was told, without waiting."""
        told = b""
        with contextlib.suppress(BlockingIOError):
            while len(told) % _PIECE == 0 and (piece := os.read(self._told, _PIECE)):
                told += piece
        return told

    def _ask(self, request: dict[str, Any]) -> Answer:
        """Send a request and wait for its answer."""
        self._send(marshal.dumps(request))
        answer = self._receive()
        return answer if isinstance(answer, dict) else {}

    def _send(self, request: bytes) -> None:
        try:
            self._channel.send(request)
        except OSError:
            _give_up()

    def _receive(self) -> Answer | tuple[int, float]:
        try:
            answer: Answer | tuple[int, float] = marshal.loads(self._channel.receive())  # noqa: S302
        except (OSError, EOFError, ValueError, TypeError):
            _give_up()
        if isinstance(answer, dict) and "lost" in answer:
            self._file = ""  # it has to be collected anew
        return answer


class OwnKeeper(Keeper):
    """That of a fork of the worker itself."""

    def __init__(self, session: pytest.Session, collected: Collected, plan: dict[str, Any]) -> None:
        """Fork it."""
        is_alive = unlike.is_alive(boot.Here.boot.scratch, unlike.of_xdist())
        limits.adopt_orphans()
        ours, theirs = _channels()
        told, telling = _pipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # xdist has threads of its own; none holds our locks
            self._child = os.fork()
        if self._child == 0:
            ours.close()
            os.close(told)
            _leave_xdist(session.config)
            keep(_zygote(session, collected, plan, theirs, telling))
        theirs.close()
        os.close(telling)
        if boot.Here.seen is not None:
            boot.Here.seen.stop()  # what this process opens from now on is not the test's
        super().__init__(
            boot.Here.loading.number,
            ours,
            told,
            tests_of(plan),
            boot.Here.witness,
            is_alive=is_alive,
        )

    def close(self) -> None:
        """Let it go, and wait until it is gone."""
        super().close()
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self._child, 0)


class OtherKeeper(Keeper):
    """That of a process which was started anew: what chance gave the first is not its own."""

    def __init__(self, number: int, plan: dict[str, Any], config: pytest.Config) -> None:
        """Start it on a tree of its own."""
        ours, theirs = _channels()
        told, telling = _pipe()
        here = boot.Here
        inside = os.path.relpath(here.folder, here.boot.tree(here.loading.number))
        folder = os.path.normpath(os.path.join(here.boot.tree(number), inside))
        environment = {
            **here.environment,
            **settings.home_environment(here.boot, number),
            "PWD": folder,
            settings.KEEPER: f"{theirs.descriptor},{telling}",
            settings.WORKER: json.dumps(worker_of(config)),
            settings.AS_IS: "1",
        }
        witness = None if here.witness is None else Witness(here.boot, number)
        self._child = subprocess.Popen(
            [sys.executable, "-m", "pytest", *plan["arguments"], *config.args],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(theirs.descriptor, telling),
            start_new_session=True,
        )
        theirs.close()
        os.close(telling)
        with contextlib.suppress(EOFError):
            ours.receive()  # it is ready: what it wrote when it started belongs to its tree
        super().__init__(number, ours, told, tests_of(plan), witness)

    def close(self) -> None:
        """Let it go, and wait until it is gone."""
        super().close()
        self._child.wait()


class OtherKeeping(Collected):
    """What that process does in place of a test session."""

    def __init__(self, plan: dict[str, Any]) -> None:
        super().__init__()
        self._plan = plan
        channel, self._telling = map(int, os.environ.pop(settings.KEEPER).split(","))
        self._channel = Channel(channel)
        for descriptor in (channel, self._telling):
            os.set_inheritable(descriptor, False)
        self._worker = json.loads(os.environ.pop(settings.WORKER))
        self._is_open = False

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> bool | None:
        """Collect nothing here: collection is for the zygotes."""
        if self._is_open:
            return None
        self._is_open = True
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> None:
        """Serve the worker until it is gone."""
        act_as_worker(session.config, self._worker)
        self._channel.send(marshal.dumps({"ready": True}))
        keep(_zygote(session, self, self._plan, self._channel, self._telling))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> bool:
        """Run a test once, whatever plugins would do with it."""
        record.protocol(item)
        return True


def tests_of(plan: dict[str, Any]) -> dict[str, list[str]]:
    """Return the tests of a plan, each once, by file."""
    found: dict[str, dict[str, None]] = {}
    for orders in plan["experiments"]:
        for test in orders["tests"]:
            found.setdefault(file_of(test), {})[test] = None
    return {file: list(tests) for file, tests in found.items()}


def worker_of(config: pytest.Config) -> dict[str, Any]:
    """Return those ids of a worker that fixtures ask for."""
    told = getattr(config, "workerinput", {})
    return {name: told[name] for name in _IDS if name in told}


def _zygote(
    session: pytest.Session,
    collected: Collected,
    plan: dict[str, Any],
    channel: Channel,
    telling: int,
) -> Zygote:
    """Return what is forked for each test file, as it is before collection."""
    here = boot.Here
    folder = os.path.join(here.boot.scratch, str(here.loading.number))
    fresh = FreshProcesses(plan["arguments"], folder, worker_of(session.config))
    return Zygote(session, collected, fresh, channel, telling)


def _folders(number: int) -> Folders:
    """Return the private folders of a tree, as they are now."""
    here = boot.Here.boot
    place, top = os.path.join(here.scratch, str(number)), here.tree(number)
    beside = partial(os.path.join, place)
    trees = [Tree(top, beside("settled-tree"), here.pristine(), leave=".git")]
    trees += [
        Tree(path, beside(f"settled-{os.path.basename(path)}"))
        for path in (*map(beside, _PRIVATE), os.path.join(top, ".git"))
        if os.path.isdir(path)
    ]
    return Folders(place, trees, _WRITTEN)


def _channels() -> tuple[Channel, Channel]:
    """Return both ends of a channel, out of the way of tests that close low descriptors."""
    one, other = socket.socketpair()
    with one, other:
        return Channel(_high(one.fileno())), Channel(_high(other.fileno()))


def _pipe() -> tuple[int, int]:
    """Return the ends for reading, which does not block, and for writing."""
    reader, writer = os.pipe()
    try:
        os.set_blocking(reader, False)
        return _high(reader), _high(writer)
    finally:
        os.close(reader)
        os.close(writer)


def _high(descriptor: int) -> int:
    return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _HIGH)


def _unopened(answer: Answer) -> Answer:
    why = answer.get("uncollectable") or answer.get("lost")
    reason = "the process ended while the file was collected"
    return {"ending": "collection error", "reason": f"{reason} ({why})" if why else reason}


def _lost(answer: Answer) -> Raw:
    ending = "collection error" if "uncollectable" in answer else "worker lost"
    return {"passed": ending, "cpu": 0.0, "why": answer.get("uncollectable") or answer.get("lost")}


def _give_up() -> NoReturn:
    os._exit(1)  # pytest-xdist replaces this worker, and tells that the experiment is lost


def _leave_xdist(config: pytest.Config) -> None:
    """Take xdist's part and the descriptors of its channel away from what is run."""
    own = interactor(config)
    config.pluginmanager.unregister(own)
    with contextlib.suppress(Exception), open(os.devnull, "r+b") as nothing:
        io = own.channel.gateway._io  # noqa: SLF001  # execnet offers no other way
        for stream in (io.infile, io.outfile):
            os.dup2(nothing.fileno(), stream.fileno())


def interactor(config: pytest.Config) -> Any:
    """Return xdist's part of a worker.

    What only xdist has to know is told to it alone: hooks of the project would take an item of
    ours for a test.
    """
    plugins = config.pluginmanager.get_plugins()
    return next(each for each in plugins if type(each).__name__ == "WorkerInteractor")
