"""Set a project up: options, `.gitignore` and CI jobs, where they are not there yet."""

import os
import posixpath
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from invertgate.config import CONFIG_NAME
from invertgate.errors import InvertgateError, UsageError
from invertgate.install_command import install_command
from invertgate.patch.git import Repository, open_repository
from invertgate.patch.projects import find_projects, reader
from invertgate.recipe_texts import IGNORED, github_workflow, gitlab_jobs, options_block
from invertgate.request import Request
from invertgate.source_text import toml_of
from invertgate.table.store import write_file

WORKFLOW: Final = ".github/workflows/invertgate.yml"
GITLAB: Final = ".gitlab-ci.yml"
INCLUDED: Final = "invertgate.gitlab-ci.yml"
_IGNORING: Final = frozenset(("invertgate.out", "invertgate.out/", "invertgate.out/*"))


class Did(StrEnum):
    """What became of a file."""

    WROTE = "wrote"
    ADDED = "added to"
    LEFT = "left alone"
    FAILED = "failed"


class Host(StrEnum):
    """Whose CI gets jobs."""

    GITHUB = "github"
    GITLAB = "gitlab"


@dataclass(frozen=True, slots=True)
class Step:
    """One file, and what was done with it."""

    did: Did
    path: str
    """From the top of the repository."""
    what: str
    """What was written, or why nothing was."""


@dataclass(frozen=True, slots=True)
class Setup:
    """All that was done, and what is left for a person."""

    top: Path
    steps: tuple[Step, ...]
    next: tuple[str, ...]

    @property
    def has_failed(self) -> bool:
        """Tell whether something could not be written."""
        return any(step.did is Did.FAILED for step in self.steps)


def init(request: Request, hosts: tuple[Host, ...] | None = None) -> Setup:
    """Write what a project needs and does not have; nothing that is there is replaced.

    Args:
        request: Where the user stands.
        hosts: Whose CI gets jobs; by default what the address of origin says, or else both.

    Raises:
        NoBaseError: The user stands in no repository.
        UsageError: The project's `pyproject.toml` is malformed; nothing was written.
    """
    repository = open_repository(request.root, request.environment)
    top = repository.top
    folder = _project(request.root, top)
    pyproject = posixpath.join(folder, CONFIG_NAME)
    before = _content(top / pyproject)
    _parsed(before or b"", pyproject)
    install = install_command(top, folder)
    chosen = _hosts_of(repository) if hosts is None else hosts
    steps = [
        _tried(pyproject, lambda: _with_options(top, pyproject, before)),
        _tried(".gitignore", lambda: _with_line(top)),
    ]
    if Host.GITHUB in chosen:
        steps.append(_tried(WORKFLOW, lambda: _workflow(top, install.command)))
    if Host.GITLAB in chosen:
        steps.append(_tried(GITLAB, lambda: _jobs(top, install.command)))
    steps += [_not_asked(host) for host in Host if host not in chosen]
    return Setup(top, tuple(steps), tuple(_next(steps, install.note)))


def _project(root: Path, top: Path) -> str:
    """Return the project that a folder belongs to, relative to the top."""
    within = root.resolve().relative_to(top.resolve()).as_posix()
    path = posixpath.normpath(posixpath.join(within, "here.py"))
    return find_projects([path], reader(top))[path].folder


def _hosts_of(repository: Repository) -> tuple[Host, ...]:
    told = repository.ask("config", "--get", "remote.origin.url").stdout.decode(errors="replace")
    address = told.strip().removeprefix("https://").removeprefix("ssh://").rpartition("@")[2]
    name = "" if address.startswith(("/", ".", "file:")) else address.partition("/")[0].lower()
    said = tuple(host for host in Host if host in name)
    return said if len(said) == 1 else tuple(Host)


def _tried(path: str, write: Callable[[], Step]) -> Step:
    try:
        return write()
    except InvertgateError as error:
        return Step(Did.FAILED, path, str(error))


