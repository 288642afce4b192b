"""How CI installs a project, what its tests need, and invertgate: a guess from what lies there."""

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from invertgate import __version__
from invertgate.source_text import toml_of

_FOR_TESTS: Final = re.compile(r"(tests?|testing|dev|ci)", re.IGNORECASE)
_REQUIREMENTS: Final = (
    "requirements.txt",
    "requirements-dev.txt",
    "requirements-test.txt",
    "requirements-tests.txt",
    "dev-requirements.txt",
    "test-requirements.txt",
    "requirements/dev.txt",
    "requirements/test.txt",
    "requirements/tests.txt",
)
_NAMES_US: Final = re.compile(r"""^\s*["']?invertgate\b(?!\.)""", re.MULTILINE)
_OWN_COPY: Final = "./vendor/invertgate"


@dataclass(frozen=True, slots=True)
class Install:
    """A shell command, and what a person has to look at in it."""

    command: str
    note: str = ""


def install_command(top: Path, folder: str) -> Install:
    """Guess how a project is installed with what its tests need, and invertgate beside it.

    Args:
        top: The top of the repository, where the command is run.
        folder: The project's folder, relative to it; empty for the top itself.
    """
    place = top / folder
    project = _pyproject(place / "pyproject.toml")
    words = [*_project(place, folder, project), *_groups(folder, project)]
    files = [name for name in _REQUIREMENTS if (place / name).is_file()]
    words += [word for name in files for word in ("-r", _below(folder, name))]
    named = _names_us(project) or any(_reads_us(place / name) for name in files)
    own, note = ("", "") if named else requirement(source_of_ours(), top)
    pip = shlex.join(["python", "-m", "pip", "install", *words, *filter(None, [own])])
    newest = "python -m pip install --upgrade pip && " if "--group" in words else ""
    return Install(newest + pip if words or own else "python -m pip --version", note)


def _pyproject(path: Path) -> Mapping[str, object]:
    try:
        return toml_of(path.read_bytes())
    except (OSError, ValueError):
        return {}


def _project(place: Path, folder: str, project: Mapping[str, object]) -> Iterator[str]:
    """Yield what installs the project itself, with its extras for tests."""
    table = _table(project, "project")
    if not table and not any((place / name).is_file() for name in ("setup.py", "setup.cfg")):
        poetry = _table(_table(project, "tool"), "poetry")
        if not poetry:
            return
    extras = ",".join(filter(_FOR_TESTS.fullmatch, _table(table, "optional-dependencies")))
    yield "-e"
    yield (f"./{folder}" if folder else ".") + (f"[{extras}]" if extras else "")


def _groups(folder: str, project: Mapping[str, object]) -> Iterator[str]:
    for name in filter(_FOR_TESTS.fullmatch, _table(project, "dependency-groups")):
        yield "--group"
        yield f"{folder}/pyproject.toml:{name}" if folder else name


def _table(of: Mapping[str, object], key: str) -> Mapping[str, object]:
    found = of.get(key)
    return found if isinstance(found, dict) else {}


def _below(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def _names_us(project: Mapping[str, object]) -> bool:
    """Tell whether what is installed of a `pyproject.toml` brings invertgate along."""
    table = _table(project, "project")
    lists = [table.get("dependencies")]
    for groups in (_table(table, "optional-dependencies"), _table(project, "dependency-groups")):
        lists += [groups[name] for name in filter(_FOR_TESTS.fullmatch, groups)]
    words = (word for each in lists if isinstance(each, list) for word in each)
    return any(isinstance(word, str) and _NAMES_US.match(word) for word in words)


def _reads_us(path: Path) -> bool:
    try:
        return bool(_NAMES_US.search(path.read_text(encoding="utf-8", errors="replace")))
    except OSError:
        return False


def source_of_ours() -> str | None:
    """Return what was noted when this invertgate was installed; None if it came from an index.

    That is `direct_url.json` (PEP 610).
    """
    try:
        return distribution("invertgate").read_text("direct_url.json")
    except PackageNotFoundError:  # it runs out of a checkout
        return "{}"


def requirement(noted: str | None, top: Path) -> tuple[str, str]:
    """Return the requirement that means this invertgate, and what to look at in it.

    A copy of which CI cannot know is given a place in the repository, never a bare name, which
    might be a stranger's on some index.

    Args:
        noted: What `source_of_ours` found.
        top: The top of the repository.
    """
    if noted is None:
        return f"invertgate=={__version__}", ""
    source = json.loads(noted)
    url = str(source.get("url", ""))
    if isinstance(version := source.get("vcs_info"), dict):
        return f"invertgate @ {version['vcs']}+{url}@{version['commit_id']}", ""
    place = Path(unquote(urlsplit(url).path))
    if url.startswith("file:") and place.is_relative_to(top.resolve()):
        return f"./{place.relative_to(top.resolve()).as_posix()}", ""
    if url and not url.startswith("file:"):
        return f"invertgate @ {url}", ""
    return _OWN_COPY, f"CI installs invertgate from {_OWN_COPY}; correct that to where yours lies"
