"""What is measured without running any test: a patch with nothing new, and the listing."""

import ast
import gc
import os
import resource
import shutil
import subprocess
import sysconfig
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from _environments import ScriptError, run
from _measures import Measure, median, milliseconds
from _workloads import Workload, environ

TIMES_CLICK: Final = 3.0
START_MILLISECONDS: Final = 500.0
LISTING_TIMES_PARSE: Final = 3.0
_ROUNDS: Final = 5
"""Measurements in a turn: these are short ones."""
_LIBRARY_FILES: Final = (
    "argparse.py",
    "ast.py",
    "dataclasses.py",
    "email/message.py",
    "inspect.py",
    "logging/__init__.py",
    "pathlib.py",
    "subprocess.py",
    "tarfile.py",
    "zipfile.py",
    "unittest/mock.py",
)
_WRAPPER: Final = """\
#!/bin/sh
call="{log}/$$"
mkdir "$call"
pwd > "$call/cwd"
env -0 > "$call/environ"
printf '%s\\0' "$@" > "$call/argv"
cat > "$call/stdin"
exec {git} "$@" < "$call/stdin"
"""


@dataclass(frozen=True, slots=True)
class Call:
    """A call of git that was noted, to be made again."""

    argv: tuple[bytes, ...]
    cwd: Path
    environ: dict[bytes, bytes]
    stdin: bytes


def measure_start(workload: Workload, work: Path, turns: int) -> list[Measure]:
    """Compare a run with nothing new to ``import click`` and the bare calls of git.

    Raises:
        ScriptError: The gate finds something.
    """
    command: list[str | Path] = [
        workload.environment.command("invertgate"),
        "run",
        "--changed",
        *workload.asked,
    ]
    click: list[str | Path] = [workload.environment.python, "-c", "import click"]
    calls = noted_calls(command, workload.repository, work / "git")
    ours, bare, ratios = [], [], []
    for _ in range(turns * _ROUNDS):
        ours.append(_cpu_of(command, workload.repository))
        floor = _cpu_of(click, workload.repository), sum(map(_cpu_again, calls))
        bare.append(floor)
        ratios.append(ours[-1] / sum(floor))
    return [
        Measure("a run with nothing new", milliseconds(median(ours)), "ms", START_MILLISECONDS),
        Measure("python -c 'import click'", milliseconds(median(c for c, _ in bare)), "ms"),
        Measure(f"{len(calls)} bare calls of git", milliseconds(median(g for _, g in bare)), "ms"),
        Measure("… in both together", median(ratios), "x", TIMES_CLICK),
    ]


def noted_calls(command: Sequence[str | Path], cwd: Path, folder: Path) -> list[Call]:
    """Run a command with a git on its path that notes how it is called.

    Raises:
        ScriptError: The command fails, or there is no git.
    """
    git = shutil.which("git")
    if git is None:
        raise ScriptError("there is no git on the path")
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "calls").mkdir(parents=True)
    wrapper = folder / "git"
    wrapper.write_text(_WRAPPER.format(log=folder / "calls", git=git), "utf-8")
    wrapper.chmod(0o755)
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    finished = run(command, cwd=cwd, environ={**environ(), "PATH": path})
    if finished.returncode != 0:
        raise ScriptError(f"the gate ended with {finished.returncode}:\n{finished.output}")
    return [_call(git, noted) for noted in sorted((folder / "calls").iterdir())]


def _call(git: str, noted: Path) -> Call:
    variables = (noted / "environ").read_bytes().split(b"\0")
    argv = (noted / "argv").read_bytes().split(b"\0")[:-1]
    return Call(
        (git.encode(), *argv),
        Path((noted / "cwd").read_text("utf-8").rstrip("\n")),
        {
            name: text
            for name, is_one, text in (each.partition(b"=") for each in variables)
            if is_one
        },
        (noted / "stdin").read_bytes(),
    )


def _cpu_again(call: Call) -> float:
    before = _children()
    subprocess.run(
        call.argv,
        cwd=call.cwd,
        env=call.environ,
        input=call.stdin,
        capture_output=True,
        check=False,
    )
    return _children() - before


def _cpu_of(command: Sequence[str | Path], cwd: Path) -> float:
    finished = run(command, cwd=cwd, environ=environ())
    if finished.returncode != 0:
        raise ScriptError(f"{command[0]} ended with {finished.returncode}:\n{finished.output}")
    return finished.cpu


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure_listing(corpus: Path, turns: int) -> list[Measure]:
    """Compare the listing of outcomes with ``ast.parse`` of the same files.

    Both sides of a changed file are parsed, as without them nothing can be compared.

    Raises:
        ScriptError: invertgate is not installed beside this script.
    """
    try:
        from invertgate.model import ChangedFile  # noqa: PLC0415  # other benchmarks do without
        from invertgate.outcomes.identity import new_outcomes  # noqa: PLC0415
        from invertgate.patch.changes import read  # noqa: PLC0415
    except ImportError as error:
        raise ScriptError(f"this needs a Python that has invertgate: {error}") from error

    def library() -> list[ChangedFile]:
        top = Path(sysconfig.get_path("stdlib"))
        files = [top / name for name in _LIBRARY_FILES if (top / name).is_file()]
        return [
            ChangedFile(file.name, None, None, file.read_bytes(), frozenset()) for file in files
        ]

    def changed(repository: Path) -> list[ChangedFile]:
        patch = read(repository, base="main", environment=environ())
        return [
            file
            for file in patch.files
            if file.is_row_source and file.head is not None and file.base != file.head
        ]

    sets = {"the standard library, new": library()}
    for repository in sorted(corpus.glob("*/repository")):
        sets[f"{repository.parent.name}, changed"] = changed(repository)
    return [
        _listing(
            name,
            [(file.base, file.head) for file in files],
            partial(new_outcomes, files),
            turns,
        )
        for name, files in sets.items()
        if files
    ]


def _listing(
    name: str,
    sides: Sequence[tuple[bytes | None, bytes | None]],
    listed: Callable[[], object],
    turns: int,
) -> Measure:
    sources = [side for pair in sides for side in pair if side is not None]
    ratios = []
    for _ in range(turns * _ROUNDS):
        bare = _process_time(lambda: _parse(sources))
        ratios.append(_process_time(listed) / bare)
    return Measure(f"{name} ({len(sides)} files)", median(ratios), "x", LISTING_TIMES_PARSE)


def _parse(sources: Sequence[bytes]) -> None:
    for source in sources:
        ast.parse(source)  # and let go of the tree: many trees at a time cost more than they should


def _process_time(action: Callable[[], object]) -> float:
    gc.collect()
    started = time.process_time()
    action()
    return time.process_time() - started
