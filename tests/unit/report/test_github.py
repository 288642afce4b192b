import re

import pytest

from invertgate.model import Verdict
from invertgate.report.github import MOST, outputs, render
from invertgate.report.words import inert, visible
from support.actions import Command, commands
from support.actions import outputs as read_outputs
from support.reports import (
    HOSTILE,
    REPORTS,
    failed_report,
    full_report,
    hostile_report,
    interrupted_report,
    nothing_new,
    one_row,
)

LEVELS = {"error", "warning", "notice"}


@pytest.mark.parametrize("name", REPORTS)
def test_each_line_is_one_annotation_and_nothing_else(name: str) -> None:
    text = render(REPORTS[name]())

    found = commands(text)
    assert len(found) == len(text.splitlines()) == text.count("\n")
    assert {command.name for command in found} <= LEVELS
    assert all(command.properties.keys() <= {"file", "line", "title"} for command in found)


def test_annotation_leads_to_the_line_and_says_what_to_do() -> None:
    [command] = commands(render(one_row(Verdict.WEAK, "still green")))

    assert command == Command(
        "error",
        {"file": "src/retry.py", "line": "10", "title": "invertgate: weak"},
        "weak: the false side of `if attempt < max_attempts` in Retry.call\n"
        "still green\n"
        "test: tests/t.py::test_a\n"
        "what helps: assert something that differs when the outcome goes the other way, or name a "
        "test that does\n"
        "row: src/retry.py:000000000001",
    )


def test_ten_are_shown_the_worst_first_and_the_rest_is_counted() -> None:
    found = commands(render(full_report()))

    *shown, rest = found
    levels = [command.name for command in shown]
    assert len(shown) == MOST == 10
    assert levels == sorted(levels)
    assert [command.properties["title"] for command in shown[:2]] == [
        "not parsed: no outcome of this file was judged",
        "invertgate: red",
    ]
    assert (rest.name, rest.data) == (
        "notice",
        "1 of 11 findings are not annotated; the report has them all",
    )


@pytest.mark.parametrize(
    "verdict", sorted(set(Verdict) - {Verdict.LEFTOVER, Verdict.INHERITED, Verdict.EXEMPT})
)
def test_rows_that_pass_are_not_annotated(verdict: Verdict) -> None:
    report = one_row(verdict)

    found = [command.name for command in commands(render(report))]

    expected = {0: [], 1: ["error"], 4: ["error"], 3: ["warning"], 8: ["warning"]}
    assert found == expected[report.exit_code]


def test_nothing_new_is_not_annotated() -> None:
    assert render(nothing_new()) == ""


def test_run_that_did_not_judge_is_an_error() -> None:
    [stopped] = commands(render(interrupted_report()))
    [failed] = commands(render(failed_report()))

    assert stopped.data.startswith("the run was stopped before its end, 1 row without a verdict")
    assert failed.data == "HEAD and origin/main share no commit\nexit 5: no base to compare with"


def test_hostile_names_arrive_as_text() -> None:
    found = commands(render(hostile_report()))

    files = [command.properties["file"] for command in found if "file" in command.properties]
    assert visible(f"{HOSTILE[0]}.py").replace("##[", "## [") in files
    assert all("\n" not in file for file in files)


def test_long_message_is_cut() -> None:
    [command] = commands(render(one_row(Verdict.WEAK, "x" * 100_000)))

    assert len(command.data) == 4000


@pytest.mark.parametrize("name", REPORTS)
def test_outputs_are_numbers_and_words_of_ours(name: str) -> None:
    report = REPORTS[name]()

    found = read_outputs(outputs(report))

    assert set(found) - set(Verdict) == {
        "exit_code",
        "complete",
        "found",
        "undecided",
        "findings",
    }
    assert all(re.fullmatch(r"\d+|true|false", value) for value in found.values())
    assert found["exit_code"] == str(report.exit_code)
    assert found["weak"] == str(report.counts[Verdict.WEAK])


@pytest.mark.parametrize(
    "log",
    [
        "::error::x",
        "  ::error file=a::x",
        "ok\n\t::set-output name=a::b",
        "ok\r::add-mask::x",
        "x ##[error]y",
        "\xa0::error::x\n##[group]a",
        "::stop-commands::abc\n::abc::",
        *HOSTILE,
    ],
)
def test_inert_text_commands_nothing(log: str) -> None:
    assert commands(log) or log in HOSTILE
    assert commands(inert(log)) == []


def test_inert_leaves_all_else_as_it_is() -> None:
    text = "tests/t.py::test_a\n\n  a::b\n## [x] # [y]\n"

    assert inert(text) == text
