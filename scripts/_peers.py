"""What mutation testers of others cost: how each is installed, called and understood."""

import json
import os
import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from importlib.metadata import distributions
from pathlib import Path
from typing import Any, Final

from _environments import Environment, Finished, ScriptError, make_environment, run
from _workloads import environ

LIMIT: Final = 240.0
"""Seconds on the clock that one call of one of them may take."""
_WORKERS: Final = "2"
_KILLED: Final = ("killed", "killed_by_error")


@dataclass(frozen=True, slots=True)
class Module:
    """A module that is mutated, in a project of its own for each tool."""

    folder: Path
    source: str
    tests: str
    package: str
    """The folder that is the package, from the top."""
    least: bool
    """Mutate as little of it as the tool lets itself be told."""


@dataclass(frozen=True, slots=True)
class Session:
    """What one call of a tool did, and what it cost."""

    mutants: int
    killed: int
    cpu: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Peer:
    """Another tool."""

    name: str
    packages: tuple[str, ...]
    command: Callable[[Module], Sequence[str]]
    """The words of its call."""
    told: Callable[[Module, Finished], Counter[str]]
    """Read how its mutants ended."""
    prepare: Callable[[Module, "Callable[[Sequence[str]], Finished]"], None] = lambda _, __: None
    """Write what it has to find, before anything is measured."""
    comparable: bool = True
    """It isolates mutants from each other, by a fork or a process."""
    starts: bool = True
    """Its call has a start that a mutant more does not pay for."""


def environment_of(
    peer: Peer, folder: Path, python: Path, project: Path, words: Sequence[str]
) -> Environment:
    """Make the environment of a tool, or use the one of an earlier call.

    Args:
        peer: The tool.
        folder: Where.
        python: The interpreter it is made from.
        project: Where pip runs.
        words: What is installed beside it.

    Raises:
        ScriptError: It cannot be installed.
    """
    return make_environment(folder, python, (*peer.packages, *words), cwd=project, variables={})


def version_of(peer: Peer, environment: Environment) -> str:
    """Return name and version of a tool as it is installed."""
    paths = [str(each) for each in environment.folder.glob("lib/python*/site-packages")]
    for found in distributions(name=peer.packages[0], path=paths):
        return f"{peer.name} {found.version}"
    return peer.name


def session_of(peer: Peer, module: Module, environment: Environment) -> Session:
    """Let a tool mutate a module.

    Raises:
        ScriptError: It does not come to its end, or says nothing of any mutant.
    """
    binaries = str(environment.folder / "bin")
    variables = {
        **environ(),
        "PATH": os.pathsep.join((binaries, environ().get("PATH", ""))),
        "VIRTUAL_ENV": str(environment.folder),
    }

    def call(words: Sequence[str]) -> Finished:
        program = environment.command(words[0])
        if not program.exists():
            raise ScriptError(f"it has no program {words[0]}")
        return run([program, *words[1:]], cwd=module.folder, environ=variables, limit=LIMIT)

    peer.prepare(module, call)
    finished = call(peer.command(module))
    if finished.returncode is None:
        raise ScriptError(f"not at its end after {LIMIT:g} seconds")
    try:
        told = peer.told(module, finished)
    except (OSError, ValueError, KeyError, sqlite3.Error) as error:
        last = (finished.errors + finished.output).strip().splitlines()[-1:] or [repr(error)]
        raise ScriptError(f"it ended with {finished.returncode}: {last[0][:200]}") from error
    mutants = told.total()
    if not mutants:
        raise ScriptError("it tried no mutant")
    killed = sum(told[word] for word in _KILLED)
    return Session(mutants, killed, finished.cpu, finished.seconds)


def _mutmut_settings(module: Module, _: object) -> None:
    shutil.rmtree(module.folder / "mutants", ignore_errors=True)
    path = module.folder / "pyproject.toml"
    settings = path.read_text("utf-8").split("\n[tool.mutmut]", maxsplit=1)[0]
    told = {
        "source_paths": [module.package],
        "only_mutate": [module.source],
        "pytest_add_cli_args_test_selection": [module.tests],
    }
    lines = "".join(f"{name} = {json.dumps(value)}\n" for name, value in told.items())
    path.write_text(f"{settings}\n[tool.mutmut]\n{lines}", "utf-8")


def _mutmut(module: Module) -> list[str]:
    first = ["*__mutmut_1"] if module.least else []
    return ["mutmut", "run", "--max-children", _WORKERS, *first]


def _mutmut_told(module: Module, _: Finished) -> Counter[str]:
    found: Counter[str] = Counter()
    codes = {None: "", 0: "survived", 1: "killed", 3: "killed", 5: "no tests", 33: "no tests"}
    for path in (module.folder / "mutants").rglob("*.meta"):
        ended: Mapping[str, int | None] = json.loads(path.read_text("utf-8"))["exit_code_by_key"]
        found.update(codes.get(code, "other") for code in ended.values())
    del found[""]  # it was not asked for these
    return found


