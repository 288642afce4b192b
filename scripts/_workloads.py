"""What the benchmarks run on: a generated project, a real one, and a patch with nothing new."""

import json
import os
import shutil
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final

from _environments import Environment, ScriptError, make_environment, must, run
from _pairs import GIT_ENVIRON, read_pairs

PROJECT: Final = Path(__file__).resolve().parents[1]
FUNCTIONS: Final = 100
MODULE: Final = "steps.py"
TESTS: Final = "test_steps.py"
TABLE: Final = "branch_rows.json"
SPECIFIERS: Final = "src/packaging/specifiers.py"
TEST_SPECIFIERS: Final = "tests/test_specifiers.py"
_NOT_A_USERS: Final = (
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONPATH",
    "PYTEST_ADDOPTS",
    "PYTHONUNBUFFERED",
)
_SETTINGS: Final = '[tool.pytest.ini_options]\npythonpath = ["."]\n'
_IGNORED: Final = "__pycache__/\n.pytest_cache/\n"


@dataclass(frozen=True, slots=True)
class Workload:
    """A repository on whose working tree the gate is run, and what it is asked."""

    repository: Path
    environment: Environment
    asked: tuple[str, ...]
    """The arguments of ``invertgate run`` that choose the patch."""
    tests: str
    """The file that the claimed tests stand in."""


def environ() -> dict[str, str]:
    """Return our process environment as a user has it: bytecode is kept, nothing is added."""
    return {
        name: text
        for name, text in os.environ.items()
        if name not in _NOT_A_USERS and not name.startswith("GIT_")
    } | GIT_ENVIRON


def generated(work: Path, python: Path) -> Workload:
    """Make a project whose patch adds functions of one ``if`` each, with a table that binds all."""
    repository = empty_repository(work / "generated")
    commit(repository, {MODULE: '"""Steps."""\n', TABLE: "[]\n"}, "main")
    new = {
        MODULE: '"""Steps."""\n' + "".join(map(step, range(FUNCTIONS))),
        TESTS: "import steps\n" + "".join(map(step_test, range(FUNCTIONS))) + _ONE_MORE,
        TABLE: json.dumps([row for number in range(FUNCTIONS) for row in step_rows(number)]),
    }
    commit(repository, new, "patch")
    return Workload(repository, user_environment(work, python), ("--base", "main"), TESTS)


def step(number: int) -> str:
    """Return the source of a function of one ``if``."""
    return (
        f"\n\ndef step_{number}(x):\n"
        f"    if x > {number}:\n"
        '        return "above"\n'
        '    return "below"\n'
    )


def step_test(number: int) -> str:
    """Return the source of the one-line test of such a function; it notices either side."""
    sides = f"(steps.step_{number}({number + 1}), steps.step_{number}({number}))"
    return f'\n\ndef test_step_{number}():\n    assert {sides} == ("above", "below")\n'


_ONE_MORE: Final = "\n\ndef test_nothing():\n    assert steps\n"


def step_rows(number: int) -> list[dict[str, str]]:
    """Return the rows of the table for such a function."""
    predicate = f"x > {number}"
    return [
        {
            "id": sha256(f"if|{predicate}|{side}".encode()).hexdigest()[:12],
            "path": MODULE,
            "kind": "if",
            "predicate": predicate,
            "side": side,
            "test": f"{TESTS}::test_step_{number}",
        }
        for side in ("true", "false")
    ]


def nothing_new(work: Path, python: Path) -> Workload:
    """Make the same project with a patch that changes words only."""
    repository = empty_repository(work / "nothing-new")
    steps = "".join(map(step, range(FUNCTIONS)))
    old = {MODULE: '"""Steps."""\n' + steps, TABLE: "[]\n", "README.md": "Steps.\n"}
    commit(repository, old, "main")
    commit(repository, {MODULE: '"""All steps."""\n' + steps, "README.md": "Steps!\n"}, "patch")
    return Workload(repository, user_environment(work, python), ("--base", "main"), TESTS)


def packaging(work: Path, corpus: Path, python: Path) -> Workload:
    """Make a copy of packaging and its environment, with a table for all of its specifiers.

    The table is searched once (that takes minutes) and kept.

    Raises:
        ScriptError: The corpus has no packaging, or no test is found.
    """
    prepared = corpus / "packaging" / "repository"
    if not (prepared / ".git" / "complete").exists():
        raise ScriptError(
            f"{prepared} is not there; python3 scripts/corpus.py packaging --prepare makes it"
        )
    repository = work / "packaging"
    if not (repository / SPECIFIERS).exists():
        shutil.rmtree(repository, ignore_errors=True)
        _git(work, "clone", "-q", "--branch", "patch", str(prepared), str(repository))
    words = read_pairs()["packaging"].install
    environment = make_environment(
        work / "packaging-environment", python, words, cwd=repository, variables={}
    )
    _install_ourselves(
        environment, with_dependencies=not environment.command("invertgate").exists()
    )
    if not (repository / TABLE).exists():
        _bind(repository, environment)
    return Workload(repository, environment, (SPECIFIERS,), TEST_SPECIFIERS)


def _bind(repository: Path, environment: Environment) -> None:
    command: list[str | Path] = [environment.command("invertgate"), "bind", SPECIFIERS]
    options = ["--tests", TEST_SPECIFIERS, "--tries", "5"]
    finished = run([*command, *options], cwd=repository, environ=environ())
    if not (repository / TABLE).exists():
        raise ScriptError(f"invertgate bind wrote no table:\n{finished.output[-2000:]}")


def user_environment(work: Path, python: Path) -> Environment:
    """Make an environment that has invertgate as its users do: a wheel, compiled."""
    folder = work / "environment"
    environment = make_environment(folder, python, ("pytest",), cwd=work, variables={})
    _install_ourselves(
        environment, with_dependencies=not environment.command("invertgate").exists()
    )
    return environment


def _install_ourselves(environment: Environment, *, with_dependencies: bool) -> None:
    if with_dependencies:
        environment.install([PROJECT], cwd=PROJECT)
    else:
        environment.install(["--no-deps", "--force-reinstall", PROJECT], cwd=PROJECT)


def empty_repository(folder: Path) -> Path:
    """Make a repository with nothing but the options of pytest; what was there is gone."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    _git(folder, "init", "-q", "--initial-branch=main")
    commit(folder, {".gitignore": _IGNORED, "pyproject.toml": _SETTINGS}, "main")
    return folder


def commit(repository: Path, files: dict[str, str], branch: str) -> None:
    """Commit files on a branch, which is made unless it is ``main``."""
    if branch != "main":
        _git(repository, "checkout", "-q", "-b", branch)
    for path, text in files.items():
        (repository / path).write_text(text, "utf-8")
    _git(repository, "add", "--all")
    _git(repository, "commit", "-q", "--no-verify", "-m", branch)


def _git(folder: Path, *words: str) -> None:
    must(["git", *words], cwd=folder, environ=environ())
