"""Look at all that the gate needs, and say what would keep it from its work, with the cure."""

import os
import posixpath
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from invertgate.config import Config, load, source_of
from invertgate.doctor_imports import asked
from invertgate.doctor_tools import tools
from invertgate.errors import InvertgateError, NoBaseError
from invertgate.evidence import coverage
from invertgate.isolation.contain import granted, held
from invertgate.model import Verdict
from invertgate.options import Contain
from invertgate.patch.git import Repository, open_repository
from invertgate.patch.projects import Project, find_projects, reader
from invertgate.patch.worktree import files_of_worktree
from invertgate.report.checkup import Check, ok, problem, warning
from invertgate.report.words import counted
from invertgate.request import Request
from invertgate.survey import Configured, Survey, survey

_DATA: Final = ".coverage"
_SHORT: Final = 12


@dataclass(frozen=True, slots=True)
class _Place:
    """What is looked at."""

    request: Request
    repository: Repository
    project: Project

    @property
    def folder(self) -> Path:
        """Return the project's folder."""
        return self.repository.top / self.project.folder

    def python_files(self) -> list[str]:
        """Return the project's Python files, from the top of the repository."""
        files = files_of_worktree(self.repository)
        inside = f"{self.project.folder}/" if self.project.folder else ""
        known = (*files.tracked, *files.untracked)
        return [path for path in known if path.endswith(".py") and path.startswith(inside)]


def examine(request: Request) -> list[Check]:
    """Look at everything, in the order in which it would be mended.

    Nothing of the user's is written; the project's tests are collected in a private copy, and none
    is run.

    Args:
        request: Where the user stands; its progress is told what is looked at.
    """
    checks = list(_safely("tools", tools))
    opened: list[Repository] = []
    checks += _safely("git", partial(_git, request, opened))
    for repository in opened:
        checks += _of_repository(request, repository)
    return checks


def _of_repository(request: Request, repository: Repository) -> Iterator[Check]:
    place = _Place(request, repository, _project(request.root, repository.top))
    configs: list[Config] = []
    yield from _safely("options", partial(_options, place, configs))
    for config in configs:
        yield from _safely("base", partial(_base, place))
        yield from _safely("table", partial(_table, place, config))
        yield from _safely("data", partial(_data, place, config))
        yield from _safely("contain", partial(_contain, config))
        request.progress.stage("collecting tests in a private copy")
        request.progress.total(1)
        yield from _safely("imports", partial(_imports, place, config))
        request.progress.close()


def _safely(name: str, look: Callable[[], Iterable[Check]]) -> Iterator[Check]:
    """Look at one thing; whatever is raised becomes a finding."""
    try:
        yield from list(look())
    except InvertgateError as error:
        said, _, cure = str(error).partition("; ")
        yield problem(name, said, cure)
    except Exception as error:  # noqa: BLE001 (a check that fails is a finding, and not the end)
        said = f"{type(error).__name__}: {error}"
        yield problem(name, f"could not be looked at: {said}", "please report this with this line")


def _project(root: Path, top: Path) -> Project:
    within = os.path.relpath(root.resolve(), top.resolve())
    path = posixpath.normpath(posixpath.join(within.replace(os.sep, "/"), "here.py"))
    return find_projects([path], reader(top))[path]


def _git(request: Request, opened: list[Repository]) -> Iterator[Check]:
    repository = open_repository(request.root, request.environment)
    opened.append(repository)
    told = repository.ask("version").stdout.decode(errors="replace").strip()
    number = told.removeprefix("git version ")
    depth = "a shallow clone" if repository.shallow else "the whole history"
    yield ok("git", f"{number}, {repository.top}, {depth}")


def _base(place: _Place) -> Iterator[Check]:
    try:
        base = Configured(place.repository, place.request).base
    except NoBaseError as error:
        said, _, cure = str(error).partition("; ")
        yield problem("base", said, cure or "pass --base REV")
        return
    if base is None:
        return
    count = place.repository.ask("rev-list", "--count", f"{base.commit}..{base.head}").stdout
    ahead = counted(int(count.strip() or 0), "commit")
    text = f"{base.name} ({base.commit[:_SHORT]}), {ahead} before what is judged"
    if base.notes:
        cure = "name the base that you mean with --base, or in [tool.invertgate]"
        yield warning("base", f"{text}; {'; '.join(base.notes)}", cure)
    else:
        yield ok("base", text)


