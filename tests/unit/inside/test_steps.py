from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from invertgate.inside.budget import Options
from invertgate.inside.limits import Limits
from invertgate.inside.record import Record
from invertgate.inside.runs import Order
from invertgate.inside.steps import Experiment, Quest, RowAtWork, holds

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
PASSED: Record = {"ending": "passed"}
FAILED: Record = {"ending": "failed", "exception": "AssertionError"}


class Scripted:
    """Carries out runs as a script says, and keeps what was asked for."""

    def __init__(self, say: Callable[[Order, int], Record], taken: Sequence[int] = (0, 2)) -> None:
        self._say = say
        self._taken = taken
        self.orders: list[Order] = []

    def __call__(self, order: Order) -> Record:
        self.orders.append(order)
        told = {"taken": list(self._taken), "seconds": 0.1, "cpu": 0.1}
        told.update(inverted=bool(order.slots), cold=order.cold)
        return {**told, **self._say(order, len(self.orders))}

    @property
    def letters(self) -> str:
        """The runs: c and i for control and inverted, j and d for the same in the other process.

        Upper case stands for a fresh process.
        """
        return "".join(map(_letter, self.orders))


def _letter(order: Order) -> str:
    letter = ("dj" if order.other else "ci")[bool(order.slots)]
    return letter.upper() if order.cold else letter


def rows(*slots: int) -> list[RowAtWork]:
    return [RowAtWork(number, slot, (slot,), 0) for number, slot in enumerate(slots)]


def noticing(order: Order, _: int) -> Record:
    return FAILED if order.slots else PASSED


def blind(_: Order, __: int) -> Record:
    return PASSED


def experiment(bench: Scripted, some: list[RowAtWork], options: Options = OPTIONS) -> None:
    Experiment("t.py::test", options, bench).run(some, ())


def test_two_pairs_are_control_inverted_inverted_control() -> None:
    bench, some = Scripted(noticing), rows(0)

    experiment(bench, some)

    assert bench.letters == "cijd"
    assert holds(some[0])


@pytest.mark.parametrize(("confirm", "letters"), [(1, "cic"), (3, "cijdcic")])
def test_the_last_run_is_a_control(confirm: int, letters: str) -> None:
    bench, some = Scripted(noticing), rows(0)

    experiment(bench, some, replace(OPTIONS, confirm=confirm))

    assert bench.letters == letters


def test_rows_of_one_test_share_its_controls() -> None:
    bench, some = Scripted(noticing), rows(0, 2)

    experiment(bench, some)

    assert bench.letters == "ciijjd"
    assert all(holds(row) for row in some)


def test_row_that_the_control_does_not_take_is_never_inverted() -> None:
    bench, some = Scripted(noticing, taken=()), rows(0)

    experiment(bench, some)

    assert bench.letters == "cC"
    assert not holds(some[0])


def test_fresh_process_that_takes_the_outcome_decides() -> None:
    def say(order: Order, _: int) -> Record:
        told = noticing(order, 0)
        return told if order.cold else {**told, "taken": []}

    bench, some = Scripted(say), rows(0)

    experiment(bench, some)

    assert bench.letters == "cCCIICCIC"
    assert [run.get("counted", True) for run in some[0].runs] == [False, *[True] * 7]
    assert holds(some[0])


def test_green_is_said_only_after_a_fresh_process_stayed_green() -> None:
    bench, some = Scripted(blind), rows(0)

    experiment(bench, some)

    assert bench.letters == "ciCI"
    assert [run["cold"] for run in some[0].runs] == [False, False, True, True]


def test_no_doubt_asks_no_fresh_process() -> None:
    bench, some = Scripted(blind), rows(0)

    experiment(bench, some, replace(OPTIONS, doubt=False))

    assert bench.letters == "ci"


def test_test_that_fails_every_second_time_does_not_hold() -> None:
    def say(_: Order, number: int) -> Record:
        return PASSED if number % 2 else FAILED

    bench, some = Scripted(say), rows(0)

    experiment(bench, some)

    assert bench.letters.startswith("cijd")
    assert not holds(some[0])


def test_disagreement_asks_for_five_more_pairs() -> None:
    def say(order: Order, number: int) -> Record:
        return FAILED if order.slots and number != 3 else PASSED

    bench, some = Scripted(say), rows(0)

    experiment(bench, some)

    assert len(bench.orders) == 4 + 2 * 5
    assert not holds(some[0])


def test_outcome_taken_at_import_gets_fresh_processes() -> None:
    bench, some = Scripted(noticing), rows(0, 2)

    Experiment("t.py::test", OPTIONS, bench).run(some, at_import=(2,))

    assert bench.letters == "cijdCIIC"


def test_control_that_fails_in_a_fork_is_asked_in_a_fresh_process() -> None:
    def say(order: Order, number: int) -> Record:
        return noticing(order, number) if order.cold else {"ending": "killed by a signal"}

    bench, some = Scripted(say), rows(0)

    experiment(bench, some)

    assert bench.letters == "cCIIC"
    assert holds(some[0])


def test_control_that_fails_everywhere_ends_the_experiment() -> None:
    def say(_: Order, __: int) -> Record:
        return FAILED

    bench, some = Scripted(say), rows(0)

    experiment(bench, some)

    assert bench.letters == "ccCC"
    assert not any(run["inverted"] for run in some[0].runs)


