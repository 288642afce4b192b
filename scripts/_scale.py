"""How the gate grows: generated projects of a thousand and of ten thousand rows."""

import json
import threading
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import psutil
from _environments import ScriptError, run
from _measures import Measure
from _workloads import Workload, commit, empty_repository, environ, user_environment

FEW_TESTS: Final = 200
MANY_TESTS: Final = 2000
ROWS_A_TEST: Final = 5
"""On average: tests have functions of two and of three ``if`` in turns."""
REPORT: Final = "invertgate.out/report.json"
GROWTH: Final = 1.15
"""How much more a row may cost among ten thousand: what repetitions of one session differ by."""
_A_FILE: Final = 20
_EVERY: Final = 0.5
_MEBIBYTE: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Grown:
    """What a session of some size cost."""

    rows: int
    bound: int
    cpu: float
    """Seconds of the whole command."""
    seconds: float
    gate: int
    """Bytes that the gate itself had in memory at most."""
    largest: int
    """Bytes of the largest of the processes that it started."""
    together: int
    """Bytes of all of them, what they share counted once."""
    report: int
    """Bytes of ``report.json``."""
    page: int
    """Bytes of the HTML page."""
    page_cpu: float
    """CPU seconds of the command that writes it."""


def measure_scale(work: Path, python: Path, workers: int) -> list[Measure]:
    """Judge both projects, and compare what a row costs.

    Args:
        work: A folder that keeps everything.
        python: The interpreter of the environment that is made.
        workers: Of each session.

    Raises:
        ScriptError: The gate does not find every row bound.
    """
    few = _grown(many_rows(work / "scale-few", work, python, FEW_TESTS), work, workers)
    many = _grown(many_rows(work / "scale-many", work, python, MANY_TESTS), work, workers)
    return [*_of(few), *_of(many), _growth(few, many)]


def _growth(few: Grown, many: Grown) -> Measure:
    between = (many.cpu - few.cpu) / (many.rows - few.rows) / (few.cpu / few.rows)
    return Measure("a row more, in rows of the small session", between, "x", GROWTH)


def _of(one: Grown) -> list[Measure]:
    named = f"{one.rows:,} rows: "
    return [
        Measure(f"{named}CPU a row", 1000 * one.cpu / one.rows, "ms"),
        Measure(f"{named}CPU of the session", one.cpu, "s"),
        Measure(f"{named}wall time", one.seconds, "s"),
        Measure(f"{named}memory of the gate", one.gate / _MEBIBYTE, "MiB"),
        Measure(f"{named}memory of its largest process", one.largest / _MEBIBYTE, "MiB"),
        Measure(f"{named}memory of all together", one.together / _MEBIBYTE, "MiB"),
        Measure(f"{named}report.json", one.report / _MEBIBYTE, "MiB"),
        Measure(f"{named}page", one.page / _MEBIBYTE, "MiB"),
        Measure(f"{named}CPU to write the page", one.page_cpu, "s"),
    ]


def many_rows(folder: Path, work: Path, python: Path, tests: int) -> Workload:
    """Make a project whose patch adds a function for each test, with a table that binds all.

    Args:
        folder: Where.
        work: Keeps the environment.
        python: The interpreter of the environment that is made.
        tests: How many, each for one function of two or three ``if``.
    """
    repository = empty_repository(folder)
    commit(repository, {"branch_rows.json": "[]\n"}, "main")
    new = {"branch_rows.json": json.dumps([row for each in range(tests) for row in rows_of(each)])}
    for start in range(0, tests, _A_FILE):
        numbers = range(start, min(start + _A_FILE, tests))
        module = _module(start)
        new[f"{module}.py"] = f'"""{module}."""\n' + "".join(map(function, numbers))
        new[f"test_{module}.py"] = f"import {module}\n" + "".join(map(test, numbers))
    commit(repository, new, "patch")
    return Workload(repository, user_environment(work, python), ("--base", "main"), ".")


