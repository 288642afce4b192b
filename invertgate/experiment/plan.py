"""Plan experiments: which files are woven, which test is run for which rows. Pure."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from invertgate.model import Kind, Outcome, Side

_ROWS_AN_EXPERIMENT: Final = 20
"""Rows of one test that are judged in one go; more are spread over the workers."""
_TESTS_A_LOOK: Final = 25
_SECOND: Final = (Side.FALSE,)
_TWO_SIDED: Final = (Kind.IF, Kind.WHILE, Kind.IFEXP, Kind.COMPREHENSION)


@dataclass(frozen=True, slots=True)
class WovenFile:
    """A file with rows, and where its decisions stand."""

    number: int
    path: str
    sha256: str
    decisions: tuple[tuple[str, int, int, int], ...]
    """Kind, line and column of the anchor, slot on the board."""
    versions: tuple[tuple[int, int, str, int, str], ...] = ()
    """Line, column and part of a statement, slot, the text of its other version."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A row as the engine knows it."""

    number: int
    outcome: Outcome
    file: int
    slot: int
    inverted: tuple[int, ...]
    """The slots that its mutant inverts: one, or both sides of a negated test."""


@dataclass(frozen=True, slots=True)
class Experiment:
    """Tests that are run for some rows."""

    number: int
    tests: tuple[str, ...]
    subjects: tuple[Subject, ...]
    first: bool = False
    """Stop at the first test that kills; the tests are tried in their order."""
    beyond: int = 0
    """How many more are tried where that one fails by an exception and not by an assertion."""


def subjects_of(
    outcomes: Sequence[Outcome], sources: Mapping[str, bytes], *, negate: bool
) -> tuple[tuple[WovenFile, ...], tuple[Subject, ...], int]:
    """Number files, decisions and rows.

    Args:
        outcomes: The rows' outcomes.
        sources: The bytes of their files, by path, as they were compared.
        negate: Invert the whole test, not one side of it.

    Returns:
        The files to be woven, a subject for each outcome in the same order, and how many slots
        the board needs.
    """
    paths = list(dict.fromkeys(outcome.path for outcome in outcomes))
    numbers = {path: number for number, path in enumerate(paths)}
    slots: dict[tuple[str, Kind, int, int], int] = {}
    decisions: dict[str, list[tuple[str, int, int, int]]] = {path: [] for path in paths}
    subjects = []
    for number, outcome in enumerate(outcomes):
        anchor = outcome.anchor
        decision = (outcome.path, outcome.kind, anchor.line, anchor.column)
        if decision not in slots:
            slots[decision] = 2 * len(slots)
            told = (outcome.kind.value, anchor.line, anchor.column, slots[decision])
            decisions[outcome.path].append(told)
        first = slots[decision]
        slot = first + (outcome.side in _SECOND)
        both = negate and outcome.kind in _TWO_SIDED
        inverted = (first, first + 1) if both else (slot,)
        subjects.append(Subject(number, outcome, numbers[outcome.path], slot, inverted))
    files = tuple(
        WovenFile(
            numbers[path],
            path,
            hashlib.sha256(sources[path]).hexdigest(),
            tuple(decisions[path]),
        )
        for path in paths
    )
    return files, tuple(subjects), 2 * len(slots)


def by_test(claims: Iterable[tuple[Subject, str]]) -> tuple[Experiment, ...]:
    """Group rows by the test that claims them, so that they share its controls.

    Tests of one file follow one another: a worker collects a file anew when it comes back to it.
    """
    groups: dict[str, list[Subject]] = {}
    for subject, test in claims:
        groups.setdefault(test, []).append(subject)
    parts = [
        (test, tuple(subjects[start : start + _ROWS_AN_EXPERIMENT]))
        for test, subjects in sorted(groups.items(), key=lambda group: _file_of(group[0]))
        for start in range(0, len(subjects), _ROWS_AN_EXPERIMENT)
    ]
    return tuple(
        Experiment(number, (test,), subjects) for number, (test, subjects) in enumerate(parts)
    )


def _file_of(test: str) -> str:
    return test.split("::", 1)[0]


def files_of(tests: Iterable[str]) -> list[str]:
    """Return the files that tests stand in, each once, in order."""
    return list(dict.fromkeys(map(_file_of, tests)))


def conftests_above(folder: Path, file: str) -> tuple[str, ...]:
    """Return the conftest files that pytest loads for a test file, relative to a project.

    Args:
        folder: The project.
        file: The test file, relative to it.
    """
    above = PurePosixPath(file).parents
    found = (parent / "conftest.py" for parent in above)
    return tuple(str(each) for each in found if (folder / each).is_file())


def in_groups(tests: Sequence[str]) -> tuple[Experiment, ...]:
    """Divide tests that are only to be looked at into what a worker takes at a time.

    Tests of a file stay together, whatever the order in which they came: a worker has one file
    collected at a time.
    """
    of_file: dict[str, list[str]] = {}
    for test in tests:
        of_file.setdefault(_file_of(test), []).append(test)
    groups = [
        tuple(some[start : start + _TESTS_A_LOOK])
        for some in of_file.values()
        for start in range(0, len(some), _TESTS_A_LOOK)
    ]
    return tuple(Experiment(number, group, ()) for number, group in enumerate(groups))
