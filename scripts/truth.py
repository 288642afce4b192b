"""Measure how often a verdict is wrong, on tests whose right verdict is known by construction.

Builds a repository of two commits for each seed: hundreds of functions with one decision each, and
for each a test of a known kind (`_kinds.py`): one that notices, one that asserts nothing, that is
skipped, expected to fail, renamed, dependent on order, flaky at a known rate, and so on. Runs the
gate on it and compares. A test that fails by chance at a rate of p may be called bound at most as
often as the README says, p squared times (1 - p) squared; any other wrong verdict is a failure.
"""

import argparse
import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from _environments import Environment, ScriptError, gate_command, must, run
from _truths import (
    Tally,
    Truth,
    files_of,
    joined,
    markdown,
    said_of,
    summary,
    tallies,
    truths,
)
from _workloads import PROJECT, environ, user_environment

BEFORE: Final = {
    ".gitignore": "__pycache__/\n.pytest_cache/\n",
    "pyproject.toml": '[tool.pytest.ini_options]\npythonpath = ["."]\n',
    "branch_rows.json": "[]\n",
}
QUICK: Final = ("--timeout-floor", "1", "--wall-floor", "8")
"""Tests that never end are given less time than by default; the others take milliseconds."""
SAID_SOMETHING: Final = frozenset({0, 1, 3, 4, 8})
"""Exit codes of a gate that judged every row."""
STALE: Final = "stale_bytecode"
LAY: Final = """
import importlib.util, marshal, os, struct, sys
from _pytest.assertion.rewrite import PYC_TAIL
module, tests, lie = sys.argv[1:]
folder, name = os.path.split(tests)
rewritten = os.path.join(folder, "__pycache__", name[:-3] + PYC_TAIL)
for source, cached in (module, importlib.util.cache_from_source(module)), (tests, rewritten):
    facts = os.stat(source)
    header = struct.pack("<III", 0, int(facts.st_mtime) & 0xFFFFFFFF, facts.st_size & 0xFFFFFFFF)
    os.makedirs(os.path.dirname(cached), exist_ok=True)
    with open(cached, "wb") as file:
        code = marshal.dumps(compile(lie, source, "exec"))
        file.write(importlib.util.MAGIC_NUMBER + header + code)
"""
"""Lays byte code beside sources that fits their times and sizes and not what they say."""


def main(argv: Sequence[str] | None = None) -> int:
    """Count wrong verdicts; 1 if there are more than chance explains, 2 if it cannot be tried."""
    options = _parser().parse_args(argv)
    work = options.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    (work / ".gitignore").write_text("*\n", "utf-8")
    try:
        environment = _environment(work, options.python)
        parts = [_try_seed(work, environment, seed, options) for seed in options.seeds]
    except ScriptError as error:
        print(f"truth: {error}", file=sys.stderr)
        return 2
    counted = joined(parts)
    print(markdown(counted))
    print(f"\n{summary(counted)}")
    return 0 if all(tally.is_clean for tally in counted) else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="truth.py", description=__doc__)
    parser.add_argument("seeds", nargs="*", type=int, default=[1], metavar="SEED")
    parser.add_argument("--instances", type=int, default=20, help="rows of each kind, a seed")
    parser.add_argument("--flaky", type=int, default=100, help="rows of each flaky kind, a seed")
    parser.add_argument("--workers", type=int, default=2, help="of the gate")
    parser.add_argument("--cold", action="store_true", help="every run in a fresh process")
    parser.add_argument("--python", type=Path, help="has invertgate; by default one is set up")
    parser.add_argument("--work", type=Path, default=PROJECT / ".truth", help="keeps everything")
    return parser


def _environment(work: Path, python: Path | None) -> Environment:
    if python is None:
        return user_environment(work, Path(sys.executable))
    return Environment(python.absolute().parents[1])


def _try_seed(
    work: Path, environment: Environment, seed: int, options: argparse.Namespace
) -> list[Tally]:
    """Build the repository of a seed, judge it, and count; what is wrong is printed."""
    repository = work / f"seed-{seed}"
    made = truths(options.instances, options.flaky, seed)
    build(repository, made, environment)
    argv: list[str | Path] = [*gate_command(environment, cold=options.cold), "run", "--changed"]
    argv += ["--base", "main", "--json", "--workers", str(options.workers), *QUICK]
    finished = run(argv, cwd=repository, environ=environ())
    if finished.returncode not in SAID_SOMETHING or not finished.output.startswith("{"):
        said = "\n".join((finished.output + finished.errors).splitlines()[-25:])
        raise ScriptError(f"the gate ended with {finished.returncode}:\n{said}")
    report = json.loads(finished.output)
    print("".join(wrong(made, report)), end="", file=sys.stderr, flush=True)
    return tallies(made, report)


def build(repository: Path, made: Sequence[Truth], environment: Environment) -> None:
    """Make the repository of two commits, and lay false byte code in it.

    Args:
        repository: Its folder; what was there is gone.
        made: What it is to hold.
        environment: Its Python writes the byte code.

    Raises:
        ScriptError: git or Python failed.
    """
    shutil.rmtree(repository, ignore_errors=True)
    repository.mkdir(parents=True)
    must(["git", "init", "-q", "--initial-branch=main"], cwd=repository, environ=environ())
    _commit(repository, BEFORE)
    must(["git", "checkout", "-q", "-b", "patch"], cwd=repository, environ=environ())
    _commit(repository, {"steps/__init__.py": "", **files_of(made)})
    sources = f"steps/{STALE}.py", f"tests/test_{STALE}.py"
    must([environment.python, "-c", LAY, *sources, _lie(made)], cwd=repository, environ=environ())


def wrong(made: Sequence[Truth], report: dict[str, Any]) -> list[str]:
    """Say of each row with a wrong verdict what was said, and why; chance apart."""
    rows = {(row["path"], row["id"]): row for row in report["rows"]}
    lines = []
    for truth in made:
        row = rows.get((truth.path, truth.decision.id), {"verdict": "no row", "reason": ""})
        said = said_of(row)
        if said in truth.kind.right or (truth.kind.chance and said == "bound"):
            continue
        where = f"{truth.kind.name}: {truth.path} {truth.decision.predicate}, {truth.claim}"
        lines.append(f"{where}\n  {said}: {row['reason']}\n")
    return lines


def _lie(made: Sequence[Truth]) -> str:
    """Write what the false byte code says: nothing is decided, and every test passes."""
    numbers = [truth.claim.rpartition("_")[2] for truth in made if truth.kind.file == STALE]
    return "".join(f"def step_{n}(x): return 0\ndef test_{n}(): pass\n" for n in numbers)


def _commit(repository: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        (repository / path).parent.mkdir(exist_ok=True)
        (repository / path).write_text(text, "utf-8")
    must(["git", "add", "--all"], cwd=repository, environ=environ())
    must(["git", "commit", "-q", "--no-verify", "-m", "all"], cwd=repository, environ=environ())


if __name__ == "__main__":
    sys.exit(main())
