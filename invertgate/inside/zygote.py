"""The processes that runs are forked from, one for each test file. PYTEST_DONT_REWRITE.

A worker of pytest-xdist collects nothing itself. It forks a *keeper*, which holds pytest as it is
before collection; for each test file the keeper forks a *zygote*, which collects that file alone
and is what the runs are forked from. So a run starts from the state that ``pytest FILE`` would
give it, and no other file's import can make a test look better or worse than it is. A zygote that
a test ends is forked anew. A worker's other process (``worker._OtherKeeper``) is a keeper too, on a
tree of its own.
"""

import contextlib
import gc
import marshal
import mmap
import os
from collections.abc import Iterator
from glob import glob
from typing import Any, Final, NoReturn

import pytest

from . import limits, record
from .collected import Collected
from .limits import Limits
from .runs import Order, Runner
from .switch import SWITCH

Request = dict[str, Any]
Answer = dict[str, Any]


_OPEN: Final = 0
_PENDING: Final = 1
_NOTHING_SEEN: Final[Answer] = {"seconds": 0.0, "cpu": 0.0, "board": b""}
_UNCOLLECTABLE: Final[Answer] = {
    "ending": "collection error",
    "reason": "the process ended while the file was collected",
    "passed": "worker lost",
    **_NOTHING_SEEN,
}


class Zygote:
    """What answers requests about one test file."""

    def __init__(self, session: pytest.Session, collected: Collected, runner: Runner) -> None:
        self._session = session
        self._collected = collected
        self._runner = runner

    def open(self, file: str) -> Answer:
        """Collect a file, and tell which outcomes are taken meanwhile."""
        board = SWITCH.board
        if board is not None:
            board.recall()
        config = self._session.config
        paths = [str(each) for each in config.getini("testpaths")]
        suite = [path for each in paths for path in glob(each, recursive=True)] or [os.curdir]
        config.args = [file] if os.path.exists(file) else suite  # for the claim to be compared with
        try:
            config.hook.pytest_collection(session=self._session)
        except BaseException as error:  # noqa: BLE001  # whatever a test module does at import
            self._collected.errors[file] = f"{type(error).__name__}: {error}"[:400]
        self._runner.folders.settle()
        record.prepare(config)
        if board is not None:
            board.keep_files()
        gc.collect()
        gc.freeze()
        return {"at_import": board.all_taken() if board is not None else []}

    def restore(self) -> None:
        """Make all folders what they were before the last file was collected."""
        self._runner.folders.restore(anyway=True)

    def answer(self, request: Request) -> Answer:
        """Answer one request."""
        if "stand" in request:
            return self._stand(request["stand"])
        order = request["run"]
        return self._runner.carry_out(
            Order(order["test"], tuple(order["slots"]), order["cold"], Limits(*order["limits"]))
        )

    def _stand(self, test: str) -> Answer:
        ending, reason = self._collected.stand_of(test)
        if ending:
            pool = self._collected.pool(test)
            return {"ending": ending, "reason": reason, "pool": pool}
        marker = self._collected.items[test].get_closest_marker("external")
        return {"external": marker is not None}


def keep(zygote: Zygote, channel: Any) -> NoReturn:
    """Fork a zygote for each file that is asked for, until the worker is gone.

    Args:
        zygote: As it is before collection; each fork uses it for one file.
        channel: Requests and answers.
    """
    try:
        limits.die_with_parent()
        limits.adopt_orphans()
        if SWITCH.board is not None:
            SWITCH.board.remember()
        for line in _received(channel):
            _serve(zygote, channel, line["open"])
    finally:
        limits.end_below(os.getpid())
        os._exit(0)


def _serve(zygote: Zygote, channel: Any, file: str) -> None:
    """Serve a file until it is closed, by as many zygotes as that takes."""
    shared = mmap.mmap(-1, 2)  # with the zygote: the file is open; a request waits for its answer
    shared[_PENDING] = 1
    told = False
    zygote.restore()
    while _ended_badly(zygote, channel, file, shared, told=told):
        limits.end_below(os.getpid())
        zygote.restore()
        if not shared[_OPEN]:
            if shared[_PENDING]:
                _say(channel, _UNCOLLECTABLE)
            for _ in _requests(channel, shared):
                _say(channel, _UNCOLLECTABLE)
            return
        if shared[_PENDING]:
            _say(channel, {"passed": "worker lost", **_NOTHING_SEEN})
        told, shared[_OPEN], shared[_PENDING] = True, 0, 0


def _ended_badly(zygote: Zygote, channel: Any, file: str, shared: mmap.mmap, *, told: bool) -> bool:
    """Serve a file in a child of this process; tell whether something else than us ended it."""
    pid = os.fork()
    if pid != 0:
        return os.waitpid(pid, 0)[1] != 0
    status = 1
    try:
        limits.die_with_parent()
        limits.adopt_orphans()
        limits.go_first()
        opened = zygote.open(file)
        shared[_OPEN] = 1
        if not told:
            _say(channel, opened)
            shared[_PENDING] = 0
        for request in _requests(channel, shared):
            _say(channel, zygote.answer(request))
            shared[_PENDING] = 0
        status = 0
    finally:
        limits.end_below(os.getpid())
        os._exit(status)


def _requests(channel: Any, shared: mmap.mmap) -> Iterator[Request]:
    """Yield requests until the file is closed, which is answered too: nobody reads ahead."""
    for request in _received(channel):
        shared[_PENDING] = 1
        if "close" in request:
            _say(channel, {"closed": True})
            return
        yield request


def _received(channel: Any) -> Iterator[Request]:
    with contextlib.suppress(EOFError):
        while True:
            yield marshal.load(channel)  # noqa: S302  # only the worker has the other end


def _say(channel: Any, told: Answer) -> None:
    channel.write(marshal.dumps(told))
    channel.flush()
