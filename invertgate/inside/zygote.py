"""The processes that runs are forked from, one for each test file. PYTEST_DONT_REWRITE.

A worker of pytest-xdist collects nothing itself. It has a process that keeps pytest as it is
before collection (``keep``); for each test file that forks a *zygote*, which collects that file
alone and is what the runs are forked from. So a run starts from the state that ``pytest FILE``
would give it, and no other file's import can make a test look better or worse than it is.

Each page of memory that a zygote writes to is copied while a fork of it lives. So it does nothing
but fork and wait: the worker (``keeper``) clears the board, watches and ends runs, reads what they
tell, and puts folders back.
"""

import contextlib
import gc
import marshal
import mmap
import os
from collections.abc import Iterator, Sequence
from glob import glob
from typing import Any, Final, NoReturn

import pytest

from . import boot, limits, record, unlike
from .channel import Channel
from .collected import Collected
from .limits import Limits
from .runs import FreshProcesses, ending_of, run_in_fork
from .switch import SWITCH

Answer = dict[str, Any]

FORK: Final = b"f"
"""How a request begins that asks for a run in a fork; the rest is for the fork to read. All
others are dicts, as ``marshal`` writes them."""

_OPEN: Final = 0
_PENDING: Final = 1
_WHY: Final = 2
_LONGEST: Final = 400
"""Bytes of a reason that are passed on."""
_GONE: Final = "the process that it was forked from ended"


class Zygote:
    """What answers requests about one test file."""

    def __init__(
        self,
        session: pytest.Session,
        collected: Collected,
        fresh: FreshProcesses,
        channel: Channel,
        telling: int,
    ) -> None:
        """Know all that is needed, before anything is collected.

        Args:
            session: Pytest's session, before collection.
            collected: What pytest will have collected.
            fresh: For the runs that are no forks.
            channel: Requests and answers.
            telling: The descriptor on which forks tell.
        """
        self._session = session
        self._collected = collected
        self._fresh = fresh
        self.channel = channel
        self._telling = telling

    def open(self, file: str, tests: Sequence[str]) -> Answer:
        """Collect a file; tell which outcomes are taken meanwhile, and how some tests stand."""
        board = SWITCH.board
        if board is not None:
            board.recall()
        scratch = boot.Here.boot.scratch
        known = unlike.shared(scratch)
        config = self._session.config
        paths = [str(each) for each in config.getini("testpaths")]
        suite = [path for each in paths for path in glob(each, recursive=True)] or [os.curdir]
        config.args = [file] if os.path.exists(file) else suite  # for the claim to be compared with
        try:
            config.hook.pytest_collection(session=self._session)
        except BaseException as error:  # noqa: BLE001  # whatever a test module does at import
            self._collected.errors[file] = f"{type(error).__name__}: {error}"[:400]
        record.prepare(config)
        taken = board.all_taken() if board is not None else []
        stands = {test: self._stand(test) for test in tests}
        gc.collect()
        alive = unlike.is_alive(scratch, known)
        opened = {
            "at_import": taken,
            "process": os.getpid(),
            "stands": stands,
            "unlike": alive or unlike.is_dated(boot.Here.loading.rebase.tree),
        }
        gc.freeze()
        return opened

    def fork(self, request: bytes) -> tuple[int, float]:
        """Run a test in a fork; return its status and the processor time that it used."""
        pid = os.fork()
        if pid == 0:
            run_in_fork(self._collected.items, request[1:], self._telling, self.channel.descriptor)
        _, status, used = os.wait4(pid, 0)
        return status, used.ru_utime + used.ru_stime

    def answer(self, request: dict[str, Any]) -> Answer:
        """Answer a request that does not ask for a fork."""
        if "sweep" in request:
            return _swept()
        order = request["run"]
        return self._fresh.carry_out(order["test"], Limits(*order["limits"]))

    def _stand(self, test: str) -> Answer:
        ending, reason = self._collected.stand_of(test)
        if ending:
            pool = self._collected.pool(test)
            return {"ending": ending, "reason": reason, "pool": pool}
        item = self._collected.items[test]
        _ = item.location  # the item keeps it, so that no fork has to find it
        return {"external": item.get_closest_marker("external") is not None}


