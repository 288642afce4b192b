import json
from dataclasses import replace

import pytest

from invertgate.model import Verdict
from invertgate.report.findings import level_of
from invertgate.report.gitlab import SEVERITIES, render
from support.reports import (
    REPORTS,
    failed_report,
    full_report,
    interrupted_report,
    nothing_new,
    one_row,
)
from support.schemas import code_quality, faults


@pytest.mark.parametrize("name", REPORTS)
def test_report_keeps_to_the_documented_format(name: str) -> None:
    issues = json.loads(render(REPORTS[name]()))

    prints = [issue["fingerprint"] for issue in issues]
    assert faults(code_quality(), issues) == []
    assert len(set(prints)) == len(prints)


def test_schema_finds_faults() -> None:
    issues = json.loads(render(full_report()))
    issues[0]["severity"] = "fatal"
    issues[1]["location"]["lines"]["begin"] = 0

    assert len(faults(code_quality(), issues)) == 2


def test_issue_says_which_way_of_which_decision_and_what_helps() -> None:
    [issue] = json.loads(render(one_row(Verdict.UNREACHED, "never taken")))

    assert issue["check_name"] == "invertgate/unreached"
    assert issue["severity"] == "major"
    assert issue["location"] == {"path": "src/retry.py", "lines": {"begin": 10}}
    assert issue["description"].startswith(
        "unreached: the false side of `if attempt < max_attempts`\nnever taken\n"
    )


def test_fingerprint_does_not_move_with_the_line_or_the_verdict() -> None:
    report = one_row(Verdict.WEAK)
    moved = replace(
        report, rows=tuple(replace(row, line=99, verdict=Verdict.RED) for row in report.rows)
    )

    [[before], [after]] = (json.loads(render(each)) for each in (report, moved))

    assert before["fingerprint"] == after["fingerprint"]
    assert before["severity"] != after["severity"]


def test_clean_patch_has_no_issue() -> None:
    assert json.loads(render(nothing_new())) == []
    assert json.loads(render(one_row(Verdict.BOUND))) == []


def test_run_that_did_not_judge_has_an_issue() -> None:
    issues = [json.loads(render(report)) for report in (interrupted_report(), failed_report())]

    assert [issue["severity"] for [issue] in issues] == ["blocker", "blocker"]


def test_every_verdict_that_is_a_finding_has_a_severity() -> None:
    assert set(SEVERITIES) == {verdict for verdict in Verdict if level_of(verdict)}
