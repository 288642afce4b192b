"""Run a plan in one pytest session on private trees, and tell what its workers report."""

import json
import os
import sys
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from importlib.metadata import entry_points
from math import inf
from pathlib import Path
from typing import Final

from invertgate import process
from invertgate.experiment.plan import Experiment, WovenFile
from invertgate.experiment.told import (
    Collection,
    Event,
    Measurement,
    SessionError,
    Taken,
    Tried,
    collected,
    events_of,
    looked,
    taken,
    tried,
)
from invertgate.inside import seen, settings, switch
from invertgate.inside.budget import Options

_PLUGIN: Final = "_invertgate_inside.plugin"
_EVENTS: Final = "INVERTGATE_EVENTS"
_CALMING: Final = {
    "pytest_cov": "--no-cov",
    "rerunfailures": "--reruns=0",
    "hypothesispytest": "--hypothesis-seed=0",
    "testmon": "--no-testmon",
    "benchmark": "--benchmark-disable",
}
"""Options, by plugin, that undo what a project's ``addopts`` would do to an experiment."""
_LAST_LINES: Final = 12


@dataclass(frozen=True, slots=True)
class Place:
    """Where a session runs."""

    scratch: Path
    original: Path
    name: str
    """Name of the top folder of every tree."""
    project: str
    """The project's folder, relative to the top."""
    workers: int
    other_trees: int
    """How many trees further on a worker's other process finds its own."""
    environment: Mapping[str, str]
    kept_out: tuple[str, ...]
    pytest_args: tuple[str, ...]
    calming: tuple[str, ...]
    """Options that undo what a project's own would do to an experiment; see ``calming_options``."""
    launcher: tuple[str, ...] = ()
    """Words before the command line of pytest, of a program that holds it."""
    deadline: float = inf
    """When it has to be at its end, as ``time.monotonic`` counts."""
    followed: tuple[str, ...] | None = None
    """Note what runs open, beside what lies in these folders; None if nobody asks."""

    @property
    def folder(self) -> Path:
        """Return where the session is started: the project in the first tree."""
        return self.scratch / "0" / self.name / self.project


class OutOfTimeError(Exception):
    """The deadline has passed; all processes of the session are gone."""


def write_boot(place: Place, files: Sequence[WovenFile], slots: int) -> None:
    """Write what every process of the run reads when it starts."""
    told = {
        "original": str(place.original),
        "name": place.name,
        "kept_out": list(place.kept_out),
        "files": [_file(each) for each in files],
        "slots": slots,
    }
    settings.write_boot(str(place.scratch), told)


def _file(file: WovenFile) -> tuple[object, ...]:
    return (file.number, file.path, file.sha256, file.decisions, file.versions)


def conduct(
    place: Place,
    experiments: Sequence[Experiment],
    options: Options,
    external: Sequence[str],
    tests: Sequence[str],
) -> Generator[Tried]:
    """Carry out experiments, and tell of each test as soon as it was tried.

    Args:
        place: Where.
        experiments: What.
        options: How.
        external: Globs of tests that are never run.
        tests: Files and folders to be collected, relative to the project.

    Raises:
        SessionError: pytest ended before all experiments were carried out.
    """
    plan = _plan(experiments, options, external)
    with closing(run_session(place, plan, tests)) as events:
        for event in events:
            if event["event"] == "experiment":
                yield from tried(event)


def search(place: Place, tests: Sequence[str]) -> Generator[Taken]:
    """Run tests as pytest always does, and tell what each takes.

    Raises:
        SessionError: pytest did not come to its end.
    """
    with closing(run_session(place, {"mode": "search"}, tests)) as events:
        for event in events:
            if event["event"] == "taken":
                yield taken(event)


def look(
    place: Place, groups: Sequence[Experiment], options: Options, tests: Sequence[str]
) -> Generator[Taken]:
    """Run tests alone, each in a process of its own, and tell what each takes.

    Args:
        place: Where.
        groups: Experiments without rows.
        options: How.
        tests: Files and folders to be collected, relative to the project.

    Raises:
        SessionError: pytest did not come to its end.
    """
    plan = _plan(groups, options, ())
    with closing(run_session(place, plan, tests)) as events:
        for event in events:
            if event["event"] == "looked":
                yield from looked(event)


def collect(place: Place, tests: Sequence[str]) -> Collection:
    """Collect tests in one worker, without running any.

    Raises:
        SessionError: pytest did not come to its end.
    """
    alone = replace(place, workers=1)
    found = Collection()
    for event in run_session(alone, {"mode": "collect"}, tests):
        if event["event"] == "collected":
            found = collected(event)
    return found


def measure(
    place: Place, tests: Sequence[str], only: Sequence[str], external: Sequence[str]
) -> Measurement:
    """Run tests as pytest always does, once, and measure which lines of the woven files they run.

    Args:
        place: Where.
        tests: Files and folders to be collected, relative to the project.
        only: The nodeids of the tests to be run; all that are collected by default.
        external: Globs of tests that are never run.

    Raises:
        SessionError: pytest did not come to its end.
    """
    folder = place.scratch / "coverage"
    folder.mkdir()
    there = replace(place, environment={**place.environment, settings.MEASURE: str(folder)})
    plan = {"mode": "measure", "only": list(only), "external": list(external)}
    passed = [
        event["test"]
        for event in run_session(there, plan, tests)
        if event["event"] == "measured" and event["passed"]
    ]
    boards = _boards(place)
    return Measurement(
        files=tuple(sorted(folder.iterdir())),
        passed=frozenset(passed),
        taken=frozenset(slot for board in boards for slot in board.all_taken()),
        bare=frozenset(file for board in boards for file in board.all_bare()),
        blind=any(board.flagged(flag) for board in boards for flag in switch.FLAGS),
    )


