from dataclasses import replace

import pytest

from invertgate.errors import ExitCode
from invertgate.model import Kind, NotParsed, Result, Side, Verdict
from invertgate.report.build import EXIT_CODES, ConservationError, build, check, exit_code_of
from invertgate.report.document import Facts, Gone, Report
from support.reports import FACTS, PATCH, full_report, listing, one_row, outcome, result

BROKEN = NotParsed("src/broken.py", 4, "invalid syntax")


@pytest.mark.parametrize(
    ("verdict", "code"),
    [
        (Verdict.BOUND, 0),
        (Verdict.WAIVED, 0),
        (Verdict.INHERITED, 0),
        (Verdict.EXEMPT, 0),
        (Verdict.WEAK, 1),
        (Verdict.UNREACHED, 1),
        (Verdict.UNBOUND, 1),
        (Verdict.UNCOLLECTED, 1),
        (Verdict.LEFTOVER, 1),
        (Verdict.LOCKED_OUT, 1),
        (Verdict.UNPROVEN, 3),
        (Verdict.RED, 4),
        (Verdict.QUARANTINED, 8),
        (Verdict.EXTERNAL, 8),
    ],
)
def test_each_verdict_has_its_exit_code(verdict: Verdict, code: int) -> None:
    assert exit_code_of([result(outcome(), verdict)], ()) == code


def test_no_verdict_is_without_exit_code() -> None:
    assert set(EXIT_CODES) == set(Verdict)


def test_nothing_at_all_is_exit_0() -> None:
    assert exit_code_of([], ()) is ExitCode.OK


@pytest.mark.parametrize(
    ("verdicts", "code"),
    [
        ([Verdict.BOUND, Verdict.QUARANTINED], 8),
        ([Verdict.QUARANTINED, Verdict.UNPROVEN], 3),
        ([Verdict.UNPROVEN, Verdict.WEAK], 1),
        ([Verdict.WEAK, Verdict.RED], 4),
    ],
)
def test_worst_verdict_makes_the_exit_code(verdicts: list[Verdict], code: int) -> None:
    results = [result(outcome(number), verdict) for number, verdict in enumerate(verdicts)]

    assert exit_code_of(results, ()) == code


def test_file_that_does_not_parse_is_worse_than_red() -> None:
    assert exit_code_of([result(outcome(), Verdict.RED)], [BROKEN]) is ExitCode.NOT_PARSED


def test_found_is_the_sum_of_counts_but_leftover_and_inherited() -> None:
    report = full_report()

    counts = dict(report.counts)
    beside = counts.pop(Verdict.LEFTOVER) + counts.pop(Verdict.INHERITED)
    assert (report.found, beside) == (sum(counts.values()), 2)


def test_every_verdict_is_counted_also_those_that_did_not_occur() -> None:
    assert one_row(Verdict.BOUND).counts == {v: int(v is Verdict.BOUND) for v in Verdict}


def test_exempt_outcome_is_a_row_with_its_reason() -> None:
    report = build(PATCH, listing(outcome(exempt="constant test")), [], FACTS)

    [row] = report.rows
    assert (row.verdict, row.reason, report.exit_code) == (Verdict.EXEMPT, "constant test", 0)


def test_outcome_without_a_result_is_a_bug() -> None:
    with pytest.raises(ConservationError, match=r"no verdict on .*:000000000001"):
        build(PATCH, listing(outcome()), [], FACTS)


def test_result_without_an_outcome_is_a_bug() -> None:
    with pytest.raises(ConservationError, match="without an outcome"):
        build(PATCH, listing(), [result(outcome(), Verdict.BOUND)], FACTS)


def test_two_results_for_an_outcome_are_a_bug() -> None:
    row = outcome()
    results = [result(row, Verdict.WEAK), result(row, Verdict.BOUND)]

    with pytest.raises(ConservationError, match="two results"):
        build(PATCH, listing(row), results, FACTS)