def function(number: int) -> str:
    """Return the source of a function that answers by where a number stands."""
    decisions = "".join(
        f"    if {predicate}:\n        return {answer!r}\n"
        for predicate, answer, _ in _decisions(number)
    )
    return f'\n\ndef place_{number}(x):\n{decisions}    return "near"\n'


def test(number: int) -> str:
    """Return the source of the test of such a function; it notices every side."""
    told = [(x, answer) for _, answer, x in _decisions(number)] + [(1, "near")]
    return (
        f"\n\ndef test_place_{number}():\n"
        f"    for x, place in {told!r}:\n"
        f"        assert {_module(number)}.place_{number}(x) == place\n"
    )


def rows_of(number: int) -> list[dict[str, str]]:
    """Return the rows of the table for such a function."""
    module = _module(number)
    return [
        {
            "id": sha256(f"if|{predicate}|{side}".encode()).hexdigest()[:12],
            "path": f"{module}.py",
            "kind": "if",
            "predicate": predicate,
            "side": side,
            "test": f"test_{module}.py::test_place_{number}",
        }
        for predicate, _, _ in _decisions(number)
        for side in ("true", "false")
    ]


def _decisions(number: int) -> list[tuple[str, str, int]]:
    """Return predicates, what is answered where they are true, and a number for which they are."""
    far = number + 2
    zero = [(f"x * {far} == 0", "zero", 0)] if number % 2 else []
    return [(f"x > {far}", "above", far + 1), (f"x < -{far}", "below", -far - 1), *zero]


def _module(number: int) -> str:
    return f"places_{number // _A_FILE:03}"


def _grown(workload: Workload, work: Path, workers: int) -> Grown:
    gate = workload.environment.command("invertgate")
    command: list[str | Path] = [gate, "run", *workload.asked, "--workers", str(workers)]
    folder, page = workload.repository, work / "page.html"
    with _watched(gate) as peaks:
        finished = run(command, cwd=folder, environ=environ())
    if finished.returncode != 0:
        raise ScriptError(f"the gate ended with {finished.returncode}:\n{finished.output[-2000:]}")
    report: dict[str, Any] = json.loads((folder / REPORT).read_text("utf-8"))
    rendered = run([gate, "report", "--html", page], cwd=folder, environ=environ())
    if rendered.returncode != 0:
        raise ScriptError(f"the page was not written:\n{rendered.output[-2000:]}")
    return Grown(
        rows=len(report["rows"]),
        bound=report["counts"]["bound"],
        cpu=finished.cpu,
        seconds=finished.seconds,
        gate=peaks.gate,
        largest=peaks.largest,
        together=peaks.together,
        report=(folder / REPORT).stat().st_size,
        page=page.stat().st_size,
        page_cpu=rendered.cpu,
    )


@dataclass(slots=True)
class Peaks:
    """The most memory that was seen, in bytes."""

    gate: int = 0
    largest: int = 0
    together: int = 0


@contextmanager
def _watched(gate: Path) -> Generator[Peaks]:
    """Look from time to time at the memory of a child that is started, and of all below it."""
    peaks, over = Peaks(), threading.Event()

    def look() -> None:
        while not over.wait(_EVERY):
            for child in psutil.Process().children():
                _note(child, gate, peaks)

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        yield peaks
    finally:
        over.set()
        watcher.join()


def _note(child: psutil.Process, gate: Path, peaks: Peaks) -> None:
    try:
        if str(gate) not in child.cmdline():
            return
        below = child.children(recursive=True)
    except psutil.Error:
        return
    own = list(_memory([child]))
    others = list(_memory(below))
    peaks.gate = max(peaks.gate, *(whole for whole, _ in own), 0)
    peaks.largest = max(peaks.largest, *(whole for whole, _ in others), 0)
    peaks.together = max(peaks.together, sum(part for _, part in (*own, *others)))


def _memory(processes: Sequence[psutil.Process]) -> Iterator[tuple[int, int]]:
    """Yield what each has in memory, and its part of that if what is shared is divided."""
    for process in processes:
        try:
            memory = process.memory_full_info()
        except psutil.Error:
            continue
        yield memory.rss, getattr(memory, "pss", memory.uss)
