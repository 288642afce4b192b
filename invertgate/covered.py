"""Ask coverage data before anything is inverted: which rows no test comes to, which tests to try.

The data were made by running tests one after another. What a test takes only when it is run alone
(because an earlier one left something behind) they may not show; so they spare experiments only to
who asks for it by ``--coverage``, and `bind` takes no more from them than whom to try first.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from invertgate.errors import UsageError
from invertgate.evidence import coverage
from invertgate.evidence.candidates import Sighting, in_order
from invertgate.evidence.coverage import Measured, UnusableError
from invertgate.experiment.told import Measurement, SessionError
from invertgate.model import Outcome, Result, Row, Verdict
from invertgate.patch.worktree import files_mentioning, files_of_worktree
from invertgate.request import Request
from invertgate.survey import ProjectSurvey, Survey
from invertgate.trial import Laboratory

_MEASURE: Final = "measure"
_LIES_THERE: Final = ".coverage"
_FIRST_TRIES: Final = 20
"""Tests tried for one row because of coverage data; those that run a line need not take a side."""


@dataclass(frozen=True, slots=True)
class Spared:
    """Rows that need no experiment, and those that do."""

    results: tuple[Result, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Judged:
    """What is judged, and where."""

    request: Request
    survey: Survey
    project: ProjectSurvey
    lab: Laboratory

    @property
    def top(self) -> Path:
        """Return the top of the user's tree."""
        return self.survey.repository.top

    @property
    def folder(self) -> Path:
        """Return the project's folder in the user's tree."""
        return self.top / self.project.folder


def without_experiment(
    request: Request,
    survey: Survey,
    project: ProjectSurvey,
    lab: Laboratory,
    rows: Sequence[Row],
) -> Spared:
    """Find the rows whose lines no test ran, by the coverage data that were asked for.

    Args:
        request: What the user asked for.
        survey: What is judged.
        project: The project whose rows they are.
        lab: Where tests can be run, to measure.
        rows: Rows with claims.

    Returns:
        A result for each row that is unreached, the rows that are left, and why data were refused.

    Raises:
        UsageError: The file that ``--coverage`` names does not exist.
    """
    judged = _Judged(request, survey, project, lab)
    wanted = project.config.coverage
    try:
        if not wanted or not rows:
            return Spared((), tuple(rows))
        if wanted == _MEASURE:
            return _by_measuring(judged, rows)
        return _by_data(judged, _named(judged, wanted), rows)
    except UnusableError as error:
        return Spared((), tuple(rows), (str(error),))


def first_sightings(
    request: Request, survey: Survey, project: ProjectSurvey, lab: Laboratory
) -> tuple[dict[int, list[Sighting]], tuple[str, ...]]:
    """Find tests that ran the lines of outcomes, by the contexts of coverage data.

    The data are those that ``--coverage`` asks for, or else a ``.coverage`` that lies there.

    Args:
        request: What the user asked for.
        survey: What is judged.
        project: The project whose tests they are.
        lab: Where its tests can be run, with the outcomes in question.

    Returns:
        The tests by slot, not many of them; and why data were refused.

    Raises:
        UsageError: The file that ``--coverage`` names does not exist.
    """
    judged = _Judged(request, survey, project, lab)
    wanted = project.config.coverage
    lying = judged.folder / _LIES_THERE
    try:
        if wanted == _MEASURE:
            measured, notes, _ = _measured(judged, project.config.tests, ())
        elif wanted:
            measured, notes = _read(judged, _named(judged, wanted))
            if not measured.tests:
                notes = (*notes, _no_contexts(measured))
        elif lying.is_file():
            measured, notes = _read(judged, lying)
        else:
            return {}, ()
    except UnusableError as error:
        return {}, (str(error),)
    return dict(_sightings(lab, measured)), notes


def _sightings(lab: Laboratory, measured: Measured) -> Iterator[tuple[int, list[Sighting]]]:
    for subject in lab.subjects:
        ran = measured.tests_on(subject.outcome) & measured.tests
        sightings = {test: Sighting(test, 0.0) for test in ran}
        likeliest = in_order(sightings.values(), subject.outcome.path)[:_FIRST_TRIES]
        if likeliest:
            yield subject.slot, [sightings[test] for test in likeliest]


def _by_measuring(judged: _Judged, rows: Sequence[Row]) -> Spared:
    """Run the claimed tests under coverage; what a probe saw in any process counts as well."""
    claimed = dict.fromkeys(claim.test for row in rows for claim in row.claims)
    files = judged.lab.existing(claimed)
    if not files:
        return Spared((), tuple(rows))
    measured, notes, measurement = _measured(judged, files, tuple(claimed))
    if measurement.blind:
        blind = f"{measured.name} spares no experiment: a child process could not be looked at"
        return Spared((), tuple(rows), (*notes, blind))
    seen = {
        subject.outcome.key
        for subject in judged.lab.subjects
        if subject.slot in measurement.taken or subject.file in measurement.bare
    }
    return _spared(measured, rows, lambda outcome: outcome.key not in seen, notes)


