"""What coverage data say of outcomes, where they fit the sources. It saves work and proves nothing.

coverage.py's data hold no digest of the sources, and name neither the Python nor the core that
made them. So data from elsewhere are believed about a file only if

* nothing that could change a run is newer than the data (`newer`),
* every line they say was run is one where this Python's byte code of the file begins a line, and
* every line that runs whenever the file is imported was run: the file was seen from its first
  line on, and its lines have not moved (`misfit`).

Lines are all that is asked, never arcs: no core gets "was this line run by anybody" wrong, and a
body that shares the decision's line counts as run as soon as the decision was.
"""

import ast
import sqlite3
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory
from types import CodeType
from typing import Final

from invertgate.model import Outcome

_PHASES: Final = ("setup", "run", "teardown")
"""What pytest-cov puts behind a nodeid, after a bar."""
_SETTINGS: Final = (".coveragerc", ".coveragerc.toml", "setup.cfg", "tox.ini", "pyproject.toml")
"""Where coverage.py looks for its settings, in its order."""
_CONTROL_FLOW: Final = (
    ast.If,
    ast.For,
    ast.While,
    ast.Try,
    ast.TryStar,
    ast.With,
    ast.Match,
)
_SUBPROCESS: Final = frozenset(("subprocess",))
_FORK: Final = frozenset(("fork", "_exit", "subprocess"))

ESCAPES: Final[Mapping[str, frozenset[str] | None]] = {
    "subprocess": _SUBPROCESS,
    "os.system": _SUBPROCESS,
    "popen": _SUBPROCESS,
    "os.spawn": _SUBPROCESS,
    "posix_spawn": _SUBPROCESS,
    "pexpect": _SUBPROCESS,
    "script_runner": _SUBPROCESS,
    "execnet": _SUBPROCESS,
    "multiprocessing": _FORK,
    "ProcessPool": _FORK,
    "joblib": _FORK,
    "fork(": _FORK,
    "os.exec": frozenset(("execv", "subprocess")),
    "settrace": None,
    "start_new_thread": None,
    "greenlet": None,
    "gevent": None,
    "eventlet": None,
}
"""Words in a project's files that tell of code run where coverage may not look, and the settings of
coverage (``patch``) that make it look there; None where there are none."""


class UnusableError(Exception):
    """The data cannot be used; the message says why, as the end of a sentence."""


@dataclass(frozen=True, slots=True)
class Measured:
    """Which lines were run, and by which tests."""

    name: str
    """In words (``the coverage data in .coverage``)."""
    tests: frozenset[str]
    """The nodeids of the tests that are known to have been run."""
    lines: Mapping[str, Mapping[int, frozenset[str]]]
    """By path and line: the tests that ran it; an empty set for what was run outside of tests."""
    code: Mapping[str, frozenset[int]]
    """By path: the lines of its code; only of files that the data were seen to fit."""

    def unrun(self, outcome: Outcome) -> bool:
        """Tell whether it is known that nothing ran a line of an outcome's body."""
        run, code = self.lines.get(outcome.path), self.code.get(outcome.path)
        if not run or not code:
            return False
        body = code.intersection(_lines(outcome))
        return bool(body) and body.isdisjoint(run)

    def tests_on(self, outcome: Outcome) -> frozenset[str]:
        """Return the tests that ran a line of an outcome's body."""
        if outcome.path not in self.code:
            return frozenset()
        run = self.lines.get(outcome.path, {})
        return frozenset(chain.from_iterable(run.get(line, ()) for line in _lines(outcome)))


def _lines(outcome: Outcome) -> range:
    first, last = outcome.body
    return range(first, last + 1)


def read(name: str, files: Iterable[Path], place: Callable[[str], str | None]) -> Measured:
    """Read data files and join them.

    Args:
        name: What they are called in words.
        files: Data files of coverage.py; each is copied first, and so never written.
        place: Returns the path in the repository of a file as the data name it, or None.

    Returns:
        What they say, yet to be compared with the sources (`fitting`).

    Raises:
        UnusableError: One is no data file of coverage.py, or of another version.
    """
    joined: dict[str, dict[int, frozenset[str]]] = {}
    tests: set[str] = set()
    for file in files:
        found, contexts = _read(file)
        tests |= {_test(context) for context in contexts}
        for measured, lines in found.items():
            path = place(measured)
            if path is None:
                continue
            known = joined.setdefault(path, {})
            for line, by in lines.items():
                known[line] = known.get(line, frozenset()).union(_tests(by))
    return Measured(name, frozenset(tests) - {""}, joined, {})


