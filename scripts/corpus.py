"""Try the gate on pairs of real releases, and have the oracle judge what it says of them.

For each pair of ``corpus.csv`` the two releases become a repository of two commits with an
environment. ``invertgate bind`` looks for tests, ``invertgate run --changed`` judges the rows with
each number of workers, with ``--cold`` once more in fresh processes only, and the oracle judges a
sample of the verdicts. All of it is kept in the work folder, so that a second call only does what
has to be done anew.
"""

import argparse
import hashlib
import json
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from _environments import Finished, ScriptError, find_python, gate_command, must, run
from _pairs import PYTHON_MINOR, Workplace, choose, prepare, read_pairs, restore, run_tests
from _results import (
    GateRun,
    Result,
    Way,
    differences,
    gate_run,
    line,
    load,
    markdown,
    rotated,
    save,
)

PROJECT: Final = Path(__file__).resolve().parents[1]
ORACLE: Final = Path(__file__).with_name("oracle.py")
TABLE: Final = "branch_rows.json"
SAID_SOMETHING: Final = frozenset({0, 1, 3, 4, 8})
"""Exit codes of a gate that judged every row."""


@dataclass(frozen=True, slots=True)
class Wishes:
    """What is asked of each pair."""

    ways: tuple[Way, ...]
    oracle_rows: int | None
    seed: int
    rotate: int
    nearest: bool
    reuse_table: bool
    limit: float


def main(argv: Sequence[str] | None = None) -> int:
    """Run the gate on the chosen pairs; 1 if anything disagrees, 2 if a pair cannot be tried."""
    options = _parser().parse_args(argv)
    pairs = read_pairs()
    try:
        chosen = choose(pairs, pairs if options.all else options.pairs)
    except ScriptError as error:
        print(f"corpus: {error}", file=sys.stderr)
        return 2
    if options.markdown:
        print(markdown(result for pair in chosen for result in load(options.work / pair.name)))
        return 0
    python = find_python(PYTHON_MINOR)
    failed, clean = False, True
    for pair in chosen:
        try:
            workplace = prepare(pair, options.work, python)
            if options.prepare:
                clean &= _show_tests(workplace, options.limit)
                continue
            result = _try_gate(workplace, options.work, _wishes(options))
        except ScriptError as error:
            print(f"{pair.name}: {error}", file=sys.stderr, flush=True)
            failed = True
            continue
        clean &= result.is_clean
    return 2 if failed else 0 if clean else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="corpus.py", description=__doc__)
    parser.add_argument("pairs", nargs="*", metavar="PAIR", help="names from corpus.csv")
    parser.add_argument("--all", action="store_true", help="all pairs")
    parser.add_argument("--work", type=Path, default=PROJECT / ".corpus", help="keeps everything")
    parser.add_argument("--workers", default="1,2", help="numbers of workers to compare")
    parser.add_argument("--cold", action="store_true", help="compare with fresh processes too")
    parser.add_argument("--oracle-rows", type=int, help="let the oracle judge only so many rows")
    parser.add_argument("--seed", type=int, default=0, help="which ones")
    parser.add_argument("--rotate", type=int, default=0, metavar="K", help="claim wrong tests")
    parser.add_argument("--nearest", action="store_true", help="judge what bind did not bind too")
    parser.add_argument("--reuse-table", action="store_true", help="use the last table, no bind")
    parser.add_argument("--limit", type=float, default=1800.0, help="seconds for one command")
    parser.add_argument("--prepare", action="store_true", help="only set up and run the tests")
    parser.add_argument("--markdown", action="store_true", help="only print the table of results")
    return parser


def _wishes(options: argparse.Namespace) -> Wishes:
    warm = [Way(int(number)) for number in options.workers.split(",")]
    cold = [Way(max(way.workers for way in warm), cold=True)] if options.cold else []
    return Wishes(
        ways=(*warm, *cold),
        oracle_rows=options.oracle_rows,
        seed=options.seed,
        rotate=options.rotate,
        nearest=options.nearest,
        reuse_table=options.reuse_table or options.rotate > 0,
        limit=options.limit,
    )


def _show_tests(workplace: Workplace, limit: float) -> bool:
    finished = run_tests(workplace, limit)
    restore(workplace)
    last_line = "".join((finished.output + finished.errors).strip().splitlines()[-1:])
    print(f"{workplace.pair.name}: {last_line}", flush=True)
    return finished.returncode == 0


def _try_gate(workplace: Workplace, work: Path, wishes: Wishes) -> Result:
    """Bind, run and judge one pair.

    Raises:
        ScriptError: The gate did not get to its end.
    """
    _install_gate(workplace, work)
    bind_seconds = _fill_table(workplace, wishes)
    runs, different = _judge(workplace, wishes)
    print("\n".join(different), end="\n" if different else "", flush=True)
    judged, disagreements = _ask_oracle(workplace, f"run-{wishes.ways[0].name}.json", wishes)
    if wishes.nearest and not wishes.rotate and (workplace.folder / "bind.json").exists():
        more_judged, more_disagreements = _ask_oracle(workplace, "bind.json", wishes)
        judged, disagreements = judged + more_judged, disagreements + more_disagreements
    result = Result(
        pair=workplace.pair.name,
        claims="rotated" if wishes.rotate else "bind",
        bind_seconds=bind_seconds,
        runs=runs,
        differences=different,
        oracle_rows=judged,
        disagreements=disagreements,
    )
    save(result, workplace.folder)
    restore(workplace)
    print(line(result), flush=True)
    return result