def _swept() -> Answer:
    """End what a run left; tell the processor time that it used."""
    before = limits.cpu_of_children()
    limits.end_below(os.getpid())
    return {"cpu": limits.cpu_of_children() - before}


def keep(zygote: Zygote) -> NoReturn:
    """Fork a zygote for each file that is asked for, until the worker is gone.

    Args:
        zygote: As it is before collection; each fork uses it for one file.
    """
    try:
        limits.die_with_parent()
        limits.adopt_orphans()
        if SWITCH.board is not None:
            SWITCH.board.remember()
        for request in _received(zygote.channel):
            asked = {} if request.startswith(FORK) else marshal.loads(request)  # noqa: S302
            if "open" in asked:
                _serve(zygote, asked["open"], asked["tests"])
            else:
                zygote.channel.send(_lost(_GONE))  # it was meant for a zygote that is gone
    except BaseException as error:  # noqa: BLE001  # whoever asks next is told, and gives up after
        with contextlib.suppress(BaseException):
            zygote.channel.send(_lost(_shown(error)))
    finally:
        limits.end_below(os.getpid())
        os._exit(0)


def _lost(why: str) -> bytes:
    return marshal.dumps({"lost": why})


def _shown(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


def _serve(zygote: Zygote, file: str, tests: Sequence[str]) -> None:
    """Let a zygote serve a file until it is closed, or until something ends that zygote."""
    # shared with the zygote: the file is open; a request waits for its answer; what went wrong
    shared = mmap.mmap(-1, _WHY + _LONGEST)
    shared[_PENDING] = 1
    why = _ended_badly(zygote, file, tests, shared)
    if not why:
        return
    limits.end_below(os.getpid())
    opened = shared[_OPEN]
    answer = _lost(f"{_GONE}: {why}") if opened else marshal.dumps({"uncollectable": why})
    if shared[_PENDING]:
        zygote.channel.send(answer)
    if not opened:
        for _ in _requests(zygote.channel, shared):
            zygote.channel.send(answer)


def _ended_badly(zygote: Zygote, file: str, tests: Sequence[str], shared: mmap.mmap) -> str:
    """Serve a file in a child of this process; tell what ended it, if it was not us."""
    pid = os.fork()
    if pid != 0:
        status = os.waitpid(pid, 0)[1]
        why = shared[_WHY:].rstrip(b"\0").decode(errors="replace")
        return (why or ending_of(status)) if status else ""
    status = 1
    try:
        limits.die_with_parent()
        limits.adopt_orphans()
        limits.go_first()
        channel = zygote.channel
        opened = zygote.open(file, tests)
        shared[_OPEN] = 1
        channel.send(marshal.dumps(opened))
        shared[_PENDING] = 0
        for request in _requests(channel, shared):
            if request.startswith(FORK):
                told: Answer | tuple[int, float] = zygote.fork(request)
            else:
                told = zygote.answer(marshal.loads(request))  # noqa: S302
            channel.send(marshal.dumps(told))
            shared[_PENDING] = 0
        status = 0
    except BaseException as error:  # noqa: BLE001  # the process ends here, whatever it was
        with contextlib.suppress(BaseException):
            said = _shown(error).encode(errors="replace")[:_LONGEST]
            shared[_WHY : _WHY + len(said)] = said
    finally:
        limits.end_below(os.getpid())
        os._exit(status)


_CLOSE: Final = marshal.dumps({"close": True})


def _requests(channel: Channel, shared: mmap.mmap) -> Iterator[bytes]:
    """Yield requests until the file is closed, which is answered too: nobody reads ahead."""
    for request in _received(channel):
        shared[_PENDING] = 1
        if request == _CLOSE:
            channel.send(marshal.dumps({"closed": True}))
            return
        yield request


def _received(channel: Channel) -> Iterator[bytes]:
    with contextlib.suppress(EOFError):
        while True:
            yield channel.receive()
