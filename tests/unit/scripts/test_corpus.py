from pathlib import Path

import corpus
import pytest
from _environments import ScriptError
from _pairs import choose, read_pairs
from _results import (
    HEADINGS,
    Result,
    Way,
    differences,
    gate_run,
    line,
    load,
    markdown,
    rotated,
    save,
)


def report(*rows: tuple[str, str]) -> dict[str, object]:
    fixed = {"path": "a.py", "test": "t::x"}
    return {"rows": [{**fixed, "id": row_id, "verdict": verdict} for row_id, verdict in rows]}


RESULT = Result(
    pair="h11",
    claims="bind",
    bind_seconds=3.4,
    runs=(
        gate_run(report(("1", "bound"), ("2", "exempt"), ("3", "weak")), Way(1), 2.0, 1.5),
        gate_run(
            report(("1", "bound"), ("2", "exempt"), ("3", "weak")), Way(2, cold=True), 1.2, 1.6
        ),
    ),
    differences=(),
    oracle_rows=2,
    disagreements=0,
)


def test_every_pair_has_all_that_is_needed_to_try_it() -> None:
    pairs = read_pairs()

    assert len(pairs) >= 12
    for pair in pairs.values():
        assert pair.base != pair.head
        assert pair.install[:2] == ("-e", pair.install[1])
        assert pair.sources
        assert pair.tests


def test_options_of_a_pair_are_split_as_a_shell_would() -> None:
    assert read_pairs()["anyio"].options == ("-m", "not network")


def test_unknown_pair_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(ScriptError, match=r"no such pair: h12; there are .*h11"):
        choose(read_pairs(), ["h11", "h12"])


def test_unknown_pair_on_the_command_line_is_a_usage_error() -> None:
    assert corpus.main(["h12"]) == 2


def test_verdicts_that_depend_on_the_number_of_workers_are_named() -> None:
    one, two = report(("1", "bound"), ("2", "weak")), report(("1", "bound"), ("2", "bound"))

    assert differences({Way(1): one, Way(2): one}) == ()
    assert differences({Way(1): one, Way(2): two}) == (
        "a.py:2: weak by t::x (workers: 1), bound by t::x (workers: 2)",
    )


def test_verdicts_that_depend_on_forks_are_named() -> None:
    warm, cold = report(("1", "bound")), report(("1", "unproven"))

    assert differences({Way(2): warm, Way(2, cold=True): cold}) == (
        "a.py:1: bound by t::x (workers: 2), unproven by t::x (workers: 2-cold)",
    )


def test_row_that_only_one_run_has_is_a_difference() -> None:
    assert len(differences({Way(1): report(("1", "bound")), Way(2): report()})) == 1


def test_rotated_rows_claim_the_tests_of_others() -> None:
    tests = ["a", None, "c"]
    table: list[dict[str, object]] = [{"id": str(test), "test": test} for test in tests]

    assert [row["test"] for row in rotated(table, 1)] == ["c", "a", "c"]
    assert [row["test"] for row in rotated([{"id": "1", "test": None}], 1)] == [None]


def test_result_is_read_as_it_was_saved(tmp_path: Path) -> None:
    save(RESULT, tmp_path)

    assert load(tmp_path) == [RESULT]


def test_line_and_table_show_all_of_a_result() -> None:
    assert line(RESULT).startswith("pair h11, outcomes 3, bound 1, weak 1, unreached 0, unbound 0")
    assert markdown([RESULT]).splitlines()[2] == (
        "| h11 | 3 | 1 | 1 | 0 | 0 | 0 | 1 | 3 | 2.0 / 1.2 | 1.5 / 1.6 | 1 / 2-cold | 2 | 0 |"
    )
    assert len(markdown([]).splitlines()[0].split(" | ")) == len(HEADINGS)


@pytest.mark.parametrize(
    ("different", "disagreements", "clean"), [((), 0, True), (("row",), 0, False), ((), 1, False)]
)
def test_result_is_clean_if_nothing_disagrees(
    different: tuple[str, ...], disagreements: int, clean: bool
) -> None:
    result = Result("h11", "bind", 0.0, RESULT.runs, different, 1, disagreements)

    assert result.is_clean is clean
