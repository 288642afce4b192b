"""Whether a project's modules come from a private copy: pytest collects in one, and is asked."""

import json
import posixpath
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from invertgate.config import Config
from invertgate.copies import copies
from invertgate.isolation.trees import environments_in
from invertgate.lane_run import local_runner
from invertgate.lanes.runners import Room, ask_pytest
from invertgate.patch.git import Repository
from invertgate.patch.projects import Project
from invertgate.report.checkup import Check, ok, problem, warning
from invertgate.report.words import counted

SECONDS: Final = 180.0
"""On the clock, for collecting all tests."""
_PLUGIN: Final = "_invertgate_inside.origins"
_ORIGINS: Final = "INVERTGATE_ORIGINS"
_PACKAGES: Final = "INVERTGATE_PACKAGES"
_SHOWN: Final = 3


@dataclass(frozen=True, slots=True)
class Told:
    """What a pytest said that collected in a private copy."""

    copy: Path
    """The top of the copy."""
    tests: int
    errors: tuple[str, ...]
    """What could not be collected."""
    packages: Mapping[str, Mapping[str, str]]
    """By name: the file that it came from, or the error."""
    files: Mapping[str, str]
    """By name: the file of every module that was loaded."""
    threads: tuple[str, ...]
    last_words: str = ""
    """What pytest said, if it did not come to its end."""


def asked(
    repository: Repository, project: Project, config: Config, paths: Iterable[str]
) -> Iterator[Check]:
    """Collect a project's tests in a private copy, and say from where its modules came.

    Args:
        repository: The user's.
        project: The project whose tests are collected; nothing of them is run.
        config: Says which files are copied, and how pytest is started.
        paths: All Python files of the project, from the top of the repository.
    """
    names = sorted(packages_of(paths, project))
    told = _collected(repository, project, config, names)
    if told.last_words:
        cure = "run `python -m pytest --collect-only -q` here, and mend what it says"
        yield problem("tests", f"pytest did not collect in a copy: {told.last_words}", cure)
        return
    yield _tests(told)
    yield from _origins(told, repository.top, names)
    if told.threads:
        running = f"imports start threads ({', '.join(told.threads[:_SHOWN])})"
        cure = "start them in fixtures: a forked run lacks them, and a fresh process takes longer"
        yield warning("fork", running, cure)


def packages_of(paths: Iterable[str], project: Project) -> set[str]:
    """Name the outermost packages that hold some files and are no tests.

    Args:
        paths: Python files, from the top of the repository.
        project: Says which of them are tests.
    """
    known = set(paths)
    found = set()
    for path in known:
        if project.makes_test(path):
            continue
        package = _outermost(posixpath.dirname(path), known)
        parent, name = posixpath.split(package)
        is_code = parent in {project.folder, posixpath.join(project.folder, "src")}
        if name.isidentifier() and is_code and not name.startswith("test"):
            found.add(name)
    return found


def _outermost(folder: str, known: set[str]) -> str:
    """Return the outermost package around a folder, or nothing."""
    package = ""
    while folder and posixpath.join(folder, "__init__.py") in known:
        package = folder
        folder = posixpath.dirname(folder)
    return package


def _collected(repository: Repository, project: Project, config: Config, names: list[str]) -> Told:
    with copies(repository, "", config, 1, repository.environment) as lent:
        answer = lent.trees.place(0) / "answer.json"
        origins = lent.trees.place(0) / "origins.json"
        environment = {
            **lent.environment(0, project.folder),
            _ORIGINS: str(origins),
            _PACKAGES: json.dumps(names),
        }
        room = Room(lent.folder(0, project.folder), environment, answer)
        more = ("-p", _PLUGIN, "--collect-only", "--continue-on-collection-errors")
        witness, said = ask_pytest(local_runner(config, lent, SECONDS, *more), room, ())
        if witness is None or not origins.is_file():
            words = _last_words(said.stderr) or _last_words(said.stdout) or f"exit {said.code}"
            return Told(lent.folder(0), 0, (), {}, {}, (), str(said.cut or words))
        return _told(lent.folder(0), witness, json.loads(origins.read_bytes()))


def _told(copy: Path, witness: Mapping[str, Any], origins: Mapping[str, Any]) -> Told:
    return Told(
        copy,
        len(witness["tests"]),
        tuple(witness["errors"]),
        origins["packages"],
        origins["files"],
        tuple(origins["threads"]),
    )


def _last_words(output: bytes) -> str:
    """Return the last line that speaks of an error, or else the last one."""
    lines = [line.strip() for line in output.decode(errors="replace").splitlines() if line.strip()]
    said = [line for line in lines if "error" in line.lower()]
    return (said or lines or [""])[-1]


def _tests(told: Told) -> Check:
    if told.errors:
        text = f"{counted(len(told.errors), 'file')} cannot be collected: {told.errors[0]}"
        cure = "install what the tests need in this environment, or mend the imports"
        return problem("tests", text, cure)
    if not told.tests:
        cure = "write a test, or let `testpaths` of pytest's configuration name where they are"
        return warning("tests", "pytest collects none", cure)
    return ok("tests", f"pytest collects {counted(told.tests, 'test')} in a private copy")


def _origins(told: Told, top: Path, names: list[str]) -> Iterator[Check]:
    yield from _broken(told)
    yield from _strange(told, top)
    here = [name for name in names if _is_below(told.packages[name].get("file"), told.copy)]
    modules = [file for file in told.files.values() if _is_below(file, told.copy)]
    if not names and not modules:
        cure = "let a test import your code; until then there is nothing to judge"
        yield warning("imports", "no test imports a module of this project", cure)
    elif here or not names:
        which = f"{', '.join(here)}: " if here else ""
        yield ok("imports", f"{which}{counted(len(modules), 'module')} came from the private copy")


def _broken(told: Told) -> Iterator[Check]:
    for name, what in told.packages.items():
        if error := what.get("error"):
            if error.endswith(f"No module named '{name}'"):
                cure = "install the project (pip install -e .), or set `pythonpath` for pytest"
                yield warning("imports", f"{name} is found by no test: {error}", cure)
            else:
                cure = "install what it needs in this environment, or mend it"
                yield problem("imports", f"{name} cannot be imported: {error}", cure)


def _strange(told: Told, top: Path) -> Iterator[Check]:
    """Name modules that are the project's and did not come from the copy."""
    kept_out = environments_in(top)
    for name, what in told.packages.items():
        file = what.get("file")
        if file and not _is_below(file, told.copy):
            cure = "install it as it lies here (pip install -e .), so that your files are run"
            yield problem("imports", f"{name} came from {file}, not from the private copy", cure)
    stray = [
        name
        for name, file in told.files.items()
        if name.partition(".")[0] not in told.packages
        and _is_below(file, top)
        and not any(_is_below(file, each) for each in kept_out)
    ]
    if stray:
        names = ", ".join(stray[:_SHOWN])
        cure = "let nothing name the folder of the project by its absolute path when it imports"
        yield problem("imports", f"{names} came from {top}, not from the private copy", cure)


def _is_below(file: str | None, folder: Path) -> bool:
    if not file:
        return False
    return any(
        Path(file).is_relative_to(each) or Path(file).resolve().is_relative_to(each)
        for each in (folder, folder.resolve())
    )
