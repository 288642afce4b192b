"""What a worker is told when a process that it asks for runs goes wrong."""

import marshal
import os
import signal
import socket
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import NoReturn

import pytest

from invertgate.inside.channel import Channel
from invertgate.inside.zygote import FORK, Answer, Zygote, keep

OPEN = marshal.dumps({"open": "t.py", "tests": []})


class Failing(Zygote):
    """Fails where it is told to."""

    def __init__(
        self, channel: Channel, at_open: Callable[[], object], at_fork: Callable[[], NoReturn]
    ) -> None:
        self.channel = channel
        self._at_open = at_open
        self._at_fork = at_fork

    def open(self, file: str, tests: Sequence[str]) -> Answer:
        self._at_open()
        return {"file": file, "tests": list(tests)}

    def fork(self, request: bytes) -> tuple[int, float]:
        assert request == FORK
        self._at_fork()


@contextmanager
def kept(at_open: Callable[[], object], at_fork: Callable[[], NoReturn]) -> Generator[Channel]:
    """Lend the worker's end of a channel to a process that keeps such a zygote."""
    one, other = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        one.close()
        keep(Failing(Channel(other.fileno()), at_open, at_fork))
    other.close()
    with one:
        yield Channel(one.fileno())
    os.waitpid(pid, 0)


def ask(channel: Channel, request: bytes) -> object:
    channel.send(request)
    return marshal.loads(channel.receive())  # noqa: S302


def fill_disk() -> NoReturn:
    raise OSError("disk full")


def leave() -> NoReturn:
    os._exit(7)


def crash() -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def nothing() -> None:
    pass


@pytest.mark.parametrize(
    ("fail", "why"),
    [(fill_disk, "OSError: disk full"), (leave, "exit code 7"), (crash, "killed by SIGKILL")],
)
def test_a_file_that_cannot_be_opened_says_why_as_often_as_it_is_asked_for(
    fail: Callable[[], NoReturn], why: str
) -> None:
    with kept(fail, fill_disk) as channel:
        answers = [ask(channel, OPEN), ask(channel, FORK)]

    assert answers == [{"uncollectable": why}] * 2


@pytest.mark.parametrize(
    ("fail", "why"),
    [(fill_disk, "OSError: disk full"), (leave, "exit code 7"), (crash, "killed by SIGKILL")],
)
def test_a_run_that_is_lost_says_why(fail: Callable[[], NoReturn], why: str) -> None:
    with kept(nothing, fail) as channel:
        opened, lost = ask(channel, OPEN), ask(channel, FORK)

    assert opened == {"file": "t.py", "tests": []}
    assert lost == {"lost": f"the process that it was forked from ended: {why}"}