@pytest.mark.parametrize(
    ("ending", "letters"),
    [
        pytest.param("cpu time used up", "cii", id="it works for ever"),
        pytest.param("wall time used up", "ciCI", id="it waits, perhaps for a thread not forked"),
    ],
)
def test_run_that_used_up_its_time_gets_one_more(ending: str, letters: str) -> None:
    def say(order: Order, _: int) -> Record:
        return {"ending": ending} if order.slots else PASSED

    bench, some = Scripted(say), rows(0)

    experiment(bench, some)

    assert bench.letters == letters
    assert not holds(some[0])


def test_budget_follows_from_the_control() -> None:
    def say(order: Order, _: int) -> Record:
        return {**noticing(order, 0), "cpu": 3.0, "seconds": 4.0}

    bench = Scripted(say)

    experiment(bench, rows(0))

    assert bench.orders[0].limits == Limits(60, 60, 1 << 30)
    assert bench.orders[1].limits == Limits(30.0, 90.0, 1 << 30)


@pytest.mark.parametrize("exception", ["MemoryError", "DeadlineExceeded"])
def test_failure_that_tells_of_the_machine_is_no_kill(exception: str) -> None:
    def say(order: Order, _: int) -> Record:
        return {"ending": "failed", "exception": exception} if order.slots else PASSED

    bench, some = Scripted(say), rows(0)

    experiment(bench, some)

    assert not holds(some[0])


def test_recursion_error_is_asked_of_a_fresh_process() -> None:
    def say(order: Order, _: int) -> Record:
        return {**FAILED, "exception": "RecursionError"} if order.slots else PASSED

    bench, some = Scripted(say), rows(0)

    experiment(bench, some)

    assert bench.letters == "ciCIC"


@pytest.mark.parametrize("confirm", [1, 2])
def test_forks_that_are_unlike_are_confirmed_by_a_fresh_process(confirm: int) -> None:
    bench, some = Scripted(noticing), rows(0, 2)

    Experiment("t.py::test", replace(OPTIONS, confirm=confirm), bench).run(some, (), unlike=True)

    assert bench.letters == "ciiCIIC"
    assert all(map(holds, some))


def test_fresh_process_that_does_not_notice_outweighs_forks_that_are_unlike() -> None:
    bench = Scripted(lambda order, _: FAILED if order.slots and not order.cold else PASSED)
    some = rows(0)

    Experiment("t.py::test", OPTIONS, bench).run(some, (), unlike=True)

    counted = [run for run in some[0].runs if run.get("counted", True)]
    assert [(run["inverted"], run["cold"], run["ending"]) for run in counted] == [
        (False, True, "passed"),
        (True, True, "passed"),
    ]
    assert not holds(some[0])


def test_control_that_passes_the_second_time_is_unstable() -> None:
    def say(order: Order, number: int) -> Record:
        return FAILED if number == 1 else noticing(order, number)

    bench, some = Scripted(say), rows(0)

    experiment(bench, some)

    assert bench.letters == "cc"
    assert not holds(some[0])


@pytest.mark.parametrize(
    "ending", ["ended without a report", "killed by a signal", "wall time used up"]
)
def test_fork_that_tells_nothing_leaves_the_row_to_a_fresh_process(ending: str) -> None:
    def say(order: Order, number: int) -> Record:
        lost: Record = {"ending": ending}
        return noticing(order, number) if order.cold or not order.slots else lost

    bench, some = Scripted(say), rows(0)

    experiment(bench, some)

    assert bench.letters == "ciCIIC"
    assert holds(some[0])


def came_to(*kills: str) -> list[RowAtWork]:
    """Make a row that a control and some inverted runs were made for; "" stands for a green one."""
    [row] = rows(0)
    row.runs.append({**PASSED, "inverted": False, "taken": [0]})
    for killer in kills:
        told: Record = {**FAILED, "killer": killer} if killer else PASSED
        row.runs.append({**told, "inverted": True, "taken": [0]})
    return [row]


ASSERTION = came_to("assertion", "assertion")
CRASH = came_to("exception", "exception")
GREEN = came_to("")
ENDLESS = came_to("")
ENDLESS[0].runs[-1]["ending"] = "cpu time used up"


@pytest.mark.parametrize(
    ("tried", "is_over"),
    [
        ([ASSERTION], (True,)),
        ([GREEN, GREEN, ASSERTION], (False, False, True)),
        ([CRASH, ASSERTION], (False, True)),
        ([CRASH, GREEN, CRASH], (False, False, True)),
        ([GREEN, CRASH, GREEN, ASSERTION], (False, False, False, True)),
        ([ENDLESS, ENDLESS, ENDLESS], (False, False, True)),
        ([came_to("assertion", "exception"), GREEN], (False, False)),
    ],
)
def test_a_search_ends_with_an_assertion_or_some_tests_after_a_crash(
    tried: Sequence[list[RowAtWork]], is_over: tuple[bool, ...]
) -> None:
    quest = Quest(beyond=2)

    assert tuple(map(quest.is_over, tried)) == is_over


def test_a_search_that_wants_no_more_ends_with_a_crash() -> None:
    assert Quest(beyond=0).is_over(CRASH)
