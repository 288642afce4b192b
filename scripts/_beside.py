"""A row of ours beside a mutant of other tools, on the same modules and tests, in one run."""

import json
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from _environments import Environment, ScriptError, must, run
from _measures import Measure, distinct_runs, median, milliseconds
from _pairs import read_pairs
from _peers import PEERS, Module, Peer, Session, environment_of, session_of, version_of
from _workloads import (
    SPECIFIERS,
    TABLE,
    TEST_SPECIFIERS,
    Workload,
    commit,
    empty_repository,
    environ,
    packaging,
    step,
    step_rows,
    step_test,
    user_environment,
)

SMALL: Final = 10
LARGE: Final = 50
"""Functions of the generated projects; what a mutant more costs is the difference."""
PACKAGING_ROWS: Final = 60
_SOURCE: Final = "src/steps/__init__.py"
_TESTS: Final = "tests/test_steps.py"
_SETTINGS: Final = (
    '[project]\nname = "steps"\nversion = "1"\n'
    '[tool.pytest.ini_options]\npythonpath = ["src"]\ntestpaths = ["tests"]\n'
)
_COLD: Final = 5


@dataclass(frozen=True, slots=True)
class Asked:
    """What all tools are asked about."""

    name: str
    ours: Sequence[Workload]
    """A small and a large session, or one."""
    modules: Callable[[Path], Sequence[Module]]
    """The same for another tool, made in a folder."""
    rows: int | None
    """How many rows of ours are judged; None means all."""


def measure_peers(work: Path, corpus: Path, python: Path) -> list[Measure]:
    """Measure them all on a generated project and on the specifiers of packaging.

    Raises:
        ScriptError: The gate does not come to its end, or packaging is not prepared.
    """
    folder = work / "peers"
    folder.mkdir(exist_ok=True)
    words = read_pairs()["packaging"].install
    real = packaging(work, corpus, python)
    generated = Asked("generated", _generated(folder, python), _generated_for, None)
    specifiers = Asked(
        "specifiers", [real], lambda there: [_packaging_for(there, corpus)], PACKAGING_ROWS
    )
    environments = dict(_environments(folder, corpus, python, words))
    return [
        measure
        for asked in (generated, specifiers)
        for measure in _measured(asked, environments, folder)
    ]


def _environments(
    folder: Path, corpus: Path, python: Path, words: Sequence[str]
) -> Iterator[tuple[str, Environment | str]]:
    """Yield the environment of each tool, or why there is none."""
    for peer in PEERS:
        project = _packaging_for(folder / peer.name, corpus).folder
        where = folder / peer.name / "environment"
        try:
            yield peer.name, environment_of(peer, where, python, project, words)
        except ScriptError as error:
            yield peer.name, f"cannot be installed: {str(error).splitlines()[-1][:200]}"


def _measured(
    asked: Asked, environments: Mapping[str, Environment | str], folder: Path
) -> Iterator[Measure]:
    ours = [_judged(workload, asked.rows) for workload in asked.ours]
    row, wall = cost_of_one_more(ours), ours[-1].seconds / ours[-1].mutants
    cold = _cold(asked.ours[-1])
    yield from _described(f"{asked.name}: rows of ours", ours)
    yield Measure(f"{asked.name}: a cold run of one test", milliseconds(cold), "ms")
    yield Measure("… in rows of ours", cold / row, "x")
    for peer in PEERS:
        try:
            name, theirs = _sessions(
                peer, environments[peer.name], asked.modules(folder / peer.name)
            )
        except ScriptError as error:
            yield Measure(f"{asked.name}: {peer.name} did not run: {error}", 0, "mutants")
            continue
        yield from _described(f"{asked.name}: {name}", theirs)
        yield _ratio(peer, row, theirs)
        clock = theirs[-1].seconds / theirs[-1].mutants
        yield Measure("a row of ours, in mutants of theirs (wall)", wall / clock, "x")


def _sessions(
    peer: Peer, environment: Environment | str, modules: Sequence[Module]
) -> tuple[str, list[Session]]:
    """Return what a tool is called, and what its sessions cost."""
    print(f"bench: {peer.name} in {modules[-1].folder}", file=sys.stderr, flush=True)
    if isinstance(environment, str):
        raise ScriptError(environment)
    sessions = [session_of(peer, module, environment) for module in modules]
    return version_of(peer, environment), sessions if peer.starts else sessions[-1:]


def _ratio(peer: Peer, row: float, theirs: Sequence[Session]) -> Measure:
    """Compare; those that run all mutants in one process have other verdicts, and no limit."""
    limit = 1.0 if peer.comparable else None
    return Measure(
        "a row of ours, in mutants of theirs (CPU)", row / cost_of_one_more(theirs), "x", limit
    )


