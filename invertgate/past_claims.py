"""Which test claims an outcome: the table, and its earlier versions in git as far as they fit."""

import posixpath
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Final

from invertgate.errors import InvertgateError
from invertgate.model import Outcome
from invertgate.patch.git import Repository
from invertgate.survey import ProjectSurvey, Survey
from invertgate.table.document import Entry, Table, read
from invertgate.table.selection import Key

_MOST_VERSIONS: Final = "500"
_CHANGE: Final = re.compile(rb"^:\d+ \d+ [0-9a-f]+ ([0-9a-f]+) [AM]\b", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Claims:
    """What tables say of the outcomes of a project."""

    entries: Mapping[Key, Entry]
    """The newest row that fits each outcome, and names a test."""
    old: frozenset[Key]
    """Those of them that only earlier versions of the table have."""
    hints: Mapping[Key, tuple[str, ...]]
    """Tests of rows of which it cannot be told which of several equals they mean."""


def with_claims(seen: Survey, project: ProjectSurvey) -> tuple[ProjectSurvey, Claims]:
    """Give a project the rows of its table, and of the earlier versions, that fit its outcomes.

    Args:
        seen: What is judged.
        project: One of its projects.
    """
    before = versions(seen.repository, project.table_path)
    claims = fitting(project.outcomes, project.table, before, _finder(seen, project))
    table = Table(tuple(claims.entries.values()), project.table.name)
    return replace(project, table=table, base_table=None), claims


def fitting(
    outcomes: Sequence[Outcome],
    table: Table,
    before: Iterable[Table],
    is_there: Callable[[str], bool],
) -> Claims:
    """Choose the newest row that fits each outcome.

    A number in a row's id tells equals of one patch apart, not those of a whole file: where there
    are several equals, what rows say of any of them is no more than a hint.

    Args:
        outcomes: Those that are judged.
        table: As it is now.
        before: Earlier versions, the newest first.
        is_there: Tells whether there still is such a test.
    """
    equals = Counter(map(_meaning, outcomes))
    single = {one.key: one for one in outcomes if equals[_meaning(one)] == 1}
    entries: dict[Key, Entry] = {}
    hints: dict[tuple[str, ...], dict[str, None]] = {}
    old: set[Key] = set()
    for age, version in enumerate((table, *before)):
        for entry in version.entries:
            if entry.test is None or (age and not is_there(entry.test)):
                continue
            outcome = single.get(entry.key)
            if outcome is None or _meaning(outcome) != _meaning(entry):
                hints.setdefault(_meaning(entry), {})[entry.test] = None
            elif entry.key not in entries:
                entries[entry.key] = entry
                old |= {entry.key} if age else set()
    meant = ((one.key, tuple(hints.get(_meaning(one), ()))) for one in outcomes)
    return Claims(entries, frozenset(old), {key: tests for key, tests in meant if tests})


def versions(repository: Repository, path: str) -> Iterator[Table]:
    """Yield earlier versions of a table, the newest first, but for those that cannot be read.

    Args:
        repository: In whose history they lie.
        path: Of the table.

    Raises:
        NoBaseError: git cannot read them.
    """
    asked = ("log", "--format=", "--raw", "--no-abbrev", "--no-renames", "-n", _MOST_VERSIONS)
    answer = repository.ask(*asked, "--", path)
    if answer.code != 0:
        return  # there is no commit yet
    ids = dict.fromkeys(found.decode() for found in _CHANGE.findall(answer.stdout))
    contents = repository.blobs(ids)
    for blob in ids:
        try:
            yield read(contents[blob], path)
        except (InvertgateError, KeyError):
            continue


def _meaning(of: Outcome | Entry) -> tuple[str, ...]:
    return (of.path, str(of.kind), of.predicate, str(of.side))


def _finder(seen: Survey, project: ProjectSurvey) -> Callable[[str], bool]:
    """Return what tells whether a test still stands where its id says."""

    @cache
    def text(file: str) -> str:
        path = Path(seen.repository.top, posixpath.join(project.folder, file))
        try:
            return path.read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""

    def is_there(test: str) -> bool:
        file, *names = test.split("[", 1)[0].split("::")
        return bool(names) and all(
            re.search(rf"\b{re.escape(name)}\b", text(file)) for name in names
        )

    return is_there
