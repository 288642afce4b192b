"""Run properties, one process each, and take nothing but a plain answer for one."""

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from invertgate import process
from invertgate.lanes.properties import Property
from invertgate.process import Answer, Cut
from invertgate.source_text import json_of

_MOST_SAID: Final = 1 << 16
_MOST_PRINTED: Final = 1 << 22
"""Bytes of output, of an executable that has to say one word, and of a pytest run."""
_QUOTED: Final = 200
_ANSWER: Final = "INVERTGATE_ANSWER"
_PLUGIN: Final = "_invertgate_inside.witness"
_WAIT: Final = 0.2


class Token(StrEnum):
    """What came of a property."""

    HOLD = "hold"
    FAIL = "fail"
    UNRESOLVED = "unresolved"
    """No plain answer; never taken for one of the two."""
    QUARANTINED = "quarantined"
    """Its test is on the live list of flaky ones; it is not run."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What came of one property, and why."""

    id: str
    token: Token
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Room:
    """Where one property is run: a private copy, and the environment that belongs to it."""

    folder: Path
    """Where the process starts."""
    environment: Mapping[str, str]
    answer: Path
    """A file of which nobody else knows."""
    test: str = ""
    """The property's nodeid as pytest has it in this folder."""


Runner = Callable[[Property, Room], Finding]


@dataclass(frozen=True, slots=True)
class Commanded:
    """Asks an executable: a question in JSON on its standard input, ``hold`` or ``fail`` back."""

    command: tuple[str, ...]
    fixture_sha256: str
    patch: str
    seconds: float

    def __call__(self, stated: Property, room: Room) -> Finding:
        """Ask about one property."""
        question = {
            "property": stated.id,
            "statement": stated.statement,
            "fixture_sha256": self.fixture_sha256,
            "patch": self.patch,
        }
        asked = json.dumps(question).encode()
        try:
            answer = process.ask(
                self.command,
                cwd=room.folder,
                env=room.environment,
                input=asked,
                seconds=self.seconds,
                most=_MOST_SAID,
            )
        except OSError as error:
            why = f"{self.command[0]} cannot be started: {error.strerror}"
            return Finding(stated.id, Token.UNRESOLVED, why)
        return judged_answer(stated.id, answer, self.seconds)


@dataclass(frozen=True, slots=True)
class Local:
    """Runs the ``prop_`` function that states a property, by pytest."""

    arguments: tuple[str, ...]
    """More arguments for pytest."""
    seconds: float
    python: str = field(default=sys.executable)
    launcher: tuple[str, ...] = ()
    """Words before the command line, of a program that holds it."""

    def __call__(self, stated: Property, room: Room) -> Finding:
        """Run one property."""
        if not stated.test:
            why = 'it names no test; add the field "test", or configure a command'
            return Finding(stated.id, Token.UNRESOLVED, why)
        told, answer = ask_pytest(self, room, (room.test,))
        if answer.cut is not None:
            return judged_answer(stated.id, answer, self.seconds)
        if told is None:
            why = f"pytest did not come to its end ({_ending(answer.code)}){_last_words(answer)}"
            return Finding(stated.id, Token.UNRESOLVED, why)
        return judged_reports(stated.id, room.test, told)


def ask_pytest(
    runner: Local, room: Room, arguments: Sequence[str]
) -> tuple[dict[str, Any] | None, Answer]:
    """Run pytest once, and return what our plugin wrote down, or None, and how it ended.

    A pytest that does not know one of the runner's arguments, as the project has switched a plugin
    off, is run once more without it.
    """
    argv = (
        *(*runner.launcher, runner.python, "-m", "pytest", "-p", _PLUGIN, "-p", "xdist", "-n0"),
        *("--rootdir=.", "--maxfail=0", "--quiet", "--capture=no", *runner.arguments, *arguments),
    )
    room.answer.unlink(missing_ok=True)
    answer = process.ask(
        argv,
        cwd=room.folder,
        env={**room.environment, _ANSWER: str(room.answer)},
        seconds=runner.seconds,
        most=_MOST_PRINTED,
    )
    try:
        told = json_of(room.answer.read_bytes())
        return (told if isinstance(told, dict) else None), answer
    except (OSError, ValueError):
        said = answer.stderr.decode(errors="replace")
        known = tuple(word for word in runner.arguments if word.partition("=")[0] not in said)
        if "unrecognized arguments" in said and known != runner.arguments:
            return ask_pytest(replace(runner, arguments=known), room, arguments)
        return None, answer


