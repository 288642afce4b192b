"""Find the pytest configuration that a file falls under, and tell which files are tests."""

import posixpath
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from invertgate.patch.globs import first_match
from invertgate.patch.pytest_options import NAMES, pytest_options

Reader = Callable[[Iterable[str]], Mapping[str, bytes]]
"""Reads files by their paths from the top of the repository, as far as they exist."""

_PYTHON_FILES: Final = ("test_*.py", "*_test.py")
_TESTS_FOLDER: Final = re.compile(r"(.+[_-])?tests?([_-].+)?|testing")


@dataclass(frozen=True, slots=True)
class Project:
    """A folder with a pytest configuration of its own, or the top of the repository."""

    folder: str = ""
    """From the top of the repository, with slashes; empty for the top itself."""
    config: str = ""
    """The file that holds its pytest configuration; empty if there is none."""
    python_files: tuple[str, ...] = _PYTHON_FILES
    testpaths: tuple[str, ...] = ()

    def makes_test(self, path: str) -> bool:
        """Tell whether pytest takes a file of this project for a test, or for a part of one.

        That is what ``python_files`` names, below ``testpaths`` if there are any; any
        ``conftest.py``; and what else lies in a folder of ``testpaths`` that is called tests.
        """
        name = posixpath.basename(path)
        if name == "conftest.py":
            return True
        folder = self._testpath_of(path)
        if self.testpaths and folder is None:
            return False
        if any(_python_file(pattern, path, name) for pattern in self.python_files):
            return True
        return any(_TESTS_FOLDER.fullmatch(part) for part in (folder or "").split("/"))

    def _testpath_of(self, path: str) -> str | None:
        for testpath in self.testpaths:
            folder = posixpath.normpath(posixpath.join(self.folder, testpath))
            if folder == "." or first_match(path, ["/" + folder]):
                return folder
        return None


def find_projects(paths: Iterable[str], read: Reader) -> dict[str, Project]:
    """Find the project of each path: its nearest folder with a pytest configuration, or the top.

    Args:
        paths: From the top of the repository, with slashes.
        read: Where configurations come from, the work tree (``reader``) or a commit.
    """
    wanted = list(paths)
    folders = {folder for path in wanted for folder in _ancestors(path)}
    names = [posixpath.join(folder, name) for folder in folders for name in NAMES]
    configured = _configured(folders, read(names))
    return {path: _nearest(path, configured) for path in wanted}


def reader(top: Path) -> Reader:
    """Read from the work tree; what is no readable file is left out."""

    def read(paths: Iterable[str]) -> Mapping[str, bytes]:
        return {path: content for path in paths if (content := _content(top / path)) is not None}

    return read


def is_configuration(path: str) -> bool:
    """Tell whether pytest may look for its configuration in a file of this name."""
    return posixpath.basename(path) in NAMES


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def _python_file(pattern: str, path: str, name: str) -> bool:
    return fnmatchcase(f"/{path}", f"*/{pattern}") if "/" in pattern else fnmatchcase(name, pattern)


def _ancestors(path: str) -> Iterator[str]:
    while path:
        path = posixpath.dirname(path)
        yield path


def _nearest(path: str, configured: Mapping[str, Project]) -> Project:
    found = (configured[folder] for folder in _ancestors(path) if folder in configured)
    return next(found, Project())


def _configured(folders: Iterable[str], contents: Mapping[str, bytes]) -> dict[str, Project]:
    found = {}
    for folder in folders:
        for name in NAMES:
            path = posixpath.join(folder, name)
            options = pytest_options(name, contents[path]) if path in contents else None
            if options is not None:
                found[folder] = _project(folder, path, options)
                break
    return found


def _project(folder: str, path: str, options: Mapping[str, object]) -> Project:
    python_files = _words(options, "python_files") if "python_files" in options else _PYTHON_FILES
    return Project(folder, path, python_files, _words(options, "testpaths"))


def _words(options: Mapping[str, object], key: str) -> tuple[str, ...]:
    value = options.get(key, "")
    if isinstance(value, list):
        return tuple(str(word) for word in value)
    try:
        return tuple(shlex.split(str(value)))
    except ValueError:  # a quote that stays open: pytest will say so when it runs
        return tuple(str(value).split())
