from datetime import date

import pytest

from invertgate.errors import UsageError
from invertgate.model import Result, Verdict, Waiver
from invertgate.table.waivers import COVERED, applied, is_live, read

TODAY = date(2026, 2, 20)
ID = "0123456789ab"
GOOD = f"""\
waivers:
  - path: shop/price.py
    id: {ID}
    reason: both sides return the same
    owner: ada@example.org
    expires: 2026-02-28
"""
WAIVER = Waiver("shop/price.py", ID, "both sides return the same", "ada@example.org", "2026-02-28")


def read_text(text: str, today: date = TODAY) -> tuple[Waiver, ...]:
    return read(text.encode(), "waivers.yaml", today, 30)


def result(verdict: Verdict, reason: str = "") -> Result:
    return Result("shop/price.py", ID, verdict, reason, "test_price.py::test_a")


def judged(before: Result, today: date = TODAY) -> Result:
    [after] = applied([before], {before.key: WAIVER}, today)
    return after


def test_a_waiver_is_read() -> None:
    assert read_text(GOOD) == (WAIVER,)


def test_an_id_that_yaml_takes_for_a_number_is_read() -> None:
    [waiver] = read_text(GOOD.replace(ID, "12345678e901"))

    assert waiver.id == "12345678e901"


@pytest.mark.parametrize("text", ["", "# none\n", "waivers:\n", "waivers: []\n"])
def test_an_empty_list_waives_nothing(text: str) -> None:
    assert read_text(text) == ()


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("    owner: ada@example.org\n", "", ':2: field "owner" is missing'),
        ("ada@example.org", "", ':5: field "owner" must be text, not nothing'),
        ("reason:", "because:", ':4: field "because" is unknown; known are path, id, reason'),
        (ID, "abc", ':3: field "id" must be 12 hex digits in lower case, not abc'),
        ("2026-02-28", "2026-02-30", ':6: field "expires" must be a day as YYYY-MM-DD'),
        ("2026-02-28", "28.2.2026", ':6: field "expires" must be a day as YYYY-MM-DD'),
        ("2026-02-28", "2026-03-23", ':6: field "expires" is 31 days from today'),
        ("shop/price.py", "../price.py", ':2: field "path" must lead from the top'),
        ("shop/price.py", "/price.py", ':2: field "path" must lead from the top'),
        ("waivers:", "waiver:", ':1: the file must have one key, "waivers"'),
    ],
)
def test_a_malformed_list_is_refused_by_line_and_field(
    before: str, after: str, message: str
) -> None:
    assert before in GOOD

    with pytest.raises(UsageError) as caught:
        read_text(GOOD.replace(before, after, 1))

    assert f"waivers.yaml{message}" in str(caught.value)


def test_the_limit_on_the_life_of_a_waiver_is_named() -> None:
    with pytest.raises(UsageError, match="max_waiver_days is 30"):
        read_text(GOOD.replace("2026-02-28", "2027-02-28"))


def test_two_waivers_of_one_row_are_refused() -> None:
    with pytest.raises(UsageError, match=r":7: .* stands in line 2 already"):
        read_text(GOOD + GOOD.removeprefix("waivers:\n"))


def test_a_waiver_counts_on_its_last_day_and_not_on_the_next() -> None:
    assert is_live(WAIVER, date(2026, 2, 28))
    assert not is_live(WAIVER, date(2026, 3, 1))


@pytest.mark.parametrize("verdict", sorted(COVERED - {Verdict.BOUND}))
def test_a_row_with_a_live_waiver_is_waived_and_says_what_it_would_be(verdict: Verdict) -> None:
    after = judged(result(verdict, "the test stays green"))

    assert (after.verdict, after.beneath, after.waiver) == (Verdict.WAIVED, verdict, WAIVER)
    assert after.reason == (
        "waived until 2026-02-28 (UTC), ada@example.org: both sides return the same; "
        f"without the waiver {verdict}: the test stays green"
    )


def test_a_waived_row_that_is_killed_now_says_so() -> None:
    after = judged(result(Verdict.BOUND))

    assert (after.verdict, after.beneath) == (Verdict.WAIVED, Verdict.BOUND)
    assert "this waived row is killed now by test_price.py::test_a" in after.reason


@pytest.mark.parametrize("verdict", [Verdict.RED, Verdict.LOCKED_OUT, Verdict.QUARANTINED])
def test_what_a_waiver_does_not_cover_stays_and_says_so(verdict: Verdict) -> None:
    after = judged(result(verdict, "it fails"))

    assert (after.verdict, after.waiver, after.beneath) == (verdict, None, None)
    assert after.reason == "it fails; its waiver does not cover this"


@pytest.mark.parametrize("verdict", [Verdict.LEFTOVER, Verdict.INHERITED])
def test_a_row_without_an_outcome_is_not_waived(verdict: Verdict) -> None:
    before = result(verdict, "gone")

    assert judged(before) == before


def test_after_its_day_the_row_counts_again_and_says_so() -> None:
    after = judged(result(Verdict.WEAK, "green"), date(2026, 3, 1))

    assert (after.verdict, after.waiver) == (Verdict.WEAK, None)
    assert "expired on 2026-02-28 (UTC, ada@example.org): the row counts again" in after.reason


def test_a_bound_row_does_not_care_for_an_expired_waiver() -> None:
    before = result(Verdict.BOUND)

    assert judged(before, date(2026, 3, 1)) == before


def test_other_rows_are_left_alone() -> None:
    before = result(Verdict.WEAK)

    assert applied([before], {("other.py", ID): WAIVER}, TODAY) == (before,)