def judged_answer(name: str, answer: Answer, seconds: float) -> Finding:
    """Judge what an executable said: one of two words, and a clean end; all else is unresolved."""
    why = ""
    if answer.cut is Cut.LATE:
        why = f"no answer in {seconds:g} seconds"
    elif answer.cut is Cut.FLOOD:
        why = f"more than {len(answer.stdout)} bytes of output"
    elif answer.code != 0:
        why = f"{_ending(answer.code)}{_last_words(answer)}"
    elif answer.stdout.strip() not in {b"hold", b"fail"}:
        said = answer.stdout[:_QUOTED].decode(errors="backslashreplace").strip()
        why = f"neither hold nor fail: {said!r}" if said else "no word on standard output"
    if why:
        return Finding(name, Token.UNRESOLVED, why)
    return Finding(name, Token(answer.stdout.strip().decode()))


def judged_reports(name: str, test: str, told: Mapping[str, Any]) -> Finding:
    """Judge what pytest reported of a property's test: every one of its parameters must pass."""
    tests = [nodeid for nodeid in told["tests"] if _means(test, nodeid)]
    if not tests:
        errors = "".join(f"; {error}" for error in told["errors"][:1])
        return Finding(name, Token.UNRESOLVED, f"pytest collects no {test}{errors}")
    reports = [report for report in told["reports"] if report["test"] in set(tests)]
    for report in reports:
        is_failure = report["phase"] == "call" and report["outcome"] == "failed"
        if is_failure and not report["expected"]:
            return Finding(name, Token.FAIL, report["message"])
    for nodeid in tests:
        if why := _why_not(nodeid, reports):
            return Finding(name, Token.UNRESOLVED, why)
    return Finding(name, Token.HOLD)


def run_all(
    jobs: Sequence[tuple[Property, Room]],
    runner: Runner,
    workers: int,
    abandon: Callable[[], None],
) -> list[Finding]:
    """Run properties side by side; what becomes of one does not touch the others.

    Args:
        jobs: What to run, and where; each has its own place.
        runner: How.
        workers: How many at a time.
        abandon: Ends whatever was started, when we are asked to end.

    Returns:
        A finding for each, in their order.
    """
    if not jobs:
        return []
    with ThreadPoolExecutor(max(1, min(workers, len(jobs)))) as pool:
        futures = [pool.submit(runner, *job) for job in jobs]
        try:
            return [future.result() for future in futures]
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            while not all(future.done() for future in futures):
                abandon()
                wait(futures, timeout=_WAIT)
            raise


def _means(test: str, nodeid: str) -> bool:
    return nodeid == test or ("[" not in test and nodeid.startswith(test + "["))


def _why_not(nodeid: str, reports: Sequence[Mapping[str, Any]]) -> str:
    own = [report for report in reports if report["test"] == nodeid]
    phases = [report["phase"] for report in own]
    if {"setup", "call", "teardown"} - set(phases):
        phase = phases[-1] if phases else "no phase"
        skipped = [report for report in own if report["outcome"] != "passed"]
        said = f": {skipped[0]['outcome']} {skipped[0]['message']}".rstrip() if skipped else ""
        return f"{nodeid} was not run to its end, only to {phase}{said}"
    for report in own:
        if report["expected"]:
            return f"{nodeid} is expected to fail, which says nothing"
        if report["outcome"] != "passed":
            message = f": {report['message']}" if report["message"] else ""
            return f"{nodeid} {report['outcome']} in its {report['phase']} phase{message}"
    return ""


def _ending(code: int) -> str:
    return f"exit code {code}" if code >= 0 else f"ended by signal {-code}"


def _last_words(answer: Answer) -> str:
    text = (answer.stderr.strip() or answer.stdout.strip()).decode(errors="backslashreplace")
    lines = text.splitlines()
    return f": {lines[-1][:_QUOTED]}" if lines else ""


def executables_in(command: Sequence[str], top: Path, folder: Path) -> frozenset[str]:
    """Return the files of a repository that a command names, from its top, with slashes."""
    found = set()
    for word in command:
        path = Path(os.path.normpath(folder / word))
        if path.is_file() and path.is_relative_to(top):
            found.add(path.relative_to(top).as_posix())
    return frozenset(found)
