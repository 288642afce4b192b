"""Measures what the gate costs, in CPU seconds and as ratios within one run, beside its limits.

``generated``: a project of 100 functions with one ``if`` each. ``packaging``: the specifiers of
packaging, from the corpus. ``start``: a patch with nothing new. ``listing``: the outcomes of real
files. ``all``: each of these. ``scale``: projects of a thousand and of ten thousand rows (it takes
ten minutes). ``peers``: other mutation testers beside ours. What is compared is measured in turns,
and the median of the turns counts, since the clock and the speed of a shared machine mean little.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from _beside import measure_peers
from _environments import ScriptError, find_python, run
from _measures import (
    Measure,
    Session,
    as_json,
    distinct_runs,
    median,
    milliseconds,
    per_row,
    per_run,
    session,
    table,
    warm_rows,
)
from _scale import measure_scale
from _small import measure_listing, measure_start
from _workloads import PROJECT, Workload, environ, generated, nothing_new, packaging

FLOOR: Final = Path(__file__).with_name("_floor.py")
REPORT: Final = "invertgate.out/report.json"
FEW: Final = 5
COLD_A_TURN: Final = 4
LEAST_ROWS: Final = 100
PEERS_MINOR: Final = 12

RUN_TIMES_FLOOR: Final = 1.5
ROW_MILLISECONDS: Final = 40.0
TIMES_CHEAPER: Final = 20.0


@dataclass(frozen=True, slots=True)
class Wishes:
    """What is asked of every benchmark."""

    work: Path
    corpus: Path
    turns: int
    workers: int


@dataclass(frozen=True, slots=True)
class Turn:
    """What was measured in one turn."""

    few: Session
    many: Session
    floor: float
    """CPU seconds of a bare run, with the process that forks."""
    floor_fork: float
    """The same without it."""
    cold: float
    """CPU seconds of ``python -m pytest NODEID``."""


def main(argv: Sequence[str] | None = None) -> int:
    """Measure what was asked for; 1 if a limit is broken, 2 if it cannot be measured."""
    options = _parser().parse_args(argv)
    work = options.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    (work / ".gitignore").write_text("*\n", "utf-8")
    wishes = Wishes(work, options.corpus.resolve(), options.turns, options.workers)
    found: dict[str, list[Measure]] = {}
    try:
        for name in QUICK if options.benchmark == "all" else [options.benchmark]:
            found[name] = BENCHMARKS[name](wishes)
            if not options.json:
                print(table(name, found[name]), flush=True)
    except ScriptError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 2
    if options.json:
        print(as_json(found))
    return 0 if all(measure.ok for each in found.values() for measure in each) else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="bench.py", description=__doc__)
    parser.add_argument("benchmark", choices=[*BENCHMARKS, "all"])
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    parser.add_argument("--turns", type=int, default=3, help="repetitions of what is compared")
    parser.add_argument("--workers", type=int, default=1, help="workers of the gate's sessions")
    parser.add_argument("--corpus", type=Path, default=PROJECT / ".corpus", help="see corpus.py")
    parser.add_argument("--work", type=Path, default=PROJECT / ".bench", help="keeps everything")
    return parser


def _generated(wishes: Wishes) -> list[Measure]:
    workload = generated(wishes.work, Path(sys.executable))
    rows = _warm_rows(workload, wishes)
    turns = list(_turns(workload, rows, wishes))
    alone = list(_turns(workload, _first_of_each_test(rows), wishes))
    return [
        *_of_runs(turns),
        _row_cost("a row more, two to a test", turns),
        _row_cost("a row more, alone with its test", alone),
    ]


def _packaging(wishes: Wishes) -> list[Measure]:
    workload = packaging(wishes.work, wishes.corpus, Path(sys.executable))
    rows = _warm_rows(workload, wishes)
    turns = list(_turns(workload, rows, wishes))
    cost = median(per_row(turn.few, turn.many) for turn in turns)
    return [*_of_runs(turns), Measure("a row more", milliseconds(cost), "ms")]


def _start(wishes: Wishes) -> list[Measure]:
    return measure_start(nothing_new(wishes.work, Path(sys.executable)), wishes.work, wishes.turns)


def _listing(wishes: Wishes) -> list[Measure]:
    return measure_listing(wishes.corpus, wishes.turns)


def _scale(wishes: Wishes) -> list[Measure]:
    return measure_scale(wishes.work, Path(sys.executable), wishes.workers)


def _peers(wishes: Wishes) -> list[Measure]:
    # The newest of them ask for a newer Python than we do; all of them and we run on the same one.
    return measure_peers(wishes.work, wishes.corpus, find_python(PEERS_MINOR))


BENCHMARKS: Final[Mapping[str, Callable[[Wishes], list[Measure]]]] = {
    "generated": _generated,
    "packaging": _packaging,
    "start": _start,
    "listing": _listing,
    "scale": _scale,
    "peers": _peers,
}
QUICK: Final = ("generated", "packaging", "start", "listing")
"""What ``all`` measures."""


def _of_runs(turns: Sequence[Turn]) -> list[Measure]:
    """Compare our runs with bare ones and with cold ones, turn by turn."""
    runs = [per_run(turn.few, turn.many) for turn in turns]
    forks = [sum(turn.many.warm) / len(turn.many.warm) for turn in turns]
    many = [turn.many for turn in turns]
    ratios = [run / turn.floor for run, turn in zip(runs, turns, strict=True)]
    fork_ratios = [fork / turn.floor_fork for fork, turn in zip(forks, turns, strict=True)]
    cheaper = [turn.many.runs * turn.cold / turn.many.cpu for turn in turns]
    return [
        Measure("rows", many[0].rows, "", LEAST_ROWS, at_least=True),
        Measure("runs", many[0].runs, ""),
        Measure("a session with all rows", median(each.cpu for each in many), "s"),
        Measure("a bare run", milliseconds(median(turn.floor for turn in turns)), "ms"),
        Measure("a warm run more", milliseconds(median(runs)), "ms"),
        Measure("… in bare runs", median(ratios), "x", RUN_TIMES_FLOOR),
        Measure("a bare fork alone", milliseconds(median(t.floor_fork for t in turns)), "ms"),
        Measure("a warm fork alone", milliseconds(median(forks)), "ms"),
        Measure("… in bare forks", median(fork_ratios), "x", RUN_TIMES_FLOOR),
        Measure("a cold run", milliseconds(median(turn.cold for turn in turns)), "ms"),
        Measure(
            "cheaper than as many cold runs", median(cheaper), "x", TIMES_CHEAPER, at_least=True
        ),
    ]


def _row_cost(name: str, turns: Sequence[Turn]) -> Measure:
    cost = median(per_row(turn.few, turn.many) for turn in turns)
    return Measure(name, milliseconds(cost), "ms", ROW_MILLISECONDS)


def _turns(workload: Workload, rows: Sequence[Mapping[str, Any]], wishes: Wishes) -> Iterator[Turn]:
    """Measure in turns what is compared."""
    tests = [str(run["test"]) for run in distinct_runs(rows)]
    few = _rows_of_few_tests(rows)
    for number in range(wishes.turns):
        started = number * COLD_A_TURN
        cold = [
            _cold(workload, tests[(started + each) * 7 % len(tests)]) for each in range(COLD_A_TURN)
        ]
        # The speed of a shared machine drifts: bare runs before and after see the same of it.
        before = _floor(workload, tests, wishes.work)
        few_rows, all_rows = _session(workload, few, wishes), _session(workload, rows, wishes)
        after = _floor(workload, tests, wishes.work)
        yield Turn(
            few=few_rows,
            many=all_rows,
            floor=(before["cpu"] + after["cpu"]) / (before["runs"] + after["runs"]),
            floor_fork=(before["forks"] + after["forks"]) / (before["runs"] + after["runs"]),
            cold=median(cold),
        )


def _rows_of_few_tests(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return all rows of the first few tests, so that they share controls as all rows do."""
    tests = list(dict.fromkeys(row["test"] for row in rows))[:FEW]
    return [row for row in rows if row["test"] in tests]


