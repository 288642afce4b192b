from dataclasses import replace
from pathlib import Path

import pytest

from invertgate.model import Verdict
from invertgate.nightly import history
from invertgate.nightly.history import Judged
from invertgate.nightly.trend import trend
from invertgate.trend_model import FlakyRow, Moved, RankedTest, SlowTest
from support.nights import compared, keep, night

BOUND, WEAK, UNREACHED = Verdict.BOUND, Verdict.WEAK, Verdict.UNREACHED


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "history.sqlite"


def test_there_is_no_trend_without_a_report(path: Path) -> None:
    with history.opened(path, create=True) as connection:
        assert trend(connection) is None


def test_the_test_that_lets_most_outcomes_pass_comes_first(path: Path) -> None:
    keep(path, night(1, {}, weak={"t.py::one": ["a:1"], "t.py::two": ["a:2", "a:1"]}))

    assert compared(path).weak_tests == (
        RankedTest("t.py::two", ("a:1", "a:2"), 1),
        RankedTest("t.py::one", ("a:1",), 1),
    )


def test_a_weak_test_has_been_so_for_the_reports_on_end(path: Path) -> None:
    weak = {"t.py::one": ["a:1"]}
    nights = [night(day, {}, weak=weak if day != 2 else {}) for day in (1, 2, 3, 4)]
    keep(path, *nights)

    assert compared(path).weak_tests == (RankedTest("t.py::one", ("a:1",), 2),)


def test_newly_weak_is_what_was_not_weak_when_it_was_last_judged(path: Path) -> None:
    keep(
        path,
        night(1, {"old": WEAK, "gone": WEAK, "worse": BOUND, "back": BOUND}),
        night(2, {"old": WEAK, "worse": BOUND}),
        night(3, {"old": WEAK, "worse": WEAK, "back": WEAK, "new": WEAK}),
    )

    assert compared(path).newly_weak == (
        Moved("back", "t.py::back", BOUND, WEAK),
        Moved("new", "t.py::new", None, WEAK),
        Moved("worse", "t.py::worse", BOUND, WEAK),
    )


def test_in_the_first_report_nothing_is_newly_weak(path: Path) -> None:
    keep(path, night(1, {"a": WEAK}))

    assert compared(path).newly_weak == ()


def test_fixed_is_what_is_bound_now_and_was_not(path: Path) -> None:
    keep(
        path,
        night(1, {"a": WEAK, "b": UNREACHED, "c": BOUND, "d": WEAK}),
        night(2, {"a": BOUND, "b": BOUND, "c": BOUND, "d": WEAK, "new": BOUND}),
    )

    assert compared(path).fixed == (
        Moved("a", "t.py::a", WEAK, BOUND),
        Moved("b", "t.py::b", UNREACHED, BOUND),
    )


def test_flaky_is_what_differs_although_no_file_does(path: Path) -> None:
    keep(
        path,
        night(1, {"a": BOUND, "b": BOUND, "c": WEAK}, tree="one"),
        night(2, {"a": WEAK, "b": BOUND, "c": WEAK}, tree="one"),
        night(3, {"a": WEAK, "b": WEAK, "c": WEAK}, tree="two"),
    )

    assert compared(path).flaky == (FlakyRow("a", "t.py::a", "bound and weak, of the same files"),)


def test_what_was_seen_of_unknown_files_is_not_called_flaky(path: Path) -> None:
    keep(path, night(1, {"a": BOUND}), night(2, {"a": WEAK}))

    assert compared(path).flaky == ()


def test_flaky_is_also_what_is_unstable_now(path: Path) -> None:
    unstable = Judged("a", Verdict.UNPROVEN, "t.py::a", "unstable: 2 of 3 controls passed")
    keep(path, replace(night(1, {}), rows=(unstable,)))

    [flaky] = compared(path).flaky
    assert flaky.why == "unstable: 2 of 3 controls passed"


def test_slowest_tests_are_told_of_at_most_ten(path: Path) -> None:
    keep(path, night(1, {}, slow={f"t.py::t{number:02}": number / 10 for number in range(20)}))

    slowest = compared(path).slowest
    assert (slowest[0], len(slowest)) == (SlowTest("t.py::t19", 1.9), 10)


def test_other_machines_and_other_series_are_not_compared(path: Path) -> None:
    keep(
        path,
        night(1, {"a": BOUND}, machine="darwin, Python 3.11"),
        night(2, {"a": BOUND}, series="run"),
        night(3, {"a": WEAK}),
    )

    told = compared(path)
    assert (len(told.nights), told.newly_weak) == (1, ())


def test_sweeps_are_told_of_first_and_runs_if_there_are_no_sweeps(path: Path) -> None:
    keep(path, night(1, {"a": BOUND}, series="run"))
    before = compared(path).series
    keep(path, night(1, {"a": BOUND}))

    assert (before, compared(path).series, compared(path, "run").series) == ("run", "sweep", "run")


def test_the_last_of_many_reports_are_told_of_the_oldest_first(path: Path) -> None:
    keep(path, *(night(day, {"a": BOUND}) for day in (3, 1, 2, 5, 4)))

    days = [each.started[8:10] for each in compared(path, last=3).nights]
    assert days == ["03", "04", "05"]
