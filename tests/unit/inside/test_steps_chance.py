from collections.abc import Iterator

import pytest

from invertgate.inside.budget import Options
from invertgate.inside.record import Record
from invertgate.inside.runs import Order
from invertgate.inside.steps import Experiment, RowAtWork, holds

OPTIONS = Options(
    confirm=2,
    fork=True,
    doubt=True,
    factor=10,
    floor=2,
    wall_floor=30,
    memory=1 << 30,
    control=600,
    control_fork=60,
)
MOST_RUNS = 14


class TooLongError(Exception):
    """Runs that disagreed are being counted: nothing is bound any more."""


class Chance:
    """Carries out runs that fail by chance, inverted or not, as given: True for each that fails."""

    def __init__(self, fails: tuple[bool, ...]) -> None:
        self._fails = fails
        self.asked = 0

    def __call__(self, order: Order) -> Record:
        self.asked += 1
        if self.asked > MOST_RUNS:
            raise TooLongError
        failed = self.asked <= len(self._fails) and self._fails[self.asked - 1]
        told = {"taken": [0], "seconds": 0.1, "cpu": 0.1, "inverted": bool(order.slots)}
        ending = {"ending": "failed" if failed else "passed", "exception": "AssertionError"}
        return {**told, **ending, "cold": order.cold}


def is_bound(chance: Chance, options: Options) -> bool:
    row = RowAtWork(0, 0, (0,), 0)
    try:
        Experiment("t.py::test", options, chance).run([row], ())
    except TooLongError:
        return False
    return holds(row)


def bound_by(options: Options, fails: tuple[bool, ...] = ()) -> Iterator[tuple[bool, ...]]:
    """Yield how runs may end, each True for one that fails, for a row to be called bound."""
    chance = Chance(fails)
    bound = is_bound(chance, options)
    if chance.asked > len(fails):
        if chance.asked <= MOST_RUNS:
            yield from bound_by(options, (*fails, False))
            yield from bound_by(options, (*fails, True))
    elif bound:
        yield fails


def rate(options: Options, p: float) -> float:
    """Add up how likely these are."""
    return sum(
        p ** sum(fails) * (1 - p) ** (len(fails) - sum(fails)) for fails in bound_by(options)
    )


@pytest.mark.parametrize("p", [0.05, 0.2, 0.5, 0.7, 0.9])
def test_test_that_fails_by_chance_is_hardly_bound(p: float) -> None:
    assert 0 < rate(OPTIONS, p) <= 1.12 * (p * (1 - p)) ** 2


@pytest.mark.parametrize("p", [0.05, 0.5, 0.9])
def test_without_forks_chance_binds_as_often_as_two_pairs_let_it(p: float) -> None:
    cold = Options(2, False, True, 10, 2, 30, 1 << 30, 600, 60)

    assert rate(cold, p) == pytest.approx((p * (1 - p)) ** 2)