def test_outcome_listed_twice_is_a_bug() -> None:
    row = outcome()

    with pytest.raises(ConservationError, match="listed twice"):
        build(PATCH, listing(row, row), [result(row, Verdict.BOUND)], FACTS)


def test_leftover_row_of_an_exempt_outcome_stands_beside_it() -> None:
    row = outcome(exempt="constant test")

    report = build(PATCH, listing(row), [result(row, Verdict.LEFTOVER)], FACTS)

    assert [row.verdict for row in report.rows] == [Verdict.LEFTOVER, Verdict.EXEMPT]
    assert report.found == 1


def test_listing_needs_no_results() -> None:
    facts = Facts("invertgate run --list", "2026-01-02T03:04:05Z", judged=False)

    report = build(PATCH, listing(outcome()), [], facts)

    assert (report.undecided, report.found, report.exit_code) == (1, 1, 0)


def test_incomplete_report_ends_130_whatever_was_found() -> None:
    facts = Facts("invertgate run", "2026-01-02T03:04:05Z", complete=False)
    first, second = outcome(1), outcome(2)

    report = build(PATCH, listing(first, second), [result(first, Verdict.BOUND)], facts)

    assert (report.complete, report.exit_code, report.undecided) == (False, 130, 1)


def test_rows_stand_by_path_line_and_side_whatever_the_order_of_results() -> None:
    rows = [
        outcome(1, path="b.py", line=1),
        outcome(2, path="a.py", line=9, side=Side.FALSE),
        outcome(3, path="a.py", line=9, side=Side.TRUE),
        outcome(4, path="a.py", line=2),
    ]
    results = [result(row, Verdict.BOUND) for row in rows]

    one = build(PATCH, listing(*rows), results, FACTS)
    other = build(PATCH, listing(*reversed(rows)), results[::-1], FACTS)

    assert [int(row.id, 16) for row in one.rows] == [4, 3, 2, 1]
    assert one == other


def test_weak_tests_name_every_row_that_shows_it_also_bound_ones() -> None:
    first, second = outcome(1, line=1), outcome(2, line=2)
    weak = ("t.py::test_a",)
    results = [
        Result(*first.key, Verdict.WEAK, weak_tests=weak),
        Result(*second.key, Verdict.BOUND, test="t.py::test_b", weak_tests=weak),
    ]

    report = build(PATCH, listing(first, second), results, FACTS)

    assert report.weak_tests == {
        "t.py::test_a": ("src/retry.py:000000000001", "src/retry.py:000000000002")
    }


def test_row_that_is_gone_keeps_what_the_table_said() -> None:
    gone = Gone("a.py", "aaaaaaaaaaaa", Kind.EXCEPT, "except KeyError", Side.HANDLER, "pkg")

    report = build(
        PATCH, listing(), [Result("a.py", gone.id, Verdict.LEFTOVER)], FACTS, gone=[gone]
    )

    [row] = report.rows
    assert (row.kind, row.predicate, row.project, row.line) == (
        Kind.EXCEPT,
        "except KeyError",
        "pkg",
        0,
    )


def test_row_names_its_project() -> None:
    row = outcome(path="pkg/a.py")

    report = build(
        PATCH,
        listing(row),
        [result(row, Verdict.BOUND)],
        FACTS,
        projects={"pkg/a.py": "pkg"},
    )

    assert report.rows[0].project == "pkg"


def test_notes_of_all_stages_are_kept() -> None:
    assert one_row(Verdict.BOUND).notes == PATCH.notes


@pytest.mark.parametrize(
    "tampered",
    [
        replace(one_row(Verdict.BOUND), found=2),
        replace(one_row(Verdict.BOUND), counts={}),
        replace(one_row(Verdict.BOUND), undecided=1),
    ],
    ids=["found", "counts", "undecided"],
)
def test_check_refuses_numbers_that_do_not_add_up(tampered: Report) -> None:
    with pytest.raises(ConservationError):
        check(tampered)