def _read(file: Path) -> tuple[dict[str, dict[int, list[str]]], set[str]]:
    from coverage import CoverageData, CoverageException  # noqa: PLC0415 - only where there is any

    with TemporaryDirectory(prefix="invertgate-") as scratch:
        copy = Path(scratch, "data")
        try:
            copyfile(file, copy)
            with ExitStack() as stack:
                data = CoverageData(basename=str(copy))
                stack.callback(data.close, force=True)
                data.read()
                found = {path: data.contexts_by_lineno(path) for path in data.measured_files()}
                return found, data.measured_contexts()
        except (CoverageException, sqlite3.Error, OSError) as error:
            raise UnusableError(f"it cannot be read ({error})") from error


def _tests(contexts: Iterable[str]) -> frozenset[str]:
    return frozenset(map(_test, contexts)) - {""}


def _test(context: str) -> str:
    """Return the nodeid that a context names, or nothing."""
    nodeid, bar, phase = context.rpartition("|")
    test = nodeid if bar and phase in _PHASES else context
    return test if "::" in test else ""


def fitting(measured: Measured, sources: Mapping[str, bytes]) -> tuple[Measured, tuple[str, ...]]:
    """Compare data with the sources, and keep what fits.

    Args:
        measured: As it was read.
        sources: The bytes of the files that are asked about, by path.

    Returns:
        The data, believed about the files that fit, and a sentence about each that does not.
    """
    code: dict[str, frozenset[int]] = {}
    notes = []
    for path in sorted(sources.keys() & measured.lines.keys()):
        run = measured.lines[path].keys()
        why = misfit(sources[path], run) if run else ""
        if why:
            notes.append(f"{measured.name} is not used for {path}: {why}")
        elif run:
            code[path] = _code_lines(_compiled(sources[path]))
    return replace(measured, code=code), tuple(notes)


def misfit(source: bytes, run: Iterable[int]) -> str:
    """Say why lines that were run cannot be those of a source, or nothing."""
    lines = frozenset(run)
    try:
        module = _compiled(source)
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return "it cannot be compiled"
    strange = lines - _code_lines(module)
    if strange:
        return f"line {min(strange)} was run, and none of its statements is there now"
    own = frozenset(_own_lines(module))
    for statement in tree.body:
        if isinstance(statement, _CONTROL_FLOW):
            continue
        first = min(node.lineno for node in (statement, *getattr(statement, "decorator_list", ())))
        expected = own.intersection(range(first, (statement.end_lineno or first) + 1))
        if expected and expected.isdisjoint(lines):
            return f"line {first} runs whenever it is imported, and was not run"
    return ""


def _compiled(source: bytes) -> CodeType:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return compile(source, "<source>", "exec", dont_inherit=True)


def _own_lines(code: CodeType) -> Iterator[int]:
    return (line for _, _, line in code.co_lines() if line)


def _code_lines(module: CodeType) -> frozenset[int]:
    """Return the lines at which some byte code of a module stands."""
    found: set[int] = set()
    pending = [module]
    while pending:
        code = pending.pop()
        found.update(_own_lines(code))
        pending += [each for each in code.co_consts if isinstance(each, CodeType)]
    return frozenset(found)


def newer(data: Path, top: Path, paths: Iterable[str]) -> str:
    """Return the first of some files that was written after the data were, or nothing."""
    measured_at = data.stat().st_mtime_ns
    for path in paths:
        file = top / path
        try:
            if file.is_file() and file.stat().st_mtime_ns > measured_at:
                return path
        except OSError:
            return path
    return ""


def patches(folders: Sequence[Path]) -> frozenset[str]:
    """Return what coverage's settings say of code that is run elsewhere (``patch``)."""
    from coverage import Coverage, CoverageException  # noqa: PLC0415 - only where there are data

    found: set[str] = set()
    for file in (folder / name for folder in folders for name in _SETTINGS):
        if not file.is_file():
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                told = Coverage(data_file=None, config_file=str(file)).get_option("run:patch")
        except CoverageException:  # settings of another version
            continue
        found |= set(map(str, told)) if isinstance(told, list) else set()
    return frozenset(found)


def unseen(word: str, patched: frozenset[str]) -> bool:
    """Tell whether a word in a project's files means code that coverage cannot have seen."""
    needed = ESCAPES[word]
    return needed is None or not needed <= patched
