"""What the workers of a session tell, line by line, and the values that it is read into."""

import os
import select
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Final

from invertgate.model import Ending, Killer, Run
from invertgate.source_text import json_of

_LOOK_EVERY: Final = 0.5
_PIECE: Final = 1 << 16
_QUOTED: Final = 80
_FINISHED: Final = (0, 1, 5)
"""How pytest ends if it has come to its end: passed, failed, nothing collected."""

Event = dict[str, Any]
"""One line: what happened, by ``event``, and what goes with it."""


class SessionError(Exception):
    """pytest did not come to its end; the message quotes what it said."""


class GarbledError(SessionError):
    """A worker told what cannot be read, as when the code under test writes into what it tells."""


@dataclass(frozen=True, slots=True)
class Tried:
    """What came of one test for the rows of an experiment."""

    experiment: int
    test: str
    stand: str
    """Why it could not be run (``not collected``, ``external``), or empty."""
    reason: str
    pool: tuple[str, ...]
    """Collected tests that it could mean, if it was not collected."""
    runs: Mapping[int, tuple[Run, ...]]
    """By the number of the row."""
    held: str = ""
    """How far the code was held, if the test passes only where it is not."""
    opened: tuple[str, ...] | None = None
    """What its processes opened, relative to the tree or absolute; None if that is not known."""


@dataclass(frozen=True, slots=True)
class Collected:
    """A test that pytest collects."""

    test: str
    markers: tuple[str, ...]
    """What its ``branch`` markers say."""


@dataclass(frozen=True, slots=True)
class Collection:
    """What pytest collects."""

    tests: tuple[Collected, ...] = ()
    errors: Mapping[str, str] = field(default_factory=dict)
    """What could not be collected (a file, a class in it), and why."""


@dataclass(frozen=True, slots=True)
class Taken:
    """What a test takes when nothing is inverted."""

    test: str
    passed: bool
    slots: frozenset[int]
    at_import: frozenset[int]
    """Slots of outcomes that were taken before any test ran."""
    seconds: float
    external: bool = False


@dataclass(frozen=True, slots=True)
class Measurement:
    """What was seen while tests were run under coverage, nothing inverted."""

    files: tuple[Path, ...]
    """Coverage's data, one file a worker."""
    passed: frozenset[str]
    """Tests that were run, and passed."""
    taken: frozenset[int]
    """Slots of all outcomes that any process took, whether coverage saw it or not."""
    bare: frozenset[int]
    """Numbers of the files that some process ran without weaving."""
    blind: bool
    """Some child process could not be looked at."""


def events_of(stream: IO[bytes], is_alive: Callable[[], bool]) -> Generator[Event, None, bool]:
    """Yield what a session tells, until it says that it is finished or is gone.

    The end of the stream is not waited for: a daemon that the project starts may hold it open.

    Raises:
        GarbledError: A line is none of a worker's.
    """
    unread = b""
    while True:
        ready, _, _ = select.select([stream], [], [], _LOOK_EVERY)
        if not ready and not is_alive():
            return False
        piece = os.read(stream.fileno(), _PIECE) if ready else b""
        if ready and not piece:
            return False
        *lines, unread = (unread + piece).split(b"\n")
        for line in lines:
            event = _event(line)
            yield event
            if event["event"] == "finished":
                return event.get("status") in _FINISHED


def _event(line: bytes) -> Event:
    try:
        event = json_of(line)
    except ValueError:
        event = None
    if not isinstance(event, dict) or not isinstance(event.get("event"), str):
        raise GarbledError(f"a worker told what is no event: {line[:_QUOTED]!r}")
    return event


@contextmanager
def _understood(event: Event) -> Generator[None]:
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        what = f"{type(error).__name__}: {error}"
        raise GarbledError(f"a worker told too little of {event.get('event')} ({what})") from error


def collected(event: Event) -> Collection:
    """Read what a worker collected."""
    with _understood(event):
        tests = tuple(Collected(test, tuple(ids)) for test, ids in event["tests"])
        return Collection(tests, dict(event["errors"]))


def taken(event: Event) -> Taken:
    """Read what a test took in its suite."""
    with _understood(event):
        return Taken(
            event["test"],
            event["passed"],
            frozenset(event["taken"]),
            frozenset(event["at_import"]),
            event["seconds"],
            event["external"],
        )


def looked(event: Event) -> Iterator[Taken]:
    """Read what some tests took, each run alone."""
    with _understood(event):
        for test, passed, slots, seconds in event["tests"]:
            yield Taken(test, passed, frozenset(slots), frozenset(), seconds)


def tried(event: Event) -> Iterator[Tried]:
    """Read what came of an experiment, test by test."""
    with _understood(event):
        for each in event["tests"]:
            yield Tried(
                event["number"],
                each["test"],
                each["stand"],
                each["reason"],
                tuple(each.get("pool", ())),
                {row["number"]: tuple(_run(run) for run in row["runs"]) for row in each["rows"]},
                opened=_opened(each),
            )


def _opened(told: Event) -> tuple[str, ...] | None:
    opened = told.get("opened")
    return None if opened is None else tuple(opened)


def _run(told: Event) -> Run:
    killer = told.get("killer")
    return Run(
        test=told["test"],
        inverted=told["inverted"],
        ending=Ending(told["ending"]),
        phase=told.get("phase", ""),
        exception=told.get("exception", ""),
        message=told.get("message", ""),
        where=told.get("where", ""),
        killer=Killer(killer) if killer else None,
        reached=told["reached"],
        cold=told["cold"],
        seconds=told.get("seconds", 0.0),
        cpu=told.get("cpu", 0.0),
        notes=tuple(told.get("notes", ())),
        counted=told.get("counted", True),
        unwatched=tuple(told.get("unwatched", ())),
    )
