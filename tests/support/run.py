"""Runs the installed command as a user does, and tells what a user sees."""

import os
import subprocess
import sys
import sysconfig
import uuid
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import msgspec
import psutil

COMMAND = Path(sysconfig.get_path("scripts"), "invertgate")
"""The console script of the environment that runs the tests."""

PATIENCE = 120
"""Seconds after which a run is called hung."""

_MARK = "E2E_RUN"  # not ours by its name: what we start would not inherit it


class ReportRow(msgspec.Struct):
    """What the tests read of a row of ``report.json``."""

    id: str
    path: str
    line: int
    kind: str | None
    predicate: str
    side: str | None
    verdict: str | None
    reason: str
    test: str
    scope: str


class Report(msgspec.Struct):
    """What the tests read of ``report.json``."""

    schema_version: int
    complete: bool
    exit_code: int
    counts: dict[str, int]
    rows: list[ReportRow]
    weak_tests: dict[str, list[str]]
    written: list[str]


@dataclass(frozen=True, slots=True)
class Ended:
    """What one run of the command left behind."""

    exit_code: int
    stdout: str
    stderr: str
    top: Path
    processes: tuple[str, ...]
    """Command lines of processes of this run that outlived it."""
    scratch: tuple[str, ...]
    """What is left in the folder for temporary files."""

    @property
    def said(self) -> str:
        """All that was printed."""
        return self.stdout + self.stderr

    @property
    def report(self) -> Report:
        """The report that lies beside the sources."""
        return read_report(self.top)

    def __str__(self) -> str:
        """Show the run to whoever reads a failed test."""
        return f"exit {self.exit_code}\n--- stdout\n{self.stdout}\n--- stderr\n{self.stderr}"


def read_report(top: Path) -> Report:
    """Read the report of the project in a folder."""
    return msgspec.json.decode(
        Path(top, "invertgate.out", "report.json").read_bytes(),
        type=Report,
    )


@dataclass(frozen=True, slots=True)
class Place:
    """Where a command runs: a project, an interpreter, and private folders beside it."""

    top: Path
    python: str = sys.executable
    variables: Mapping[str, str] = field(default_factory=dict)
    """What the environment of a run has beside the least."""
    mark: str = ""
    """The mark of all runs here, one after another; by default each has its own."""

    @property
    def scratch(self) -> Path:
        """The folder for temporary files; nothing may be left in it."""
        return self._beside("tmp")

    def environment(self, mark: str) -> dict[str, str]:
        """Give a small environment that holds nothing of the user, of CI or of an outer pytest."""
        return {
            "PATH": os.pathsep.join((str(COMMAND.parent), os.environ.get("PATH", os.defpath))),
            "HOME": str(self._beside("home")),
            "TMPDIR": str(self.scratch),
            "OUTSIDE": str(self._beside("outside")),  # what no copy of the project isolates
            "LANG": "C.UTF-8",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            _MARK: mark,
            **self.variables,
        }

    def _beside(self, name: str) -> Path:
        folder = Path(self.top.parent, f"{self.top.name}-{name}")
        folder.mkdir(exist_ok=True)
        return folder


class Invertgate(Protocol):
    """Runs the command in a place, to its end."""

    def __call__(self, place: Place, *args: str, cwd: Path | None = None) -> Ended:
        """Run ``invertgate`` with these arguments."""


def run(place: Place, *args: str, cwd: Path | None = None) -> Ended:
    """Run the command to its end and look for what it left behind."""
    with start(place, args, cwd=cwd) as (process, mark):
        stdout, stderr = process.communicate(timeout=PATIENCE)
        return ended(place, process.returncode, (stdout, stderr), mark)


@contextmanager
def start(
    place: Place,
    args: Sequence[str],
    *,
    cwd: Path | None = None,
) -> Generator[tuple[subprocess.Popen[str], str]]:
    """Start the command in a session of its own, and end whatever is left of it afterwards.

    Yields the process and the mark by which its descendants can be found.
    """
    mark = place.mark or uuid.uuid4().hex
    process = subprocess.Popen(
        [place.python, str(COMMAND), *args],
        cwd=cwd or place.top,
        env=place.environment(mark),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        errors="backslashreplace",
        start_new_session=True,
    )
    try:
        yield process, mark
    finally:
        process.kill()
        for left in _marked(mark):
            left.kill()
        process.communicate()


def ended(place: Place, exit_code: int, said: tuple[str, str], mark: str) -> Ended:
    """Tell what a run that has ended left behind."""
    left = [command_line(process) for process in _marked(mark)]
    scratch = sorted(entry.name for entry in place.scratch.iterdir())
    return Ended(exit_code, *said, place.top, tuple(left), tuple(scratch))


def descendants(mark: str) -> list[psutil.Process]:
    """Give the processes of a run that are alive now."""
    return list(_marked(mark))


def command_line(process: psutil.Process) -> str:
    """Show a process as its command line."""
    try:
        return " ".join(process.cmdline()) or process.name()
    except psutil.Error:
        return str(process.pid)


def _marked(mark: str) -> Iterator[psutil.Process]:
    for process in psutil.process_iter():
        try:
            if process.environ().get(_MARK) == mark and process.status() != psutil.STATUS_ZOMBIE:
                yield process
        except psutil.Error:
            continue
