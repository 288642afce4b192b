"""Find, for each row that nobody claims, a test that kills its mutant."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Final

from invertgate.covered import first_sightings
from invertgate.errors import EngineError
from invertgate.evidence.candidates import Sighting, by_slot, in_order
from invertgate.experiment.judge import judge
from invertgate.experiment.plan import Experiment, Subject
from invertgate.experiment.session import SessionError
from invertgate.experiment.told import Taken
from invertgate.frozen import Lists, flaky_tests
from invertgate.locked import with_locks
from invertgate.markers import files_bearing_markers, marked
from invertgate.model import Outcome, PolicySource, Row, Verdict
from invertgate.patch.git import open_repository
from invertgate.report.document import BindReport, Unkilled
from invertgate.request import Request
from invertgate.survey import ProjectSurvey, Survey, survey
from invertgate.table import document
from invertgate.table.selection import Key
from invertgate.table.store import write_file
from invertgate.trial import Laboratory, laboratory, usable_cores
from invertgate.waived import live_waivers

_NEAREST: Final = 3
_MOST_LOOKS: Final = 20_000
"""Tests that are run alone to see what they take, at most."""
_COLD_TRIES: Final = 20
"""Tests tried at most for an outcome that is taken at import: each costs fresh processes."""


@dataclass(slots=True)
class _Search:
    """What was tried so far for the rows of a project."""

    subjects: dict[int, Subject]
    found: dict[int, str] = field(default_factory=dict)
    tried: dict[int, dict[str, str]] = field(default_factory=dict)
    """By row: the reason why each test that was tried does not bind it."""
    weak: dict[int, list[str]] = field(default_factory=dict)
    at_import: set[int] = field(default_factory=set)
    suite: dict[str, Taken] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    flaky: Lists = field(default_factory=Lists)
    """Tests that would bind nothing."""

    def open(self) -> list[Subject]:
        """Return the rows that nothing binds yet."""
        return [each for number, each in self.subjects.items() if number not in self.found]


def run(request: Request) -> BindReport:
    """Search a test for each row without one, and write what is found into the tables.

    Raises:
        InvertgateError: The search cannot be made; the message says what to do.
    """
    seen = survey(request, open_repository(request.root, request.environment))
    parts = [_bound(request, seen, project) for project in seen.projects]
    return BindReport(
        bound=tuple(pair for part in parts for pair in part.bound),
        unkilled=tuple(each for part in parts for each in part.unkilled),
        claimed=sum(part.claimed for part in parts),
        tables=tuple(path for part in parts for path in part.tables),
        written=tuple(path for part in parts for path in part.written),
        not_parsed=seen.listing.not_parsed,
        notes=tuple(
            dict.fromkeys(
                (*seen.notes, *seen.patch.notes, *(n for part in parts for n in part.notes))
            )
        ),
    )


def _bound(request: Request, seen: Survey, project: ProjectSurvey) -> BindReport:
    """Search for the rows of one project."""
    matched = seen.matched(project)
    bearing = files_bearing_markers(seen, project)
    if not matched.rows:
        return BindReport((), ())
    waived = frozenset() if request.ids else live_waivers(request, seen)
    wanted = [row for row in matched.rows if not row.claims and row.outcome.key not in waived]
    search = _Search({})
    claimed = sum(bool(row.claims) for row in matched.rows)
    spared = _spared(len(matched.rows) - claimed - len(wanted))
    if wanted:
        outcomes = [row.outcome for row in wanted]
        most = project.config.workers or usable_cores()
        with laboratory(request, seen, project, outcomes, most_workers=most, doubt=False) as lab:
            markers = marked(lab, project, bearing)
            rows = [row for row in wanted if not markers.tests.get(row.outcome.key)]
            claimed += len(wanted) - len(rows)
            search = _searched(request, seen, lab, project, rows)
            search.notes += (*markers.notes, *lab.notes)
    found = {search.subjects[number].outcome.key: test for number, test in search.found.items()}
    written, notes = _write(request, seen, project, found)
    return BindReport(
        bound=tuple((search.subjects[n].outcome, test) for n, test in sorted(search.found.items())),
        unkilled=tuple(_unkilled(search, subject) for subject in search.open()),
        claimed=claimed,
        tables=(project.table_path,),
        written=written,
        notes=(*spared, *search.notes, *notes),
    )


def _spared(count: int) -> tuple[str, ...]:
    """Tell of rows that a waiver lets pass, and that nothing was searched for."""
    rows = "1 waived row was" if count == 1 else f"{count} waived rows were"
    return (f"{rows} not searched for; `--id ID` searches all the same",) if count else ()


def _searched(
    request: Request,
    seen: Survey,
    lab: Laboratory,
    project: ProjectSurvey,
    rows: Sequence[Row],
) -> _Search:
    """Try what coverage data suggest; run the suite to see what takes what; then look closer."""
    by_key = {subject.outcome.key: subject for subject in lab.subjects}
    wanted = [by_key[row.outcome.key] for row in rows]
    search = _Search(
        {subject.number: subject for subject in wanted},
        flaky=flaky_tests(
            seen.repository,
            project.folder,
            seen.patch.base if seen.policy is PolicySource.BASE else "",
            request.head,
            request.today,
            project.config.max_quarantine_days,
        ),
    )
    suite = list(project.config.tests)
    suggested, notes = first_sightings(request, seen, project, lab)
    search.notes += notes
    try:
        _try(request, lab, search, _candidates(lab, search, suggested))
        if not search.open():
            return search
        request.progress.stage("running the suite to see which tests take the outcomes")
        for taken in lab.search(suite):
            search.suite[taken.test] = taken
            search.at_import |= taken.at_import
            request.progress.advance(None, taken.test)
        sightings = _sightings(search.suite.values())
        _try(request, lab, search, _candidates(lab, search, sightings))
        if search.open():
            sightings = _looked_closer(request, lab, search, suite)
            _try(request, lab, search, _candidates(lab, search, sightings))
    except SessionError as error:
        raise EngineError(f"pytest could not be run on a copy of the project: {error}") from error
    return search


def _sightings(taken: Iterable[Taken]) -> dict[int, list[Sighting]]:
    return by_slot(
        (Sighting(each.test, each.seconds), each.slots)
        for each in taken
        if each.passed and not each.external
    )


def _looked_closer(
    request: Request, lab: Laboratory, search: _Search, suite: Sequence[str]
) -> dict[int, list[Sighting]]:
    """Run every test alone: in one process an earlier test may hide what a later one takes."""
    passing = [each.test for each in search.suite.values() if each.passed and not each.external]
    if len(passing) > _MOST_LOOKS:
        search.notes.append(
            f"of {len(passing)} tests only the first {_MOST_LOOKS} were also run alone"
        )
    request.progress.stage("running each test alone")
    request.progress.total(min(len(passing), _MOST_LOOKS))
    looked = []
    for taken in lab.look(suite, passing[:_MOST_LOOKS]):
        looked.append(taken)
        request.progress.advance(None, taken.test)
    return _sightings(looked)


def _candidates(
    lab: Laboratory, search: _Search, sightings: Mapping[int, Sequence[Sighting]]
) -> Iterator[Experiment]:
    """Plan one experiment for each open row: the tests that may bind it, one after another."""
    for number, subject in enumerate(search.open()):
        known = search.tried.get(subject.number, {})
        order = in_order(sightings.get(subject.slot, ()), subject.outcome.path)
        most = lab.config.tries
        if search.at_import.intersection((subject.slot, *subject.inverted)):
            order += _by_name(search, subject.outcome)
            most = min(most, _COLD_TRIES)
        tests = [
            test
            for test in dict.fromkeys(order)
            if test not in known and search.flaky.freezing(test) is None
        ]
        if tests:
            yield Experiment(number, tuple(tests[:most]), (subject,), first=True)


def _by_name(search: _Search, outcome: Outcome) -> list[str]:
    """Return tests for an outcome that is taken at import, before any test could be seen to."""
    passing = [each for each in search.suite.values() if each.passed and not each.external]
    return in_order((Sighting(each.test, each.seconds) for each in passing), outcome.path)


def _try(
    request: Request, lab: Laboratory, search: _Search, experiments: Iterable[Experiment]
) -> None:
    """Try candidates, and note what each came to."""
    planned = list(experiments)
    if not planned:
        return
    request.progress.stage("trying tests on inverted outcomes")
    request.progress.total(len(planned))
    by_number = {experiment.number: experiment for experiment in planned}
    for tried in chain.from_iterable(map(lab.conduct, lab.parts(planned))):
        (subject,) = by_number[tried.experiment].subjects
        judgement = judge(tried.runs.get(subject.number, ()), lab.policy)
        if tried.stand:
            judgement = replace(judgement, reason=tried.reason or tried.stand)
        reasons = search.tried.setdefault(subject.number, {})
        reasons[tried.test] = judgement.reason
        if judgement.verdict is Verdict.BOUND:
            search.found[subject.number] = tried.test
        elif judgement.verdict is Verdict.WEAK:
            search.weak.setdefault(subject.number, []).append(tried.test)
        request.progress.advance(None, tried.test)


def _unkilled(search: _Search, subject: Subject) -> Unkilled:
    reasons = search.tried.get(subject.number, {})
    weak = search.weak.get(subject.number, [])
    nearest = tuple((weak or list(reasons))[:_NEAREST])
    if not reasons:
        why = "no test that passes takes this outcome"
    elif len(weak) == len(reasons):
        why = "every test that takes it stays green when it is inverted"
    else:
        others = [reason for test, reason in reasons.items() if test not in weak]
        why = f"no test noticed; {others[0]}"
    return Unkilled(subject.outcome, len(reasons), why, nearest)


def _write(
    request: Request, seen: Survey, project: ProjectSurvey, found: Mapping[Key, str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Write what was found into the table, and locks if asked; return its path if that changed."""
    new = seen.updated(project, found)
    notes: tuple[str, ...] = ()
    if request.lock:
        new, notes = with_locks(seen, project, new)
    path = project.table_path
    content = document.write(new, Path(path).suffix)
    changed = write_file(seen.repository.top / path, content, seen.repository.top)
    return ((path,) if changed else ()), notes