_CONFIGURED: Final = "cosmic.toml"
_NOTED: Final = "cosmic.sqlite"
_FEW: Final = 8


def _cosmic_session(module: Module, call: Callable[[Sequence[str]], Finished]) -> None:
    """Make a session of a few mutants: each of them costs a process and all tests of the file."""
    (module.folder / _NOTED).unlink(missing_ok=True)
    test = f"python -m pytest -q -x -p no:cacheprovider {module.tests}"
    lines = (
        "[cosmic-ray]",
        f"module-path = {json.dumps(module.source)}",
        "timeout = 60.0",
        "excluded-modules = []",
        f"test-command = {json.dumps(test)}",
        "[cosmic-ray.distributor]",
        'name = "local"',
    )
    (module.folder / _CONFIGURED).write_text("\n".join(lines) + "\n", "utf-8")
    call(["cosmic-ray", "init", _CONFIGURED, _NOTED])
    few = _FEW if module.least else 3 * _FEW
    with closing(sqlite3.connect(module.folder / _NOTED)) as noted, noted:
        jobs = [job for (job,) in noted.execute("SELECT job_id FROM mutation_specs ORDER BY rowid")]
        kept = set(jobs[:: max(1, len(jobs) // few)][:few])
        gone = [(job,) for job in jobs if job not in kept]
        noted.executemany("DELETE FROM mutation_specs WHERE job_id = ?", gone)
        noted.executemany("DELETE FROM work_items WHERE job_id = ?", gone)


def _cosmic(_: Module) -> list[str]:
    return ["cosmic-ray", "exec", _CONFIGURED, _NOTED]


def _cosmic_told(module: Module, _: Finished) -> Counter[str]:
    with closing(sqlite3.connect(module.folder / _NOTED)) as noted:
        ended = noted.execute("SELECT test_outcome FROM work_results").fetchall()
    return Counter(str(outcome).lower() for (outcome,) in ended)


def _moonbuggy(module: Module) -> list[str]:
    words = ["moonbuggy", "--jobs", _WORKERS, "--json", "--no-cache", "--no-progress"]
    words += ["--source", str(Path(module.package).parent), "--include", module.source]
    words += [f"--pytest-arg={module.tests}"]
    return [*words, *(["--operators", "constant_int"] if module.least else [])]


def _moonbuggy_told(module: Module, _: Finished) -> Counter[str]:
    told = json.loads((module.folder / ".moonbuggy/summary.json").read_text("utf-8"))
    return Counter(told["counts"])


_IRRADIATED: Final = "irradiate-report.json"


def _irradiate(module: Module) -> list[str]:
    words = ["irradiate", "run", module.source, "--workers", _WORKERS, "--no-cache"]
    words += ["--tests-dir", module.tests, "--report", "json", "-o", _IRRADIATED]
    return [*words, *(["--sample", "60"] if module.least else [])]


def _irradiate_told(module: Module, _: Finished) -> Counter[str]:
    told = json.loads((module.folder / _IRRADIATED).read_text("utf-8"))
    mutants = [each for file in told["files"].values() for each in file["mutants"]]
    return Counter(str(each["status"]).lower() for each in mutants)


def _wesker(module: Module) -> list[str]:
    most = "1" if module.least else "0"
    return ["wesker", module.source, "--json", "--quiet", "--max-per-category", most]


def _wesker_told(_: Module, finished: Finished) -> Counter[str]:
    told: Mapping[str, Any] = json.loads(finished.output)["mutation"]
    return _of(told["total_mutants"], told["total_killed"])


def _fest(module: Module) -> list[str]:
    words = ["fest", "run", "-w", _WORKERS, "-s", module.source, "--progress", "plain"]
    return [*words, "--no-coverage-cache", "-o", "json"]


def _fest_told(_: Module, finished: Finished) -> Counter[str]:
    told: Mapping[str, Any] = json.loads(finished.output)
    return _of(told["mutants_tested"], told["killed"])


def _of(mutants: int, killed: int) -> Counter[str]:
    return Counter(killed=killed, other=mutants - killed)


def _forget(module: Module, _: object) -> None:
    """Remove what the run before left."""
    for name in (".moonbuggy", ".irradiate", ".wesker", _IRRADIATED, ".coverage", ".coverage.json"):
        path = module.folder / name
        shutil.rmtree(path, ignore_errors=True)
        with suppress(OSError):
            path.unlink()


PEERS: Final = (
    Peer("mutmut", ("mutmut",), _mutmut, _mutmut_told, _mutmut_settings),
    Peer("cosmic-ray", ("cosmic-ray",), _cosmic, _cosmic_told, _cosmic_session, starts=False),
    Peer("moonbuggy", ("moonbuggy",), _moonbuggy, _moonbuggy_told, _forget),
    Peer("irradiate", ("irradiate",), _irradiate, _irradiate_told, _forget),
    Peer("wesker", ("wesker",), _wesker, _wesker_told, _forget, comparable=False),
    Peer("fest", ("fest-mutate", "pytest-cov"), _fest, _fest_told, _forget, comparable=False),
)