def _first_of_each_test(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return list({row["test"]: row for row in reversed(rows)}.values())[::-1]


def _warm_rows(workload: Workload, wishes: Wishes) -> list[Mapping[str, Any]]:
    """Judge every row once, and return those that need no fresh process."""
    _gate(workload, wishes.workers, ())
    return warm_rows(_report(workload))


def _session(workload: Workload, rows: Sequence[Mapping[str, Any]], wishes: Wishes) -> Session:
    cpu = _gate(workload, wishes.workers, [f"{row['path']}:{row['id']}" for row in rows])
    found = session(_report(workload), cpu)
    if found.rows != len(rows):
        raise ScriptError(f"{found.rows} rows were judged, not {len(rows)}")
    return found


def _gate(workload: Workload, workers: int, ids: Sequence[str]) -> float:
    words = [word for each in ids for word in ("--id", each)]
    words += ["--workers", str(workers)]
    command: list[str | Path] = [
        workload.environment.command("invertgate"),
        "run",
        *workload.asked,
        *words,
    ]
    finished = run(command, cwd=workload.repository, environ=environ())
    if finished.returncode not in (0, 1, 3):
        raise ScriptError(f"the gate ended with {finished.returncode}:\n{finished.output[-2000:]}")
    return finished.cpu


def _report(workload: Workload) -> dict[str, Any]:
    report: dict[str, Any] = json.loads((workload.repository / REPORT).read_text("utf-8"))
    return report


def _floor(workload: Workload, tests: Sequence[str], work: Path) -> dict[str, float]:
    orders, answer = work / "orders.json", work / "answer.json"
    orders.write_text(json.dumps(list(tests)), "utf-8")
    answer.unlink(missing_ok=True)
    command: list[str | Path] = [workload.environment.python, FLOOR, orders, answer, workload.tests]
    finished = run(command, cwd=workload.repository, environ=environ())
    if finished.returncode != 0:
        raise ScriptError(f"the bare runs ended with {finished.returncode}:\n{finished.output}")
    told: dict[str, float] = json.loads(answer.read_text("utf-8"))
    return told


def _cold(workload: Workload, test: str) -> float:
    command: list[str | Path] = [
        workload.environment.python,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        test,
    ]
    finished = run(command, cwd=workload.repository, environ=environ())
    if finished.returncode != 0:
        raise ScriptError(f"{test} does not pass by itself:\n{finished.output[-2000:]}")
    return finished.cpu


if __name__ == "__main__":
    sys.exit(main())
