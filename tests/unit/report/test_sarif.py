import json
from dataclasses import replace
from typing import Any
from urllib.parse import unquote_to_bytes

import pytest

from invertgate.model import Excerpt, Kind, Side, Span, Verdict
from invertgate.report.build import build
from invertgate.report.document import Report, ReportRow
from invertgate.report.sarif import RULES, render
from support.reports import (
    FACTS,
    PATCH,
    REPORTS,
    failed_report,
    full_report,
    hostile_report,
    interrupted_report,
    listing,
    nothing_new,
    one_row,
    outcome,
    result,
    rich_report,
)
from support.schemas import faults, sarif

Json = dict[str, Any]


def run_of(report: Report) -> Json:
    [run] = json.loads(render(report))["runs"]
    assert isinstance(run, dict)
    return run


def region_of(row: ReportRow) -> Json:
    [found] = run_of(replace(one_row(Verdict.WEAK), rows=(row,)))["results"]
    [location] = found["locations"]
    region = location["physicalLocation"]["region"]
    assert isinstance(region, dict)
    return region


@pytest.mark.parametrize("name", REPORTS)
def test_document_keeps_to_the_published_schema(name: str) -> None:
    document = json.loads(render(REPORTS[name]()))

    assert faults(sarif(), document) == []


def test_schema_finds_faults() -> None:
    document = json.loads(render(full_report()))
    document["runs"][0]["results"][0]["level"] = "fatal"

    assert len(faults(sarif(), document)) == 1


@pytest.mark.parametrize("report", [nothing_new(), one_row(Verdict.BOUND)])
def test_clean_patch_has_an_empty_list_of_results(report: Report) -> None:
    run = run_of(report)

    assert run["results"] == []
    [invocation] = run["invocations"]
    assert (invocation["executionSuccessful"], invocation["exitCode"]) == (True, 0)
    assert invocation["startTimeUtc"] == "2026-01-02T03:04:05Z"


def test_each_finding_is_a_result_of_the_rule_of_its_verdict() -> None:
    run = run_of(full_report())

    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    found = {each["ruleId"]: each["level"] for each in run["results"]}
    assert rules == list(RULES)
    assert all(rules[each["ruleIndex"]] == each["ruleId"] for each in run["results"])
    assert found == {
        "not_parsed": "error",
        **dict.fromkeys(
            ("weak", "unreached", "unbound", "uncollected", "red", "leftover", "locked_out"),
            "error",
        ),
        **dict.fromkeys(("unproven", "quarantined", "external"), "warning"),
        "waived": "note",
    }


def test_waived_row_is_a_suppressed_result_of_what_it_is_beneath() -> None:
    [waived] = [each for each in run_of(rich_report())["results"] if "suppressions" in each]

    assert waived["ruleId"] == "weak"
    assert waived["suppressions"] == [
        {
            "kind": "external",
            "status": "accepted",
            "justification": "covered by the nightly soak (ada@example.org, until 2026-03-14 in "
            "UTC)",
        }
    ]


def test_fingerprint_is_the_id_and_does_not_move_with_the_line() -> None:
    report = one_row(Verdict.WEAK)
    moved = replace(report, rows=tuple(replace(row, line=99) for row in report.rows))

    prints = [run_of(each)["results"][0]["partialFingerprints"] for each in (report, moved)]

    assert prints == [{"primaryLocationLineHash": "000000000001:1"}] * 2


@pytest.mark.parametrize(
    ("before", "test"),
    [
        ("    if ", "x < 1"),
        ("if 'é' == a and ", "b"),
        ("\tif '漢字😀' in ", "ñandú"),
        ("", "a"),
        ("if '\ud800' + ", "'\udc80'"),
    ],
)
def test_columns_count_code_points_and_not_bytes(before: str, test: str) -> None:
    def size(text: str) -> int:
        return len(text.encode("utf-8", "surrogatepass"))

    [row] = one_row(Verdict.WEAK).rows
    anchor = Span(row.line, size(before), row.line, size(before + test))
    row = replace(row, anchor=anchor, excerpt=Excerpt(row.line, (f"{before}{test}: # ü",)))

    region = region_of(row)

    assert run_of(one_row(Verdict.WEAK))["columnKind"] == "unicodeCodePoints"
    start, end = len(before) + 1, len(before) + len(test) + 1
    line = row.line
    assert region == {"startLine": line, "endLine": line, "startColumn": start, "endColumn": end}


@pytest.mark.parametrize(
    "anchor",
    [
        Span(10, 1, 10, 2),  # within a character
        Span(10, 2, 10, 99),  # past the end of the line
        Span(8, 2, 12, 3),  # on another line
    ],
)
def test_region_is_the_line_where_columns_cannot_be_told(anchor: Span) -> None:
    [row] = one_row(Verdict.WEAK).rows
    row = replace(row, anchor=anchor, excerpt=Excerpt(10, ("éa = 1",)))

    assert region_of(row) == {"startLine": 10}


def test_region_ends_with_its_line_where_the_decision_goes_on() -> None:
    [row] = one_row(Verdict.WEAK).rows
    row = replace(row, anchor=Span(10, 3, 12, 1), excerpt=Excerpt(9, ("", "if a(", "b", ")")))

    assert region_of(row) == {"startLine": 10, "endLine": 10, "startColumn": 4, "endColumn": 6}


def test_row_without_an_excerpt_has_a_line() -> None:
    [row] = one_row(Verdict.WEAK).rows

    assert region_of(replace(row, excerpt=None)) == {"startLine": 10}


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("src/a b.py", "src/a%20b.py"),
        ("c:d/é%.py", "c%3Ad/%C3%A9%25.py"),
        ("\udce9.py", "%E9.py"),
    ],
)
def test_path_is_a_relative_uri_of_the_bytes_of_its_name(path: str, uri: str) -> None:
    row = outcome(path=path)
    report = build(PATCH, listing(row), [result(row, Verdict.WEAK)], FACTS)

    [found] = run_of(report)["results"]

    artifact = found["locations"][0]["physicalLocation"]["artifactLocation"]
    assert artifact == {"uri": uri, "uriBaseId": "%SRCROOT%"}
    assert unquote_to_bytes(uri) == path.encode("utf-8", "surrogateescape")


@pytest.mark.parametrize(
    ("report", "words"),
    [
        (interrupted_report(), "the run was stopped before its end, 1 row without a verdict"),
        (failed_report(), "HEAD and origin/main share no commit"),
        (full_report(), "src/broken.py does not parse"),
    ],
)
def test_what_could_not_be_judged_is_told_of_the_invocation(report: Report, words: str) -> None:
    [invocation] = run_of(report)["invocations"]

    [told] = invocation["toolExecutionNotifications"]
    assert invocation["executionSuccessful"] is False
    assert invocation["exitCode"] == report.exit_code
    assert words in told["message"]["text"]


def test_no_text_holds_half_a_character_or_a_control_code() -> None:
    text = render(hostile_report())

    assert "\\ud800" not in text.replace("\\\\", "")
    assert all(ord(letter) in range(32, 127) for letter in text.replace("\n", ""))


def test_lines_beneath_another_kind_have_their_own_rule() -> None:
    row = outcome(kind=Kind.TRY_ELSE, side=Side.ELSE)
    report = build(PATCH, listing(row), [result(row, Verdict.UNBOUND)], FACTS)
    waived = replace(report.rows[0], verdict=Verdict.WAIVED, beneath=Verdict.BOUND)

    [found] = run_of(replace(report, rows=(waived,)))["results"]

    assert (found["ruleId"], len(found["suppressions"])) == ("waived", 1)