def _measured(
    judged: _Judged, tests: Sequence[str], only: Sequence[str]
) -> tuple[Measured, tuple[str, ...], Measurement]:
    what = "the claimed tests" if only else "the suite"
    judged.request.progress.stage(f"measuring coverage of {what}")
    if only:
        judged.request.progress.total(len(only))
    try:
        measurement = judged.lab.measure(tests, only)
    except SessionError as error:
        raise UnusableError(f"coverage of {what} could not be measured: {error}") from error
    name = f"the coverage measured on {what}"
    place = judged.lab.place
    tops = [place.scratch / str(number) / place.name for number in range(place.workers)]
    read = coverage.read(name, measurement.files, lambda path: _below(Path(path), tops))
    measured, notes = coverage.fitting(read, _sources(judged))
    return replace(measured, tests=measurement.passed), notes, measurement


def _by_data(judged: _Judged, data: Path, rows: Sequence[Row]) -> Spared:
    """Read data that were made elsewhere."""
    measured, notes = _read(judged, data)
    if not measured.tests:
        return Spared((), tuple(rows), (*notes, _no_contexts(measured)))
    external = judged.project.config.external
    there = {*judged.lab.existing(measured.tests)}
    known = frozenset(
        test
        for test in measured.tests
        if test.split("::", 1)[0] in there and not any(fnmatchcase(test, glob) for glob in external)
    )
    spared = _spared(replace(measured, tests=known), rows, lambda _: True, notes)
    word = _escape(judged) if spared.results else ""
    if not word:
        return spared
    note = (
        f"{measured.name} spares no experiment: the project's files mention {word!r}, and what is "
        "run that way may not have been measured (coverage's setting `patch`); "
        "`--coverage measure` can tell"
    )
    return Spared((), tuple(rows), (*notes, note))


def _spared(
    measured: Measured,
    rows: Sequence[Row],
    may_be: Callable[[Outcome], bool],
    notes: tuple[str, ...],
) -> Spared:
    results, left = [], []
    for row in rows:
        known = all(claim.test in measured.tests for claim in row.claims)
        if known and measured.unrun(row.outcome) and may_be(row.outcome):
            results.append(_unreached(row, measured))
        else:
            left.append(row)
    return Spared(tuple(results), tuple(left), notes)


def _unreached(row: Row, measured: Measured) -> Result:
    first, last = row.outcome.body
    lines = f"line {first}" if first == last else f"a line from {first} to {last}"
    reason = f"no test ran {lines}, says {measured.name}; no experiment was made"
    outcome = row.outcome
    return Result(outcome.path, outcome.id, Verdict.UNREACHED, reason, row.claims[0].test)


def _no_contexts(measured: Measured) -> str:
    return (
        f"{measured.name} is not used: it does not tell which tests ran what; "
        "make it with `pytest --cov --cov-context=test`"
    )


def _named(judged: _Judged, file: str) -> Path:
    """Return the file that the user names, from where the user stands or from the project."""
    for folder in (judged.request.root, judged.folder, judged.top):
        if (folder / file).is_file():
            return folder / file
    raise UsageError(
        f"--coverage {file}: there is no such file; give a data file of coverage.py, "
        "or `measure` to have one made"
    )


def _read(judged: _Judged, data: Path) -> tuple[Measured, tuple[str, ...]]:
    """Read data that were made elsewhere, if nothing changed since."""
    name = f"the coverage data in {os.path.relpath(data, judged.top)}"
    if judged.request.head:
        raise UnusableError(
            f"{name} is not used: it is of the working tree, and {judged.request.head} is judged"
        )
    changed = coverage.newer(data, judged.top, _what_counts(judged, data))
    if changed:
        raise UnusableError(f"{name} is not used: {changed} was written after it")
    try:
        read = coverage.read(name, [data], lambda path: _below(judged.folder / path, [judged.top]))
    except UnusableError as error:
        raise UnusableError(f"{name} is not used: {error}") from error
    return coverage.fitting(read, _sources(judged))


def _what_counts(judged: _Judged, data: Path) -> Iterator[str]:
    """Yield the files a change of which may change what tests run: not the tables, nor reports."""
    files = files_of_worktree(judged.survey.repository)
    apart = {project.table_path for project in judged.survey.projects}
    apart.add(os.path.relpath(data, judged.top))
    yield from (path for path in files.tracked if path not in apart)
    yield from (path for path in files.untracked if path.endswith(".py"))


def _sources(judged: _Judged) -> dict[str, bytes]:
    sources = judged.survey.sources()
    paths = {subject.outcome.path for subject in judged.lab.subjects}
    return {path: sources[path] for path in sorted(paths)}


def _below(path: Path, tops: Sequence[Path]) -> str | None:
    real = Path(os.path.realpath(path))
    for top in tops:
        if real.is_relative_to(os.path.realpath(top)):
            return real.relative_to(os.path.realpath(top)).as_posix()
    return None


def _escape(judged: _Judged) -> str:
    """Return a word of the project's files that tells of code which was run unseen, or nothing."""
    patched = coverage.patches([judged.folder, judged.top])
    for word in coverage.ESCAPES:
        found = coverage.unseen(word, patched) and files_mentioning(judged.survey.repository, word)
        if found:
            return word
    return ""
