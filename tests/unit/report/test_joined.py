from dataclasses import replace

import pytest

from invertgate.errors import ExitCode
from invertgate.model import NotParsed, Verdict
from invertgate.report.build import WITHOUT_OUTCOME, ConservationError, build, with_rows
from invertgate.report.document import Report
from invertgate.report.joined import WHICH_COUNTS, join_machines, join_shards
from support.parts import shards_of, whole_report
from support.reports import FACTS, PATCH, listing, outcome

MIXED = (Verdict.BOUND, Verdict.WEAK, Verdict.RED, Verdict.UNPROVEN, Verdict.BOUND)


def machine(verdict: Verdict, reason: str = "so it is") -> Report:
    whole = whole_report([verdict])
    return replace(whole, rows=(replace(whole.rows[0], reason=reason),))


def two(first: Verdict, second: Verdict) -> Report:
    return join_machines([("one", machine(first)), ("two", machine(second))], "merge --matrix")


def test_every_verdict_has_its_place_among_machines() -> None:
    assert sorted(WHICH_COUNTS) == sorted(Verdict)


def test_shards_join_to_the_whole_and_its_exit_code() -> None:
    whole = whole_report(MIXED)

    joined = join_shards(shards_of(whole, 3), "invertgate merge")

    assert (joined.rows, joined.counts, joined.exit_code) == (
        whole.rows,
        whole.counts,
        ExitCode.RED,
    )


def test_joined_shards_are_no_shard_and_say_what_they_were() -> None:
    joined = join_shards(shards_of(whole_report(MIXED), 2), "invertgate merge")

    assert (joined.shard, joined.joined) == (None, ("shard 1/2", "shard 2/2"))


def test_shards_take_as_long_as_the_longest_and_cost_what_all_of_them_cost() -> None:
    first, second = shards_of(whole_report(MIXED), 2)

    joined = join_shards([replace(first, seconds=5.0), replace(second, seconds=9.0)], "merge")

    assert (joined.seconds, joined.cpu) == (9.0, 2 * FACTS.cpu)


def test_a_part_whose_numbers_do_not_add_up_is_not_joined() -> None:
    first, second = shards_of(whole_report(MIXED), 2)

    with pytest.raises(ConservationError):
        join_shards([first, replace(second, found=second.found + 1)], "merge")


@pytest.mark.parametrize("other", [v for v in Verdict if v not in WITHOUT_OUTCOME])
def test_red_anywhere_is_red(other: Verdict) -> None:
    assert two(other, Verdict.RED).exit_code == ExitCode.RED


@pytest.mark.parametrize(
    "other", [Verdict.WEAK, Verdict.UNREACHED, Verdict.UNPROVEN, Verdict.UNCOLLECTED]
)
def test_bound_anywhere_is_bound(other: Verdict) -> None:
    joined = two(other, Verdict.BOUND)

    assert (joined.rows[0].verdict, joined.exit_code) == (Verdict.BOUND, ExitCode.OK)
    assert joined.rows[0].reason == "on two: so it is"


@pytest.mark.parametrize("other", [Verdict.WEAK, Verdict.UNPROVEN])
def test_a_machine_that_takes_the_outcome_says_more_than_one_that_does_not(other: Verdict) -> None:
    assert two(Verdict.UNREACHED, other).rows[0].verdict is other


def test_what_no_machine_takes_is_named() -> None:
    joined = two(Verdict.UNREACHED, Verdict.UNREACHED)

    assert joined.rows[0].reason == "no machine takes this outcome: one, two"
    assert f"taken on no machine: {joined.rows[0].name}" in joined.notes
    assert joined.exit_code == ExitCode.FINDINGS


def test_what_each_machine_says_is_kept() -> None:
    joined = two(Verdict.UNREACHED, Verdict.BOUND)

    assert joined.rows[0].by_machine == {"one": Verdict.UNREACHED, "two": Verdict.BOUND}


def test_weak_tests_of_another_machine_are_not_held_against_a_bound_row() -> None:
    weak = machine(Verdict.WEAK)
    weak = with_rows(weak, [replace(weak.rows[0], weak_tests=("tests/t.py::test_a",))])

    joined = join_machines([("one", weak), ("two", machine(Verdict.BOUND))], "merge")

    assert joined.weak_tests == {}


def unparsed() -> Report:
    bad = NotParsed("src/retry.py", 3, "invalid syntax")
    return build(PATCH, listing(not_parsed=(bad,)), [], replace(FACTS, whole="a digest of it all"))


def test_a_file_that_one_machine_cannot_parse_is_judged_where_it_can_be() -> None:
    joined = join_machines([("old", unparsed()), ("new", machine(Verdict.BOUND))], "merge")

    assert (joined.exit_code, joined.found) == (ExitCode.OK, 1)
    assert "src/retry.py does not parse on old; its rows are judged where it does" in joined.notes


def test_a_file_that_no_machine_can_parse_is_not_parsed() -> None:
    joined = join_machines([("old", unparsed()), ("new", unparsed())], "merge")

    assert joined.exit_code == ExitCode.NOT_PARSED


def test_a_row_is_not_left_over_where_another_machine_has_its_outcome() -> None:
    one = outcome()
    left = replace(
        machine(Verdict.BOUND).rows[0], verdict=Verdict.LEFTOVER, line=0, end_line=0, anchor=None
    )

    joined = join_machines(
        [("old", with_rows(unparsed(), [left])), ("new", machine(Verdict.BOUND))], "merge"
    )

    assert [(row.id, row.verdict) for row in joined.rows] == [(one.id, Verdict.BOUND)]
