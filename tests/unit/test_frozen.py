from datetime import date

from invertgate.frozen import Lists, without_flaky
from invertgate.lanes.quarantine import Entry
from invertgate.model import Claim, Kind, Outcome, Row, Side, Span, Verdict

OUTCOME = Outcome("a.py", "0" * 12, Kind.IF, "x", Side.TRUE, "", 1, Span(1, 3, 1, 4), (2, 2))


def row(*tests: str) -> Row:
    return Row(OUTCOME, tuple(map(Claim, tests)))


def lists(*names: str, folder: str = "") -> Lists:
    live = tuple(Entry(name, "ada", "clock", date(2026, 2, 28)) for name in names)
    return Lists(live, folder)


def test_a_row_that_only_frozen_tests_claim_is_held() -> None:
    held = without_flaky([row("t.py::test_a", "t.py::test_b")], lists("test_a", "test_b"))

    [result] = held.results
    assert (held.rows, result.verdict, result.test) == ((), Verdict.QUARANTINED, "t.py::test_a")
    assert result.reason == "the test is quarantined until 2026-02-28 (UTC), ada: clock"


def test_a_row_that_another_test_claims_is_judged_by_that_one() -> None:
    held = without_flaky([row("t.py::test_a", "t.py::test_b")], lists("test_a"))

    assert (held.results, held.rows) == ((), (row("t.py::test_b"),))


def test_without_a_live_entry_nothing_changes() -> None:
    assert without_flaky([row("t.py::test_a")], lists()).rows == (row("t.py::test_a"),)


def test_an_entry_may_be_relative_to_the_top_or_to_the_project() -> None:
    claimed = [row("t.py::test_a")]

    assert without_flaky(claimed, lists("svc/t.py::test_a", folder="svc")).results
    assert without_flaky(claimed, lists("t.py::test_a", folder="svc")).results
    assert without_flaky(claimed, lists("web/t.py::test_a", folder="svc")).rows