def _options(place: _Place, found: list[Config]) -> Iterator[Check]:
    source = source_of(place.folder)
    if place.project.folder and b"tool.invertgate" not in source:
        source = source_of(place.repository.top)
    found.append(load(source))
    where = place.project.folder or "."
    set_up = "[tool.invertgate] is read" if b"tool.invertgate" in source else "all defaults"
    pytest = place.project.config or "no configuration of pytest"
    yield ok("options", f"{set_up}; project {where} ({pytest})")


def _table(place: _Place, config: Config) -> Iterator[Check]:
    try:
        seen = survey(place.request, place.repository)
    except NoBaseError:
        return  # said above
    for note in seen.notes:
        yield warning("options", note, "have it reviewed; it counts once it is merged")
    for broken in seen.listing.not_parsed:
        text = f"{broken.path}:{broken.line} does not parse: {broken.message}"
        yield problem("table", text, "mend it, or exclude it in [tool.invertgate]")
    yield from _rows(seen, config)


def _rows(seen: Survey, config: Config) -> Iterator[Check]:
    matches = [(project, seen.matched(project)) for project in seen.projects]
    unbound = sum(len(match.unbound) for _, match in matches)
    left = sum(len(match.leftovers) for _, match in matches)
    rows = sum(len(match.rows) for _, match in matches)
    tables = ", ".join(project.table_path for project, _ in matches if project.has_table)
    if not tables and not rows:
        yield ok("table", f"none, and none is needed: no new outcome (it will be {config.table})")
        return
    text = f"{tables or 'none yet'}: {counted(rows, 'row')}, {unbound} without a test"
    if left:
        cure = "`invertgate table --write` brings it up to date"
        yield warning("table", f"{text}, {left} {Verdict.LEFTOVER}", cure)
    elif unbound:
        yield warning("table", text, "`invertgate bind` searches a test for each")
    else:
        yield ok("table", text)


def _data(place: _Place, config: Config) -> Iterator[Check]:
    """Say whether coverage data that lie there would be used."""
    data = place.folder / _DATA
    if not data.is_file():
        wanted = f"; `coverage` is {config.coverage}" if config.coverage else ""
        yield ok("data", f"no {_DATA}, and none is needed{wanted}")
        return
    again = "make it again: python -m pytest --cov --cov-context=test"
    changed = coverage.newer(data, place.repository.top, place.python_files())
    if changed:
        yield warning("data", f"{_DATA} is not used: {changed} was written after it", again)
        return
    paths = set(place.python_files())
    try:
        measured = coverage.read(_DATA, [data], lambda name: _known(place, name, paths))
    except coverage.UnusableError as error:
        yield warning("data", f"{_DATA} is not used: {error}", again)
        return
    sources = {path: (place.repository.top / path).read_bytes() for path in measured.lines}
    measured, notes = coverage.fitting(measured, sources)
    if not measured.tests:
        yield warning("data", f"{_DATA} does not tell which tests ran what", again)
    elif notes:
        yield warning("data", notes[0], again)
    else:
        fits = f"fits {counted(len(measured.code), 'file')}"
        yield ok("data", f"{_DATA} {fits}, and tells {counted(len(measured.tests), 'test')} apart")


def _contain(config: Config) -> Iterator[Check]:
    """Say how far inverted code is held, which is tried in a child process."""
    held(config.contain)  # raises where more is asked for than there is
    there = granted()
    if there.level is Contain.FILES:
        yield ok("contain", "inverted code can be kept from the network and from other files")
    else:
        granted_here = {
            Contain.NETWORK: "inverted code can be kept from the network, not from other files",
            Contain.NONE: "inverted code can be kept neither from the network nor from other files",
        }
        yield warning("contain", granted_here[there.level], there.why)


def _imports(place: _Place, config: Config) -> Iterator[Check]:
    yield from asked(place.repository, place.project, config, place.python_files())


def _known(place: _Place, name: str, paths: set[str]) -> str | None:
    path = os.path.relpath(place.folder / name, place.repository.top).replace(os.sep, "/")
    return path if path in paths else None
