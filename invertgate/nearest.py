"""Why no test binds a row, and which tests came nearest."""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final

from invertgate.evidence.candidates import Durability, Sighting, durability, in_order
from invertgate.experiment.plan import Subject
from invertgate.experiment.told import Taken
from invertgate.model import Side
from invertgate.report.document import Unkilled
from invertgate.search import Search

_MOST: Final = 3
_TWO_SIDED: Final = frozenset((Side.TRUE, Side.FALSE))
_GREEN: Final = "it takes the outcome, and stays green when that is inverted"

_Near = tuple[str, str]
"""A nodeid, and why the test does not bind the row."""


def unkilled(search: Search, subject: Subject) -> Unkilled:
    """Say why no test binds a row.

    Args:
        search: When it is over.
        subject: A row that nothing binds.
    """
    tried = search.tried.get(subject.number, {})
    green = [(test, _GREEN) for test, attempt in tried.items() if attempt.is_green]
    others = [(test, attempt.reason) for test, attempt in tried.items() if not attempt.is_green]
    near = dict[str, str]()
    for test, why in chain(green, others, _passed_over(search, subject), _beside(search, subject)):
        near.setdefault(test, why)
        if len(near) == _MOST:
            break
    why = _reason(green, others)
    if more := search.untried.get(subject.number, 0):
        why += f"; {more} more take it and were not tried (option `tries`)"
    return Unkilled(subject.outcome, len(tried), why, tuple(near), near)


def _reason(green: list[_Near], others: list[_Near]) -> str:
    if not green and not others:
        return "no test that passes takes this outcome"
    if not others:
        return "every test that takes it stays green when it is inverted"
    return f"no test noticed; {others[0][1]}"


def _passed_over(search: Search, subject: Subject) -> Iterator[_Near]:
    """Yield tests that take the outcome and were not tried for a reason of their own."""
    for taken in search.suite.values():
        if subject.slot not in taken.slots:
            continue
        if taken.external:
            yield taken.test, "it takes the outcome, and has an outside cost (marker external)"
        elif not taken.passed:
            yield taken.test, "it takes the outcome, and does not pass as things are"
        elif search.flaky.freezing(taken.test) is not None:
            yield taken.test, "it takes the outcome, and is on the list of flaky tests"
        elif durability(taken.test) is Durability.UNSTABLE:
            yield taken.test, "it takes the outcome, and its id is another one in every process"


def _beside(search: Search, subject: Subject) -> Iterator[_Near]:
    """Yield tests that come close to the outcome and do not take it."""
    passing = [taken for taken in search.suite.values() if taken.passed and not taken.external]
    outcome = subject.outcome
    if outcome.side in _TWO_SIDED:
        for test in _takers(passing, {subject.slot ^ 1}, outcome.path):
            yield test, "it takes the other side only"
    if not outcome.scope:
        return
    neighbours = {
        slot
        for other in search.subjects.values()
        if (other.outcome.path, other.outcome.scope) == (outcome.path, outcome.scope)
        for slot in (other.slot, other.slot ^ 1)
    }
    for test in _takers(passing, neighbours - {subject.slot}, outcome.path):
        yield test, f"it takes another outcome of {outcome.scope}"


def _takers(passing: Iterable[Taken], slots: set[int], path: str) -> list[str]:
    found = (Sighting(each.test, each.seconds) for each in passing if slots & each.slots)
    return in_order(found, path)
