"""Try the tests that take outcomes which nobody claims, a few a round, the likeliest first."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from invertgate.evidence.candidates import Sighting, by_slot, in_order
from invertgate.experiment.judge import judge
from invertgate.experiment.plan import Subject, by_test
from invertgate.experiment.session import OutOfTimeError
from invertgate.experiment.told import SessionError, Taken, Tried
from invertgate.model import Ending, Outcome, Result, Row, Run, Verdict
from invertgate.trial import Laboratory

_ENDLESS: Final = 3
"""How many tests may use up their time on a row before it is given up: each takes seconds."""
_USED_UP: Final = (Ending.CPU, Ending.WALL)
_COLD_TRIES: Final = 5
"""Tests tried for an outcome that is taken at import: each costs fresh processes."""
_NAMED: Final = 10
"""Tests that a row names, of those that stayed green."""

Known = Callable[[Outcome], Mapping[str, Result]]
"""Tells what earlier nights say of a row, by test."""
Keep = Callable[[Row, Result, tuple[str, ...] | None], None]
"""Takes what one test came to for a row, and what its runs opened."""
Told = Callable[[Row, Result], None]
"""Takes the result of a row."""


@dataclass(slots=True)
class _Open:
    """A row that is not decided yet."""

    row: Row
    subject: Subject
    waiting: list[str] = field(default_factory=list)
    """Tests to be tried, in their order."""
    tried: dict[str, Result] = field(default_factory=dict)

    def of(self, verdict: Verdict) -> list[Result]:
        return [result for result in self.tried.values() if result.verdict is verdict]


@dataclass(frozen=True, slots=True)
class Ways:
    """What a search is given, and whom it tells."""

    known: Known
    keep: Keep
    told: Told
    freezes: Callable[[str], bool]
    """Tells whether a test is on the live list of flaky ones."""
    stage: Callable[[str], None]


class Search:
    """Searches tests for rows of one project, the suite being run once for all of them."""

    def __init__(self, lab: Laboratory, ways: Ways) -> None:
        self._lab = replace(lab, options=replace(lab.options, doubt=False))
        self._doubting = lab
        self._ways = ways
        self._subjects = {subject.outcome.key: subject for subject in lab.subjects}
        self._suite: list[Taken] | None = None
        self._trouble = ""

    def search(self, rows: Sequence[Row], hints: Mapping[tuple[str, str], Sequence[str]]) -> None:
        """Decide rows that nothing claims.

        Args:
            rows: The rows.
            hints: Tests to be tried before the suite is run, by path and id.

        Raises:
            OutOfTimeError: The deadline has passed.
        """
        opened = [_Open(row, self._subjects[row.outcome.key]) for row in rows]
        for each in opened:
            known = self._ways.known(each.row.outcome)
            bound = [test for test, one in known.items() if one.verdict is Verdict.BOUND]
            each.waiting = [*bound[:1], *hints.get(each.row.outcome.key, ())]
        opened = self._tried(opened)
        if opened:
            self._look_for_candidates(opened)
            opened = self._tried(opened)
            self._doubt(opened)
            for each in opened:
                if not each.of(Verdict.BOUND):
                    self._conclude(each)

    def _tried(self, opened: Sequence[_Open]) -> list[_Open]:
        """Try what is waiting, in rounds; return the rows that nothing binds."""
        left, size, first = list(opened), 1, True
        while any(each.waiting for each in left):
            self._round(left, size)
            left = [each for each in left if not each.of(Verdict.BOUND)]
            size, first = (size if first else 2 * size), False
        return left

    def _round(self, opened: Sequence[_Open], size: int) -> None:
        asked: list[tuple[Subject, str]] = []
        for each in opened:
            known = self._ways.known(each.row.outcome)
            tests, each.waiting = each.waiting[:size], each.waiting[size:]
            for test in dict.fromkeys(tests):
                if test in each.tried or self._ways.freezes(test):
                    continue
                if test in known:
                    self._take(each, known[test])
                else:
                    asked.append((each.subject, test))
            if each.of(Verdict.BOUND):
                each.waiting = []
        self._conduct(self._lab, opened, asked)

    def _conduct(
        self, lab: Laboratory, opened: Sequence[_Open], asked: Sequence[tuple[Subject, str]]
    ) -> None:
        rows = {each.subject.number: each for each in opened}
        experiments = by_test(
            (s, test) for s, test in asked if not rows[s.number].of(Verdict.BOUND)
        )
        by_number = {experiment.number: experiment for experiment in experiments}
        for part in lab.parts(experiments):
            try:
                for tried in lab.conduct(part):
                    for subject in by_number[tried.experiment].subjects:
                        self._heard(rows[subject.number], tried)
                    self._look_at_the_clock()
            except SessionError as error:
                why = f"pytest could not be run on the copy: {error}"
                for experiment in part:
                    for subject in experiment.subjects:
                        _lose(rows[subject.number], experiment.tests[0], why)

    def _look_at_the_clock(self) -> None:
        if time.monotonic() > self._lab.place.deadline:
            raise OutOfTimeError

    def _heard(self, each: _Open, tried: Tried) -> None:
        runs = tried.runs.get(each.subject.number, ())
        result = _result(each.row, tried, runs, self._lab)
        self._ways.keep(each.row, result, tried.opened)
        self._take(each, result)

    def _take(self, each: _Open, result: Result) -> None:
        was_bound = bool(each.of(Verdict.BOUND))
        each.tried[result.test] = result
        if sum(map(_never_ended, each.tried.values())) >= _ENDLESS:
            each.waiting = []
        if result.verdict is Verdict.BOUND and not was_bound:
            weak = tuple(one.test for one in each.of(Verdict.WEAK))[:_NAMED]
            self._ways.told(each.row, replace(result, weak_tests=weak))

    def _look_for_candidates(self, opened: Sequence[_Open]) -> None:
        """See which tests take the rows, by one ordinary run of the suite."""
        suite = self._taken()
        passing = [each for each in suite if each.passed and not each.external]
        seen = by_slot((Sighting(each.test, each.seconds), each.slots) for each in passing)
        at_import = frozenset[int]().union(*(each.at_import for each in suite))
        for each in opened:
            path = each.row.outcome.path
            known = self._ways.known(each.row.outcome)
            order = in_order(seen.get(each.subject.slot, ()), path)
            order.sort(key=lambda test: test not in known)  # those cost nothing
            most = self._lab.config.tries
            if at_import.intersection((each.subject.slot, *each.subject.inverted)):
                order += in_order((Sighting(one.test, one.seconds) for one in passing), path)
                most = _COLD_TRIES
            each.waiting = [test for test in dict.fromkeys(order) if test not in each.tried][:most]

    def _taken(self) -> list[Taken]:
        if self._suite is None:
            self._ways.stage("running the suite to see which tests take the outcomes")
            self._suite = []
            try:
                for taken in self._lab.search(self._lab.config.tests):
                    self._suite.append(taken)
                    self._look_at_the_clock()
            except SessionError as error:
                self._trouble = f"pytest could not run the suite on the copy: {error}"
            self._ways.stage("trying tests on inverted outcomes")
        return self._suite

    def _conclude(self, each: _Open) -> None:
        """Say what becomes of a row that no test binds."""
        key, weak = each.row.outcome.key, each.of(Verdict.WEAK)
        unclear = [one for one in each.tried.values() if one.verdict is Verdict.UNPROVEN]
        if self._trouble and not each.tried:
            result = Result(*key, Verdict.UNPROVEN, self._trouble)
        elif not weak and not unclear:
            result = Result(*key, Verdict.UNREACHED, self._why_unreached(each))
        else:
            result = _green(weak, unclear)
        self._ways.told(each.row, result)

    def _doubt(self, opened: Sequence[_Open]) -> None:
        """Ask a fresh process before the likeliest test of each row is blamed."""
        asked = [
            (each.subject, weak[0].test)
            for each in opened
            if (weak := each.of(Verdict.WEAK)) and not any(map(_was_doubted, weak))
        ]
        self._conduct(self._doubting, opened, asked)

    def _why_unreached(self, each: _Open) -> str:
        if each.tried:
            return "in a run of the suite tests take this outcome, but none of them does alone"
        takers = [one for one in self._taken() if each.subject.slot in one.slots]
        if any(one.external for one in takers):
            return "only tests with an outside cost take this outcome"
        if takers:
            return f"only tests that do not pass take this outcome ({takers[0].test})"
        if not any(one.slots or one.at_import for one in self._taken()):
            return (
                "no test takes any of these outcomes; if that cannot be, the tests import the code "
                "from elsewhere: `invertgate doctor` tells"
            )
        return "no test takes this outcome, in one run of the suite; no experiment was made"


def _never_ended(result: Result) -> bool:
    return any(run.ending in _USED_UP for run in result.runs)


def _was_doubted(weak: Result) -> bool:
    return any(run.cold and run.inverted for run in weak.runs)


def _green(weak: Sequence[Result], unclear: Sequence[Result]) -> Result:
    """Say so of a row that tests take, none of which notices; or that it is not clear."""
    tests = tuple(one.test for one in weak)[:_NAMED]
    if unclear:
        return replace(unclear[0], weak_tests=tests)
    likeliest = next(filter(_was_doubted, weak), weak[0])
    more = f", and in {len(weak) - 1} more that take it" if len(weak) > 1 else ""
    return replace(likeliest, reason=f"{likeliest.reason}{more}", weak_tests=tests)


def _result(row: Row, tried: Tried, runs: Sequence[Run], lab: Laboratory) -> Result:
    key = row.outcome.key
    if tried.held or tried.stand:
        why = tried.reason or tried.stand or f'it does not pass under contain = "{tried.held}"'
        return Result(*key, Verdict.UNPROVEN, why, tried.test)
    judgement = judge(runs, lab.policy)
    verdict = Verdict.UNPROVEN if judgement.verdict is Verdict.RED else judgement.verdict
    return Result(*key, verdict, judgement.reason, tried.test, tuple(runs))


def _lose(each: _Open, test: str, why: str) -> None:
    if test not in each.tried:
        each.tried[test] = Result(*each.row.outcome.key, Verdict.UNPROVEN, why, test)