def _boards(place: Place) -> list[switch.Board]:
    boot = settings.read_boot(str(place.scratch))
    paths = [boot.board(number) for number in range(place.workers + place.other_trees)]
    return [switch.Board(path, len(boot.files), boot.slots) for path in paths]


def _clear_boards(place: Place) -> None:
    """Forget what the session before noted of the run as a whole."""
    for board in _boards(place):
        board.clear()


def _plan(experiments: Sequence[Experiment], options: Options, external: Sequence[str]) -> Event:
    return {
        "mode": "experiments",
        "experiments": [_told(experiment) for experiment in experiments],
        "options": asdict(options),
        "external": list(external),
    }


def run_session(place: Place, plan: Event, tests: Sequence[str]) -> Generator[Event]:
    """Run one pytest session with our plugin, and yield what it tells.

    A session that does not know one of the calming options, as the project has switched its plugin
    off, is run once more without it.

    Raises:
        SessionError: it did not come to its end.
    """
    try:
        yield from _session(place, plan, tests)
    except SessionError as error:
        said = str(error)
        known = tuple(option for option in place.calming if _name_of(option) not in said)
        if known == place.calming:
            raise
        yield from run_session(replace(place, calming=known), plan, tests)


def _session(place: Place, plan: Event, tests: Sequence[str]) -> Generator[Event]:
    plan = {**plan, "arguments": [*_common(place), "-n0"], "other_trees": place.other_trees}
    (place.scratch / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    _clear_boards(place)
    _begin_to_follow(place)
    reader, writer = os.pipe()
    log = place.scratch / "pytest.log"
    log.unlink(missing_ok=True)
    environment = {**place.environment, _EVENTS: str(writer)}
    pytest = [sys.executable, "-m", "pytest", *_common(place), *_parallel(place, plan), *tests]
    argv = [*place.launcher, *pytest]
    with os.fdopen(reader, "rb") as stream:
        try:
            running = process.running(
                argv, cwd=place.folder, env=environment, log=log, pass_fds=(writer,)
            )
            with running as session:
                os.close(writer)
                writer = -1
                finished = yield from events_of(stream, lambda: _goes_on(session.poll, place))
        finally:
            if writer >= 0:
                os.close(writer)
    if not finished:
        raise SessionError(_what_it_said(log))


def _goes_on(poll: Callable[[], int | None], place: Place) -> bool:
    if time.monotonic() > place.deadline:
        raise OutOfTimeError
    return poll() is None


def _begin_to_follow(place: Place) -> None:
    """Begin the logs of what is opened in each tree."""
    if place.followed is None:
        return
    content = "\0".join(place.followed).encode("utf-8", "surrogateescape")
    (place.scratch / seen.COVERED).write_bytes(content)
    for number in range(place.workers + place.other_trees):
        Path(seen.log_of(str(place.scratch), number)).write_bytes(b"")


def calming_options(scratch: Path) -> tuple[str, ...]:
    """Return the options that undo what a project's own would do to an experiment.

    Only those of plugins that are installed; a session that does not know one goes on without it.
    """
    installed = {entry.name for entry in entry_points(group="pytest11")}
    options = (option for name, option in _CALMING.items() if name in installed)
    return (f"--override-ini=cache_dir={scratch / 'cache'}", *options)


def _name_of(option: str) -> str:
    return option.removeprefix("--override-ini=").split("=", 1)[0]


def _common(place: Place) -> list[str]:
    """Return the options of every pytest process: they undo what would disturb an experiment."""
    return [
        "-p",
        _PLUGIN,
        "-p",
        "xdist",
        "--rootdir=.",
        "--maxfail=0",
        "--continue-on-collection-errors",
        *place.calming,
        *place.pytest_args,
    ]


def _parallel(place: Place, plan: Event) -> list[str]:
    return [
        f"-n{place.workers}",
        f"--maxprocesses={place.workers}",
        "--dist=worksteal",
        f"--max-worker-restart={len(plan.get('experiments', ())) + 10}",
        f"--basetemp={place.scratch / 'base'}",
    ]


def _what_it_said(log: Path) -> str:
    try:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return "it said nothing"
    telling = [line.strip() for line in lines if line.strip() and not set(line) <= set("=- ")]
    errors = [line for line in telling if "error" in line.lower() or line.startswith("E  ")]
    return " / ".join((errors or telling)[-_LAST_LINES:]) or "it said nothing"


def _told(experiment: Experiment) -> Event:
    return {
        "number": experiment.number,
        "tests": list(experiment.tests),
        "first": experiment.first,
        "beyond": experiment.beyond,
        "rows": [
            {
                "number": each.number,
                "slot": each.slot,
                "inverted": list(each.inverted),
                "file": each.file,
            }
            for each in experiment.subjects
        ],
    }