def _described(name: str, sessions: Sequence[Session]) -> Iterator[Measure]:
    last = sessions[-1]
    yield Measure(name, last.mutants, "")
    yield Measure("… of them killed", last.killed, "")
    yield Measure("… CPU of the session, for each", milliseconds(last.cpu / last.mutants), "ms")
    if len(sessions) > 1:
        yield Measure("… CPU of one more", milliseconds(cost_of_one_more(sessions)), "ms")


def cost_of_one_more(sessions: Sequence[Session]) -> float:
    """Return the CPU seconds of one more; with its part of the start if that is all there is.

    Raises:
        ScriptError: The sessions do not differ.
    """
    last = sessions[-1]
    if len(sessions) == 1:
        return last.cpu / last.mutants
    first = sessions[0]
    if last.mutants <= first.mutants:
        raise ScriptError("the large session has no more mutants than the small one")
    if last.cpu <= first.cpu:  # it costs less than starts differ by
        return last.cpu / last.mutants
    return (last.cpu - first.cpu) / (last.mutants - first.mutants)


def _judged(workload: Workload, most: int | None) -> Session:
    table = json.loads((workload.repository / TABLE).read_text("utf-8"))
    asked = [] if most is None else [row for row in table if row["test"]][:most]
    ids = [word for row in asked for word in ("--id", f"{row['path']}:{row['id']}")]
    gate = workload.environment.command("invertgate")
    command: list[str | Path] = [gate, "run", *workload.asked, *ids, "--workers", "2"]
    finished = run(command, cwd=workload.repository, environ=environ())
    if finished.returncode not in (0, 1, 3):
        raise ScriptError(f"the gate ended with {finished.returncode}:\n{finished.output[-2000:]}")
    report = _report(workload)
    return Session(len(report["rows"]), report["counts"]["bound"], finished.cpu, finished.seconds)


def _report(workload: Workload) -> dict[str, Any]:
    path = workload.repository / "invertgate.out/report.json"
    report: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return report


def _cold(workload: Workload) -> float:
    """Return the CPU seconds of a claimed test in a pytest of its own."""
    tests = list(dict.fromkeys(run["test"] for run in distinct_runs(_report(workload)["rows"])))
    pytest: list[str | Path] = [workload.environment.python, "-m", "pytest", "-q"]
    return median(
        run([*pytest, "-p", "no:cacheprovider", test], cwd=workload.repository).cpu
        for test in tests[:: max(1, len(tests) // _COLD)][:_COLD]
    )


def _generated(folder: Path, python: Path) -> list[Workload]:
    environment = user_environment(folder, python)
    return [
        Workload(_ours(folder / f"ours-{count}", count), environment, ("--base", "main"), _TESTS)
        for count in (SMALL, LARGE)
    ]


def _ours(folder: Path, count: int) -> Path:
    repository = empty_repository(folder)
    written = _files(count)
    _folders(repository)
    commit(repository, {"pyproject.toml": written.pop("pyproject.toml"), TABLE: "[]\n"}, "main")
    rows = [
        {**row, "path": _SOURCE, "test": f"tests/{row['test']}"}
        for number in range(count)
        for row in step_rows(number)
    ]
    commit(repository, {**written, TABLE: json.dumps(rows)}, "patch")
    return repository


def _generated_for(there: Path) -> list[Module]:
    return [_module_for(there / f"generated-{count}", count) for count in (SMALL, LARGE)]


def _module_for(folder: Path, count: int) -> Module:
    repository = empty_repository(folder)
    _folders(repository)
    commit(repository, _files(count), "patch")
    return Module(folder, _SOURCE, _TESTS, "src/steps", least=False)


def _folders(repository: Path) -> None:
    for path in (_SOURCE, _TESTS):
        (repository / path).parent.mkdir(parents=True)


def _files(count: int) -> dict[str, str]:
    numbers = range(count)
    return {
        "pyproject.toml": _SETTINGS,
        _SOURCE: '"""Steps."""\n' + "".join(map(step, numbers)),
        _TESTS: "import steps\n" + "".join(map(step_test, numbers)),
    }


def _packaging_for(there: Path, corpus: Path) -> Module:
    repository = there / "packaging"
    if not (repository / SPECIFIERS).exists():
        there.mkdir(exist_ok=True)
        shutil.rmtree(repository, ignore_errors=True)
        prepared = str(corpus / "packaging" / "repository")
        words = ["git", "clone", "-q", "--branch", "patch", prepared, str(repository)]
        must(words, cwd=there, environ=environ())
    return Module(repository, SPECIFIERS, TEST_SPECIFIERS, "src/packaging", least=True)
