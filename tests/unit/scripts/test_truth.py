import ast
from collections import Counter

import pytest
from _kinds import KINDS, Kind
from _truths import Tally, Truth, at_least, files_of, joined, summary, tallies, truths

MADE = truths(instances=6, flaky=6, seed=1)
FLAKY = next(kind for kind in KINDS if kind.chance == 0.5)
DECIDED = next(kind for kind in KINDS if kind.right == ("weak",))


def report(*said: tuple[Truth, str]) -> dict[str, object]:
    rows = [
        {"path": each.path, "id": each.decision.id, "verdict": verdict, "reason": ""}
        for each, verdict in said
    ]
    return {"rows": rows}


def test_every_file_is_python_and_every_decision_stands_in_one() -> None:
    files = files_of(MADE)

    trees = {path: ast.parse(text) for path, text in files.items() if path.endswith(".py")}
    for each in MADE:
        name = each.decision.taking.split(".")[1].split("(")[0]
        assert name in {getattr(node, "name", "") for node in trees[each.path].body}


def test_claims_name_tests_that_are_there_but_for_those_that_were_renamed() -> None:
    files = files_of(MADE)

    for each in MADE:
        file, _, name = each.claim.partition("::")
        is_there = f"\ndef {name}(" in files.get(file, "")
        assert is_there or each.kind.right == ("uncollected",)


def test_files_of_decisions_are_modules_and_no_test_files() -> None:
    for kind in KINDS:
        assert kind.file.isidentifier()
        assert not kind.file.endswith("_test")


def test_no_two_rows_are_one() -> None:
    assert len({(each.path, each.decision.id) for each in MADE}) == len(MADE)


def test_shapes_depend_on_the_seed_only() -> None:
    assert truths(2, 2, 7) == truths(2, 2, 7)
    assert truths(2, 2, 7) != truths(2, 2, 8)


def test_rows_are_counted_by_what_the_report_says() -> None:
    some = [each for each in MADE if each.kind == DECIDED][:4]
    said = report((some[0], "weak"), (some[1], "bound"), (some[2], "unproven"))

    (tally,) = tallies(some, said)

    assert (tally.rows, tally.right, tally.false_bound, tally.other_errors) == (4, 1, 1, 2)
    assert tally.verdicts["no row"] == 1


@pytest.mark.parametrize(
    ("kind", "verdicts", "clean"),
    [
        (DECIDED, {"weak": 100}, True),
        (DECIDED, {"weak": 999, "bound": 1}, False),
        (DECIDED, {"weak": 999, "unproven": 1}, False),
        (FLAKY, {"weak": 94, "bound": 6}, True),
        (FLAKY, {"weak": 80, "bound": 20}, False),
        (FLAKY, {"weak": 99, "unreached": 1}, False),
    ],
)
def test_nothing_but_admitted_chance_is_clean(
    kind: Kind, verdicts: dict[str, int], *, clean: bool
) -> None:
    assert Tally(kind, Counter(verdicts)).is_clean is clean


def test_seeds_are_added_up_and_summed_up() -> None:
    part = [Tally(DECIDED, Counter(weak=2, bound=1)), Tally(FLAKY, Counter(weak=3, bound=1))]

    assert summary(joined([part, part])) == (
        "decided tests: 6 rows, 2 wrong verdicts, 2 of them bound; "
        "flaky tests: 8 rows, 2 bound by chance, 0 other errors"
    )


def test_chance_of_so_many_or_more() -> None:
    assert at_least(0, 10, 0.0) == 1
    assert at_least(1, 10, 0.0) == 0
    assert at_least(2, 2, 0.5) == pytest.approx(0.25)
