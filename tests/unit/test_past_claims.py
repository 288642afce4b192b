from dataclasses import replace

from invertgate.model import Kind, Outcome, Side, Span
from invertgate.past_claims import fitting
from invertgate.table.document import Entry, Table

ONE = Outcome("a.py", "0123456789ab", Kind.IF, "n", Side.TRUE, "", 1, Span(1, 3, 1, 4), (2, 2))
SECOND = replace(ONE, id="ba9876543210", line=5, anchor=Span(5, 3, 5, 4))


def table(test: str | None, of: Outcome = ONE) -> Table:
    return Table((Entry(of.id, of.path, of.kind, of.predicate, of.side, test),))


def test_the_newest_row_counts() -> None:
    claims = fitting([ONE], table("t::now"), [table("t::before")], lambda _: True)

    assert claims.entries[ONE.key].test == "t::now"
    assert claims.old == frozenset()


def test_an_earlier_version_counts_where_the_table_says_nothing() -> None:
    before = [table(None), table("t::newer"), table("t::older")]

    claims = fitting([ONE], Table(), before, lambda _: True)

    assert claims.entries[ONE.key].test == "t::newer"
    assert claims.old == {ONE.key}


def test_a_test_that_is_gone_does_not_fit_and_the_next_older_does() -> None:
    before = [table("t::gone"), table("t::there")]

    claims = fitting([ONE], Table(), before, lambda test: test != "t::gone")

    assert claims.entries[ONE.key].test == "t::there"


def test_a_row_of_the_table_itself_counts_also_if_its_test_is_gone() -> None:
    claims = fitting([ONE], table("t::gone"), [], lambda _: False)

    assert claims.entries[ONE.key].test == "t::gone"


def test_among_equals_a_row_is_only_a_hint_for_each() -> None:
    claims = fitting([ONE, SECOND], table("t::a"), [], lambda _: True)

    assert claims.entries == {}
    assert claims.hints == {ONE.key: ("t::a",), SECOND.key: ("t::a",)}


def test_rows_of_other_outcomes_are_left_out() -> None:
    claims = fitting([ONE], table("t::a", replace(SECOND, predicate="m")), [], lambda _: True)

    assert (claims.entries, claims.hints) == ({}, {})