def _judge(workplace: Workplace, wishes: Wishes) -> tuple[tuple[GateRun, ...], tuple[str, ...]]:
    """Run the gate in every way; give what each cost, and what they do not agree on."""
    reports: dict[Way, dict[str, Any]] = {}
    runs = []
    for way in wishes.ways:
        words = ["run", "--changed", "--workers", str(way.workers), "--json"]
        finished = _call_gate(workplace, words, wishes.limit, cold=way.cold)
        reports[way] = json.loads(finished.output)
        _keep(workplace, f"run-{way.name}.json", finished.output)
        runs.append(gate_run(reports[way], way, finished.seconds, finished.cpu))
    return tuple(runs), differences(reports)


def _install_gate(workplace: Workplace, work: Path) -> None:
    """Install this project as a user would get it, anew if it has changed."""
    environment = workplace.environment
    wheels = work.resolve() / "wheels"
    shutil.rmtree(wheels, ignore_errors=True)
    must(
        [environment.python, "-m", "pip", "wheel", "-q", "--no-deps", "-w", wheels, PROJECT],
        cwd=work,
    )
    (wheel,) = wheels.glob("invertgate-*.whl")
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    stamp = environment.folder / "gate"
    if stamp.exists() and stamp.read_text("utf-8") == digest:
        return
    environment.install([wheel], cwd=work)
    environment.install(["--force-reinstall", "--no-deps", wheel], cwd=work)
    stamp.write_text(digest, "utf-8")


def _fill_table(workplace: Workplace, wishes: Wishes) -> float:
    """Bring a table into the repository and tell how long it took to make it."""
    restore(workplace)
    table = workplace.repository / TABLE
    kept = workplace.folder / TABLE
    seconds = 0.0
    if wishes.reuse_table and kept.exists():
        shutil.copy(kept, table)
    else:
        tests = [word for path in workplace.pair.tests for word in ("--tests", path)]
        flags = ["--workers", str(max(way.workers for way in wishes.ways)), "--json"]
        finished = _call_gate(workplace, ["bind", *tests, *flags], wishes.limit)
        _keep(workplace, "bind.json", finished.output)
        shutil.copy(table, kept)
        seconds = finished.seconds
    if wishes.rotate:
        rows = rotated(json.loads(table.read_text("utf-8")), wishes.rotate)
        table.write_text(json.dumps(rows, indent=2), "utf-8")
    return seconds


def _call_gate(
    workplace: Workplace, words: Sequence[str], limit: float, *, cold: bool = False
) -> Finished:
    command, *rest = words
    include = f"{workplace.pair.sources}/**/*.py"
    gate = gate_command(workplace.environment, cold=cold)
    argv: list[str | Path] = [*gate, command, "--base", "main", "--include", include, *rest]
    finished = run(argv, cwd=workplace.repository, limit=limit)
    _keep(workplace, f"{command}-errors.txt", finished.errors)
    if finished.returncode not in SAID_SOMETHING or not finished.output.startswith("{"):
        said = "\n".join((finished.output + finished.errors).splitlines()[-25:])
        raise ScriptError(f"invertgate {' '.join(words)} ended with {finished.returncode}:\n{said}")
    return finished


def _ask_oracle(workplace: Workplace, report: str, wishes: Wishes) -> tuple[int, int]:
    """Let the oracle judge a sample and tell how many rows it judged and how often it disagrees.

    Raises:
        ScriptError: The oracle did not get to its end.
    """
    answers = workplace.folder / "oracle.json"
    python = workplace.environment.python
    argv: list[str | Path] = [python, ORACLE, workplace.repository, "--python", python]
    argv += ["--report", workplace.folder / report, "--json", answers, "--seed", str(wishes.seed)]
    argv += ["--jobs", str(max(way.workers for way in wishes.ways))]
    if wishes.oracle_rows is not None:
        argv += ["--sample", str(wishes.oracle_rows)]
    answers.unlink(missing_ok=True)
    finished = run(argv, cwd=workplace.folder)
    print(finished.output, end="", flush=True)
    if not answers.exists():
        raise ScriptError(f"the oracle ended with {finished.returncode}:\n{finished.errors}")
    told = json.loads(answers.read_text("utf-8"))
    return (
        sum(bool(answer["verdict"]) for answer in told),
        sum(not answer["agrees"] for answer in told),
    )


def _keep(workplace: Workplace, name: str, text: str) -> None:
    Path(workplace.folder, name).write_text(text, "utf-8")


if __name__ == "__main__":
    sys.exit(main())
