import json
from dataclasses import replace
from typing import Any

import pytest

from invertgate.model import Excerpt, Span, Verdict
from invertgate.report.build import EXIT_CODES, WITHOUT_OUTCOME
from invertgate.report.document import Report
from invertgate.report.stryker import STATUSES, render
from support.reports import REPORTS, full_report, interrupted_report, nothing_new, one_row
from support.schemas import faults, mutation_report

DETECTED = {"Killed", "Timeout"}
UNDETECTED = {"Survived", "NoCoverage"}

Json = dict[str, Any]


def document_of(report: Report) -> Json:
    document = json.loads(render(report))
    assert isinstance(document, dict)
    return document


def mutants_of(report: Report) -> list[Json]:
    files = document_of(report)["files"].values()
    return [mutant for file in files for mutant in file["mutants"]]


@pytest.mark.parametrize("name", REPORTS)
def test_document_keeps_to_the_published_schema(name: str) -> None:
    assert faults(mutation_report(), document_of(REPORTS[name]())) == []


def test_schema_finds_faults() -> None:
    document = document_of(full_report())
    document["files"]["src/retry.py"]["mutants"][0]["status"] = "Bound"

    assert len(faults(mutation_report(), document)) == 1


def test_only_bound_is_detected() -> None:
    detected = {verdict for verdict, status in STATUSES.items() if status in DETECTED}

    assert detected == {Verdict.BOUND}
    assert set(STATUSES) == set(Verdict) - WITHOUT_OUTCOME


def test_every_row_that_keeps_the_gate_from_opening_counts_against_the_score() -> None:
    shut = {verdict for verdict in STATUSES if EXIT_CODES[verdict]}

    assert {verdict for verdict, status in STATUSES.items() if status in UNDETECTED} == shut


@pytest.mark.parametrize("name", REPORTS)
def test_each_outcome_is_a_mutant_with_the_status_of_its_verdict(name: str) -> None:
    report = REPORTS[name]()
    rows = [row for row in report.rows if row.verdict not in WITHOUT_OUTCOME]

    expected = sorted(STATUSES[row.verdict] if row.verdict else "NoCoverage" for row in rows)
    mutants = mutants_of(report)
    assert sorted(mutant["status"] for mutant in mutants) == expected
    assert len({mutant["id"] for mutant in mutants}) == len(rows)


@pytest.mark.parametrize("name", REPORTS)
def test_each_place_is_within_the_source(name: str) -> None:
    for file in document_of(REPORTS[name]())["files"].values():
        lines = file["source"].split("\n")
        for mutant in file["mutants"]:
            start, end = mutant["location"]["start"], mutant["location"]["end"]
            text = lines[start["line"] - 1].encode("utf-16-le", "surrogatepass")
            assert start["line"] == end["line"]
            assert 1 <= start["column"] <= end["column"] <= len(text) // 2 + 1


def test_columns_are_those_of_a_string_in_javascript() -> None:
    before, test = "if '😀é' and ", "b"
    report = one_row(Verdict.BOUND)
    [row] = report.rows
    anchor = Span(10, len(before.encode()), 10, len((before + test).encode()))
    row = replace(row, anchor=anchor, excerpt=Excerpt(9, ("x = 1", f"{before}{test}:")))

    document = document_of(replace(report, rows=(row,)))

    file = document["files"]["src/retry.py"]
    [mutant] = file["mutants"]
    start, end = mutant["location"]["start"], mutant["location"]["end"]
    units = file["source"].split("\n")[9].encode("utf-16-le")
    assert units[2 * start["column"] - 2 : 2 * end["column"] - 2].decode("utf-16-le") == "b"
    assert file["source"].split("\n")[7:9] == ["", "x = 1"]


@pytest.mark.parametrize(
    ("anchor", "after", "shown"),
    [
        (Span(10, 7, 10, 12), "    if a < b or True:", {"replacement": "a < b or True"}),
        (Span(10, 7, 10, 12), "    if True:", {"replacement": "True"}),
        (None, "    if True:", {"replacement": "    if True:"}),
        (Span(10, 7, 10, 12), "    elif True", {}),
        (Span(10, 7, 10, 12), "    if True:\n+    pass", {}),
        (Span(10, 7, 10, 12), "    if:", {}),
    ],
)
def test_replacement_is_what_stands_where_the_decision_stood(
    anchor: Span | None, after: str, shown: Json
) -> None:
    report = one_row(Verdict.WEAK)
    text = "    if a < b:"
    row = replace(
        report.rows[0],
        anchor=anchor,
        excerpt=Excerpt(9, ("", text)),
        mutant=f"--- a/src/retry.py\n+++ b/src/retry.py\n@@ -9,2 +9,2 @@\n \n-{text}\n+{after}\n",
    )

    [mutant] = mutants_of(replace(report, rows=(row,)))

    assert {name: mutant[name] for name in mutant if name == "replacement"} == shown


def test_bound_mutant_names_its_killer_and_no_other_does() -> None:
    mutants = mutants_of(full_report())

    killed = {tuple(mutant["killedBy"]): mutant["status"] for mutant in mutants}
    assert killed.pop(("tests/t.py::test_a",)) == "Killed"
    assert set(killed) == {()}


def test_tests_are_listed_by_file() -> None:
    document = document_of(one_row(Verdict.BOUND, test="tests/t.py::Group::test_a[x]"))

    test = {"id": "tests/t.py::Group::test_a[x]", "name": "Group::test_a[x]"}
    assert document["testFiles"] == {"tests/t.py": {"tests": [test]}}


@pytest.mark.parametrize(("judged", "status"), [(True, "NoCoverage"), (False, "Pending")])
def test_what_is_not_judged_is_pending_only_where_nobody_meant_to(
    judged: bool, status: str
) -> None:
    report = replace(interrupted_report(), judged=judged)

    assert [mutant["status"] for mutant in mutants_of(report)] == ["Killed", status]


def test_nothing_new_has_no_file() -> None:
    assert document_of(nothing_new())["files"] == {}
