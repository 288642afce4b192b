from collections import Counter
from dataclasses import replace

import pytest
from junitparser import Error, Failure, JUnitXml, Skipped, TestCase, TestSuite

from invertgate.errors import ExitCode
from invertgate.model import Verdict
from invertgate.report.build import EXIT_CODES
from invertgate.report.document import Report
from invertgate.report.junit import TAGS, render
from support.reports import (
    REPORTS,
    failed_report,
    full_report,
    hostile_report,
    interrupted_report,
    nothing_new,
    one_row,
    rich_report,
    stopped_report,
)

KINDS = {"": None, "failure": Failure, "error": Error, "skipped": Skipped}


def suite_of(report: Report) -> TestSuite:
    [suite] = list(JUnitXml.fromstring(render(report).encode()))
    assert isinstance(suite, TestSuite)
    return suite


def cases_of(report: Report) -> list[TestCase]:
    return list(suite_of(report))


@pytest.mark.parametrize("name", REPORTS)
def test_sums_are_those_of_the_cases(name: str) -> None:
    suite = suite_of(REPORTS[name]())

    kinds = Counter(type(case.result[0]) for case in suite if case.result)
    assert suite.tests == len(list(suite))
    assert (suite.failures, suite.errors, suite.skipped) == (
        kinds[Failure],
        kinds[Error],
        kinds[Skipped],
    )


@pytest.mark.parametrize("name", REPORTS)
def test_each_row_is_one_case_that_ends_as_its_verdict_says(name: str) -> None:
    report = REPORTS[name]()

    ends = [type(case.result[0]) if case.result else None for case in cases_of(report)]

    expected = [KINDS[TAGS[row.verdict] if row.verdict else "error"] for row in report.rows]
    assert ends[: len(report.rows)] == expected
    assert all(len(case.result) <= 1 for case in cases_of(report))


def test_only_rows_that_pass_are_neither_failures_nor_errors_nor_on_hold() -> None:
    green = {verdict for verdict, tag in TAGS.items() if tag not in {"failure", "error"}}
    passing = {
        verdict for verdict in Verdict if EXIT_CODES[verdict] in {ExitCode.OK, ExitCode.HOLD}
    }

    assert set(TAGS) == set(Verdict)
    assert green == passing
    assert [verdict for verdict, tag in TAGS.items() if not tag] == [Verdict.BOUND]


def test_case_says_where_and_what() -> None:
    [case] = cases_of(one_row(Verdict.WEAK, "still green"))

    [failure] = case.result
    assert case.name == "the false side of `if attempt < max_attempts` [000000000001]"
    assert case.classname == "src/retry.py"
    assert (failure.type, failure.message) == ("weak", "still green")
    assert "what helps: assert something" in failure.text


def test_case_has_what_each_run_said() -> None:
    bound = next(case for case in cases_of(full_report()) if not case.result)

    assert bound.system_out == (
        "control: passed\ninverted: failed: AssertionError: assert 1 == 2: tests/t.py:12"
    )


def test_waived_case_is_skipped_with_the_word_of_its_owner() -> None:
    skipped = [case.result[0] for case in cases_of(rich_report()) if case.result]

    [waived] = [each.message for each in skipped if each.type == "waived"]
    assert waived.startswith("covered by the nightly soak (ada@example.org")


@pytest.mark.parametrize(
    ("report", "words"),
    [
        (stopped_report(), "the run was stopped"),
        (failed_report(), "share no commit"),
        (interrupted_report(), "nothing was judged"),
    ],
)
def test_run_that_did_not_judge_is_not_green(report: Report, words: str) -> None:
    suite = suite_of(report)

    [error] = [case.result[0] for case in suite if case.result]
    assert suite.errors == 1
    assert words in error.message


def test_file_that_does_not_parse_is_an_error() -> None:
    [unread] = [case for case in cases_of(full_report()) if case.name == "parse"]

    assert (unread.classname, type(unread.result[0])) == ("src/broken.py", Error)


def test_nothing_new_is_an_empty_suite_with_the_proof() -> None:
    suite = suite_of(nothing_new())

    assert (suite.tests, suite.failures, suite.errors) == (0, 0, 0)
    assert "0 new outcomes; examined 3 files" in render(nothing_new())


def test_outcomes_that_were_only_listed_are_skipped() -> None:
    report = replace(interrupted_report(), judged=False, complete=True)

    kinds = [type(case.result[0]) for case in cases_of(report) if case.result]
    assert kinds == [Skipped]


def test_hostile_text_forges_no_case_and_loses_no_letter_that_xml_has() -> None:
    report = hostile_report()

    cases = cases_of(report)
    assert len(cases) == len(report.rows) + len(report.not_parsed)
    assert [case for case in cases if case.name == "forged"] == []
    assert any("]]></failure></testcase>" in case.classname for case in cases)
    assert any(r"\x00\x01\x1b[31m\ufffe" in case.classname for case in cases)
