"""Search tests that kill the mutants of rows: which are tried, in which order, what came of it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Final

from invertgate.config import Kill
from invertgate.covered import first_sightings
from invertgate.errors import EngineError
from invertgate.evidence.bodies import may_assert
from invertgate.evidence.candidates import Sighting, by_slot, in_order
from invertgate.experiment.judge import is_kill, judge
from invertgate.experiment.plan import Experiment, Subject
from invertgate.experiment.told import SessionError, Taken, Tried
from invertgate.frozen import Lists, flaky_tests
from invertgate.model import Claim, ClaimSource, Killer, Outcome, PolicySource, Row, Verdict
from invertgate.patch.scope import Judged
from invertgate.request import Request
from invertgate.survey import ProjectSurvey, Survey
from invertgate.table.selection import written
from invertgate.trial import Laboratory

_MOST_LOOKS: Final = 20_000
"""Tests that are run alone to see what they take, at most."""
_COLD_TRIES: Final = 20
"""Tests tried at most for an outcome that is taken at import: each costs fresh processes."""
_AFTER_CRASH: Final = 3
"""Tests tried after one that notices only by an exception, in search of one that asserts."""


@dataclass(frozen=True, slots=True)
class Kills:
    """A test that notices."""

    test: str
    asserts: bool
    """By an assertion of its own, not by an exception out of the code."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """What came of a test that does not bind."""

    reason: str
    is_green: bool
    """It took the outcome, and noticed nothing at all."""


@dataclass(slots=True)
class Search:
    """What was tried so far for the rows of a project."""

    subjects: dict[int, Subject]
    """Rows that are searched for, by number."""
    claims: dict[int, tuple[Claim, ...]] = field(default_factory=dict)
    """What claimed each of them before."""
    found: dict[int, Kills] = field(default_factory=dict)
    wanting: set[int] = field(default_factory=set)
    """Rows whose claim only crashes; some tests are tried for a better one."""
    tried: dict[int, dict[str, Attempt]] = field(default_factory=dict)
    """By row: what came of each test that does not bind it."""
    untried: dict[int, int] = field(default_factory=dict)
    """By row: how many more tests take it than may be tried."""
    at_import: set[int] = field(default_factory=set)
    suite: dict[str, Taken] = field(default_factory=dict)
    alone: dict[str, Taken] = field(default_factory=dict)
    """What tests take that were also run alone."""
    notes: list[str] = field(default_factory=list)
    flaky: Lists = field(default_factory=Lists)
    """Tests that would bind nothing."""

    def open(self) -> list[Subject]:
        """Return the rows that nothing binds yet, or nothing good enough."""
        return [
            each
            for number, each in self.subjects.items()
            if number not in self.found or number in self.wanting
        ]

    def fresh(self) -> dict[int, str]:
        """Return the tests that bind rows which they did not claim before."""
        claimed = {
            number: {claim.test for claim in claims} for number, claims in self.claims.items()
        }
        return {
            number: kills.test
            for number, kills in sorted(self.found.items())
            if kills.test not in claimed.get(number, ())
        }

    def offer(self, number: int, kills: Kills) -> None:
        """Take a test that notices, unless the one that is known is as good."""
        known = self.found.get(number)
        if known is None or (kills.asserts and not known.asserts):
            self.found[number] = kills


def search_tests(
    request: Request, seen: Survey, lab: Laboratory, project: ProjectSurvey, rows: Sequence[Row]
) -> Search:
    """Try the tests that claim rows; then what coverage data suggest; then what the suite shows.

    Args:
        request: What the user asked for.
        seen: What is judged.
        lab: Where, with the outcomes of these rows.
        project: The project of the rows.
        rows: Those that are searched for. The claims of one are tried first, and count.

    Raises:
        EngineError: pytest could not be run.
    """
    search = _begun(request, seen, lab, project, rows)
    asserts = _asserting(seen, project, rows)
    try:
        _try_claims(request, lab, search)
        if search.open():
            suggested, notes = first_sightings(request, seen, project, lab)
            search.notes += notes
            _try(request, lab, search, _candidates(lab, search, suggested, asserts))
        if search.open():
            _run_suite(request, lab, search)
            sightings = _sightings(search.suite.values())
            _try(request, lab, search, _candidates(lab, search, sightings, asserts))
            search.wanting.clear()
        if search.open():
            sightings = _looked_closer(request, lab, search)
            _try(request, lab, search, _candidates(lab, search, sightings, asserts))
    except SessionError as error:
        raise EngineError(f"pytest could not be run on a copy of the project: {error}") from error
    return search


def _begun(
    request: Request, seen: Survey, lab: Laboratory, project: ProjectSurvey, rows: Sequence[Row]
) -> Search:
    by_key = {subject.outcome.key: subject for subject in lab.subjects}
    numbered = [(by_key[row.outcome.key], row.claims) for row in rows]
    return Search(
        {subject.number: subject for subject, _ in numbered},
        {subject.number: claims for subject, claims in numbered if claims},
        flaky=flaky_tests(
            seen.repository,
            project.folder,
            seen.patch.base if seen.policy is PolicySource.BASE else "",
            request.head,
            request.today,
            project.config.max_quarantine_days,
        ),
    )


def _asserting(seen: Survey, project: ProjectSurvey, rows: Sequence[Row]) -> Callable[[str], bool]:
    """Return what tells whether a test may assert something, as far as its source says."""
    files = Judged(seen.repository, seen.patch.base, seen.patch.head).head_files()
    production = {part for row in rows for part in row.outcome.path.removesuffix(".py").split("/")}
    known: dict[str, Mapping[str, bool]] = {}

    def asserts(test: str) -> bool:
        file, _, name = test.partition("[")[0].partition("::")
        if file not in known:
            path = f"{project.folder}/{file}" if project.folder else file
            known[file] = may_assert(files([path]).get(path, b""), production)
        return known[file].get(name, True)

    return asserts


def _try_claims(request: Request, lab: Laboratory, search: Search) -> None:
    """Try the tests that claim rows, as carefully as the gate does."""
    experiments: list[Experiment] = []
    for number, claims in search.claims.items():
        for claim in claims:
            if search.flaky.freezing(claim.test) is not None:
                attempts = search.tried.setdefault(number, {})
                attempts[claim.test] = Attempt("it is on the list of flaky tests", is_green=False)
        tests = tuple(c.test for c in claims if c.test not in search.tried.get(number, {}))
        if tests:
            subject = search.subjects[number]
            experiments.append(Experiment(len(experiments), tests, (subject,), first=True))
    careful = replace(lab, options=replace(lab.options, doubt=True))
    _try(request, careful, search, experiments)
    for number, kills in search.found.items():
        of_table = all(claim.source is ClaimSource.TABLE for claim in search.claims[number])
        if of_table and not kills.asserts:
            search.wanting.add(number)


def _run_suite(request: Request, lab: Laboratory, search: Search) -> None:
    request.progress.stage("running the suite to see which tests take the outcomes")
    for taken in lab.search(list(lab.config.tests)):
        search.suite[taken.test] = taken
        search.at_import |= taken.at_import
        request.progress.advance(None, taken.test)


def _sightings(taken: Iterable[Taken]) -> dict[int, list[Sighting]]:
    return by_slot(
        (Sighting(each.test, each.seconds), each.slots)
        for each in taken
        if each.passed and not each.external
    )


def _looked_closer(request: Request, lab: Laboratory, search: Search) -> dict[int, list[Sighting]]:
    """Run every test alone: in one process an earlier test may hide what a later one takes."""
    passing = [each.test for each in search.suite.values() if each.passed and not each.external]
    if len(passing) > _MOST_LOOKS:
        search.notes.append(
            f"of {len(passing)} tests only the first {_MOST_LOOKS} were also run alone"
        )
    request.progress.stage("running each test alone")
    request.progress.total(min(len(passing), _MOST_LOOKS))
    for taken in lab.look(list(lab.config.tests), passing[:_MOST_LOOKS]):
        search.alone[taken.test] = taken
        request.progress.advance(None, taken.test)
    return _sightings(search.alone.values())


def _candidates(
    lab: Laboratory,
    search: Search,
    sightings: Mapping[int, Sequence[Sighting]],
    asserts: Callable[[str], bool],
) -> Iterator[Experiment]:
    """Plan one experiment for each open row: the tests that may bind it, one after another."""
    beyond = _AFTER_CRASH if lab.config.kill is Kill.ANY else lab.config.tries
    for number, subject in enumerate(search.open()):
        known = {claim.test for claim in search.claims.get(subject.number, ())}
        known |= search.tried.get(subject.number, {}).keys()
        order = in_order(sightings.get(subject.slot, ()), subject.outcome.path, asserts)
        most = _AFTER_CRASH if subject.number in search.wanting else lab.config.tries
        if search.at_import.intersection((subject.slot, *subject.inverted)):
            order += _by_name(search, subject.outcome, asserts)
            most = min(most, _COLD_TRIES)
        tests = [
            test
            for test in dict.fromkeys(order)
            if test not in known and search.flaky.freezing(test) is None
        ]
        search.untried[subject.number] = max(0, len(tests) - most)
        if tests:
            yield Experiment(number, tuple(tests[:most]), (subject,), first=True, beyond=beyond)


def _by_name(search: Search, outcome: Outcome, asserts: Callable[[str], bool]) -> list[str]:
    """Return tests for an outcome that is taken at import, before any test could be seen to."""
    passing = [each for each in search.suite.values() if each.passed and not each.external]
    return in_order((Sighting(each.test, each.seconds) for each in passing), outcome.path, asserts)


def _try(
    request: Request, lab: Laboratory, search: Search, experiments: Iterable[Experiment]
) -> None:
    """Try candidates, and note what each came to."""
    planned = list(experiments)
    if not planned:
        return
    request.progress.stage("trying tests on inverted outcomes")
    request.progress.total(len(planned))
    waiting = {experiment.number: experiment for experiment in planned}
    subjects = {experiment.number: experiment.subjects[0] for experiment in planned}
    for tried in chain.from_iterable(map(lab.conduct, lab.parts(planned))):
        subject = subjects[tried.experiment]
        _note(lab, search, subject, tried)
        if waiting.pop(tried.experiment, None) is not None:
            request.progress.advance(None, written(subject.outcome.key))


def _note(lab: Laboratory, search: Search, subject: Subject, tried: Tried) -> None:
    runs = [run for run in tried.runs.get(subject.number, ()) if run.counted]
    judgement = judge(tried.runs.get(subject.number, ()), lab.policy)
    kills = [run for run in runs if run.inverted and is_kill(run)]
    if judgement.verdict is Verdict.BOUND and not tried.stand:
        asserts = bool(kills) and all(run.killer is Killer.ASSERTION for run in kills)
        search.offer(subject.number, Kills(tried.test, asserts))
        return
    is_green = judgement.verdict is Verdict.WEAK and not kills and not tried.stand
    reason = (tried.reason or tried.stand) if tried.stand else judgement.reason
    search.tried.setdefault(subject.number, {})[tried.test] = Attempt(reason, is_green)
