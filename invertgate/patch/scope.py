"""Decide which changed files make rows, and say why the others do not."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from invertgate.errors import NoBaseError
from invertgate.model import LeftOut
from invertgate.patch.difference import Entry
from invertgate.patch.git import SUBMODULE, SYMLINK, Repository, refusal
from invertgate.patch.globs import first_match
from invertgate.patch.importers import imported_by, mentions_import, stem
from invertgate.patch.projects import Reader, find_projects, is_configuration, reader

ALL_PYTHON: Final = ("**/*.py",)
TEST_FILE: Final = "test file"


@dataclass(frozen=True, slots=True)
class Rules:
    """Which files make rows."""

    include: tuple[str, ...] = ALL_PYTHON
    """Globs of files that may; see ``globs.first_match`` for how they read."""
    exclude: tuple[str, ...] = ()
    """Globs of files that do not: generated code."""
    trust_head: bool = False
    """A patch that changes what pytest calls a test is believed (``--policy head``)."""


@dataclass(frozen=True, slots=True)
class Judged:
    """Where the judged files stand: a repository, a base and a head."""

    repository: Repository
    base: str
    """A commit, or empty if there is nothing to compare with."""
    head: str
    """A commit, or empty for the working tree."""

    def head_files(self) -> Reader:
        """Give what reads files of the head."""
        return self._reader(self.head) if self.head else reader(self.repository.top)

    def base_files(self) -> Reader:
        """Give what reads files of the base."""
        return self._reader(self.base)

    def _reader(self, commit: str) -> Reader:
        return lambda paths: self.repository.files_at(commit, paths)


def choose(
    judged: Judged, found: list[Entry], rules: Rules
) -> tuple[list[Entry], tuple[LeftOut, ...], tuple[str, ...]]:
    """Part the files that differ into those to read and those that are left out.

    Args:
        judged: Where they stand.
        found: The files.
        rules: Which of them make rows.

    Returns:
        Files to read (deleted ones too), files left out and why, and notes for the reader.

    Raises:
        NoBaseError: git failed.
    """
    top = judged.repository.top
    reasons = {entry.path: _why_no_rows(entry.path, _mode(entry), top, rules) for entry in found}
    candidates = [path for path, reason in reasons.items() if not reason]
    changed = {path for entry in found for path in (entry.path, entry.old_path)}
    tests, notes = _test_files(judged, candidates, changed, rules)
    reasons |= dict.fromkeys(tests, TEST_FILE)
    left_out = tuple(LeftOut(path, reason) for path, reason in sorted(reasons.items()) if reason)
    return [entry for entry in found if not reasons[entry.path]], left_out, notes


def _mode(entry: Entry) -> str:
    return entry.old_mode if entry.status == "D" else entry.mode


def _why_no_rows(path: str, mode: str, top: Path, rules: Rules) -> str:
    """Say why a file makes no rows, as far as its name and kind tell; empty if it may."""
    if mode == SUBMODULE or path.endswith("/"):
        return "another git repository"
    if mode == SYMLINK:
        return _link(top / path, top)
    if not path.endswith(".py"):
        return "not Python"
    if glob := first_match(path, rules.exclude):
        return f"excluded by {glob}"
    return "" if first_match(path, rules.include) else "not included"


def _test_files(
    judged: Judged, candidates: Iterable[str], changed: Iterable[str], rules: Rules
) -> tuple[frozenset[str], tuple[str, ...]]:
    """Find the test files, with notes; a patch that redefines them must agree with the base."""
    tests = _made_tests(candidates, judged.head_files())
    notes: tuple[str, ...] = ()
    if tests and judged.base and not rules.trust_head and any(map(is_configuration, changed)):
        disputed = tests - _made_tests(tests, judged.base_files())
        tests -= disputed
        notes = _disputed(disputed)
    return tests - _imported_by_production(judged, tests), notes


def _link(path: Path, top: Path) -> str:
    inside = path.is_symlink() and path.resolve().is_relative_to(top.resolve())
    where = "its target is judged where it lies" if inside else "out of the repository"
    return f"symbolic link ({where})"


def _made_tests(paths: Iterable[str], read: Reader) -> frozenset[str]:
    projects = find_projects(paths, read)
    return frozenset(path for path, project in projects.items() if project.makes_test(path))


def _disputed(paths: Iterable[str]) -> tuple[str, ...]:
    return tuple(
        f"{path} counts as production code: only this patch's pytest configuration calls it a test"
        for path in sorted(paths)
    )


def _imported_by_production(judged: Judged, tests: frozenset[str]) -> set[str]:
    if not tests:
        return set()
    mentioning = [path for path in _mentioning(judged, tests) if path not in tests]
    outside = [path for path in mentioning if "tests" not in path.split("/")[:-1]]
    sources = judged.head_files()(outside)
    likely = [path for path, source in sources.items() if _may_import(source, tests)]
    importers = set(likely) - _made_tests(likely, judged.head_files())
    return imported_by(tests, {path: sources[path] for path in importers})


def _may_import(source: bytes, paths: Iterable[str]) -> bool:
    return any(mentions_import(path, source) for path in paths)


def _mentioning(judged: Judged, paths: Iterable[str]) -> list[str]:
    """Find the Python files that hold the name of one of some modules, by git's own search."""
    words = [part for word in sorted({stem(path) for path in paths}) for part in ("-e", word)]
    where = (judged.head,) if judged.head else ("--untracked",)
    how = ("-l", "-z", "-w", "--fixed-strings", "--full-name", "--no-color", "--text")
    options = (*how, *words, *where) if judged.head else (*how, *where, *words)
    done = judged.repository.ask("grep", *options, "--", "*.py")
    if done.code not in {0, 1}:
        raise NoBaseError(f"git grep failed: {refusal(done.stderr)}")
    prefix = f"{judged.head}:" if judged.head else ""
    return [os.fsdecode(path).removeprefix(prefix) for path in done.stdout.split(b"\0")[:-1]]
