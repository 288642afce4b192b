from dataclasses import replace

import pytest

from invertgate.model import Verdict
from invertgate.report.build import EXIT_CODES
from invertgate.report.document import Report
from invertgate.report.findings import (
    findings,
    headline,
    level_of,
    lines_of,
    reason,
    story,
    trouble,
)
from support.reports import (
    HOSTILE,
    WAIVER,
    failed_report,
    full_report,
    interrupted_report,
    nothing_new,
    one_row,
    stopped_report,
)

[WEAK] = one_row(Verdict.WEAK).rows
NOTHING_SAID = "this says nothing of the patch"


def test_a_row_matters_if_and_only_if_it_changes_the_exit_code() -> None:
    assert {verdict for verdict in Verdict if level_of(verdict)} == {
        verdict for verdict in Verdict if EXIT_CODES[verdict]
    }
    assert level_of(None) is None


def test_findings_come_worst_first() -> None:
    assert [row.verdict for row in findings(full_report())] == [
        Verdict.RED,
        Verdict.WEAK,
        Verdict.UNREACHED,
        Verdict.UNBOUND,
        Verdict.UNCOLLECTED,
        Verdict.LEFTOVER,
        Verdict.LOCKED_OUT,
        Verdict.UNPROVEN,
        Verdict.QUARANTINED,
        Verdict.EXTERNAL,
    ]


def test_findings_of_one_verdict_keep_their_order() -> None:
    rows = tuple(replace(WEAK, line=line) for line in (30, 10, 20))

    found = findings(replace(one_row(Verdict.WEAK), rows=rows))

    assert [row.line for row in found] == [30, 10, 20]


@pytest.mark.parametrize(
    ("report", "words"),
    [
        (nothing_new(), ""),
        (full_report(), ""),
        (stopped_report(), f"the run was stopped before its end: {NOTHING_SAID}"),
        (
            interrupted_report(),
            f"the run was stopped before its end, 1 row without a verdict: {NOTHING_SAID}",
        ),
        (failed_report(), "HEAD and origin/main share no commit"),
    ],
)
def test_trouble_is_what_stopped_the_run(report: Report, words: str) -> None:
    assert trouble(report) == words


def test_headline_names_verdict_decision_and_side() -> None:
    assert headline(WEAK) == "weak: the false side of `if attempt < max_attempts`"
    assert headline(replace(WEAK, verdict=None)).startswith("not judged: ")


def test_story_names_the_test_in_the_command_that_helps() -> None:
    [red] = one_row(Verdict.RED, "error in setup", "tests/t.py::test_a[x y]").rows

    assert story(red) == [
        "error in setup",
        "test: tests/t.py::test_a[x y]",
        "what helps: make the test pass alone: `python -m pytest 'tests/t.py::test_a[x y]'`",
    ]


def test_advice_stands_in_place_of_the_general_one() -> None:
    row = replace(WEAK, advice=("assert the second result",), nearest=("t.py::a", "t.py::b"))

    assert story(row)[2:] == ["nearest: t.py::a, t.py::b", "what helps: assert the second result"]


def test_reason_is_the_waivers_or_the_rows_or_the_verdicts() -> None:
    assert reason(WEAK) == "because"
    assert (
        reason(replace(WEAK, reason="")) == "the test stays green although the outcome is inverted"
    )
    assert reason(replace(WEAK, waiver=WAIVER)).startswith("covered by the nightly soak (ada@")
    assert reason(replace(WEAK, reason="", verdict=None)) == ""


@pytest.mark.parametrize("text", HOSTILE)
def test_lines_stay_lines_and_all_else_is_printable(text: str) -> None:
    assert lines_of(text).replace("\n", "").isprintable()
    assert lines_of(text).count("\n") == len(text.splitlines()) - 1