def _with_options(top: Path, path: str, before: bytes | None) -> Step:
    block = options_block()
    what = "[tool.invertgate]: every option with its meaning, commented out"
    if before is None:
        _write(top, path, block.encode())
        return Step(Did.WROTE, path, what)
    tool = _parsed(before, path).get("tool")
    if isinstance(tool, dict) and "invertgate" in tool:
        return Step(Did.LEFT, path, "it has [tool.invertgate] already")
    after = _appended(before, block, gap=True)
    try:
        _parsed(after, path)
    except UsageError:
        return Step(Did.LEFT, path, "its `tool` is closed, so that no [tool.invertgate] can follow")
    _write(top, path, after)
    return Step(Did.ADDED, path, what)


def _with_line(top: Path) -> Step:
    path = ".gitignore"
    before = _content(top / path)
    lines = (before or b"").decode("utf-8", "replace").splitlines()
    if any(line.strip().removeprefix("/") in _IGNORING for line in lines):
        return Step(Did.LEFT, path, f"it ignores {IGNORED} already")
    _write(top, path, _appended(before or b"", f"{IGNORED}\n", gap=False))
    return Step(Did.WROTE if before is None else Did.ADDED, path, IGNORED)


def _workflow(top: Path, install: str) -> Step:
    if os.path.lexists(top / WORKFLOW):
        return Step(Did.LEFT, WORKFLOW, "it is there already")
    _write(top, WORKFLOW, github_workflow(install).encode())
    return Step(Did.WROTE, WORKFLOW, 'two shards, and the job "invertgate" that joins them')


def _jobs(top: Path, install: str) -> Step:
    path, own = GITLAB, _content(top / GITLAB)
    if own is not None:
        if b"invertgate" in own:
            return Step(Did.LEFT, GITLAB, "it mentions invertgate already")
        path = INCLUDED
    if os.path.lexists(top / path):
        return Step(Did.LEFT, path, "it is there already")
    _write(top, path, gitlab_jobs(install).encode())
    beside = f", for {GITLAB} to include" if path == INCLUDED else ""
    return Step(Did.WROTE, path, f'two shards, and the job "invertgate" that joins them{beside}')


def _not_asked(host: Host) -> Step:
    path = WORKFLOW if host is Host.GITHUB else GITLAB
    return Step(Did.LEFT, path, f"not asked for; `invertgate init --ci {host}` writes it")


def _next(steps: list[Step], note: str) -> Iterator[str]:
    wrote = {step.path for step in steps if step.did is Did.WROTE}
    if INCLUDED in wrote:
        yield f"add to {GITLAB}: include: [{{local: {INCLUDED}}}]"
    ci = wrote & {WORKFLOW, GITLAB, INCLUDED}
    if ci and note:
        yield note
    if ci:
        yield "look through the CI jobs, above all at how they install your project"
    if WORKFLOW in wrote:
        yield 'make "invertgate" a required check of your branch rules'
    if any(step.did is Did.FAILED for step in steps):
        yield "mend what failed, and run `invertgate init` again: it goes on where it stopped"
    yield "`invertgate doctor` says whether all is in place; `invertgate run --changed` begins"


def _appended(before: bytes, text: str, *, gap: bool) -> bytes:
    """Append lines in the way in which the lines before them end; what is there stays."""
    end = b"\r\n" if b"\r\n" in before else b"\n"
    if before and not before.endswith(b"\n"):
        before += end
    between = end if gap and before.strip() else b""
    return before + between + text.encode().replace(b"\n", end)


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error


def _parsed(source: bytes, name: str) -> dict[str, object]:
    try:
        return toml_of(source)
    except ValueError as error:
        raise UsageError(f"{name} is not valid TOML: {error}; nothing was written") from error


def _write(top: Path, path: str, content: bytes) -> None:
    write_file(top / path, content, top)
