import re
from dataclasses import replace

import pytest

from invertgate.errors import ExitCode
from invertgate.model import Verdict
from invertgate.report.document import Report
from invertgate.report.markdown import LIMIT, LONGEST_CELL, render
from invertgate.report.words import visible
from support.page import page_of
from support.reports import (
    HOSTILE,
    REPORTS,
    failed_report,
    full_report,
    interrupted_report,
    nothing_new,
    one_row,
    rich_report,
)

OURS = {
    "blockquote",
    "code",
    "h2",
    "h3",
    "li",
    "p",
    "strong",
    "table",
    "tbody",
    "td",
    "th",
    "thead",
    "tr",
    "ul",
}
INVISIBLE = "\u200b"


def named(report: Report, text: str) -> Report:
    rows = tuple(
        replace(row, path=text, scope=text, predicate=text, reason=text, test=text)
        for row in report.rows
    )
    return replace(report, rows=rows)


def squeezed(text: str) -> str:
    """Return text as a browser shows it."""
    return re.sub(" +", " ", text.replace(INVISIBLE, "")).strip(" ")


@pytest.mark.parametrize("name", REPORTS)
def test_page_is_made_of_our_markup_only(name: str) -> None:
    page = page_of(render(REPORTS[name]()))

    assert page.tags <= OURS
    assert all(len(row) == len(table[0]) for table in page.tables for row in table)


@pytest.mark.parametrize("name", REPORTS)
def test_each_row_stands_in_one_line_of_a_table(name: str) -> None:
    report = REPORTS[name]()

    tables = [table for table in page_of(render(report)).tables if len(table[0]) == 5]
    assert sum(len(table) - 1 for table in tables) == len(report.rows)


@pytest.mark.parametrize(
    "text",
    [
        *HOSTILE,
        "a | b",
        r"a \| b",
        "a \\",
        "`",
        "``",
        "` a `",
        "a`|`b",
        " a ",
        "**a** _b_ [c](d) <e@f.gh> www.example.org https://example.org @octocat #1",
        "1. a",
        "- a",
        "    a",
        "&lt;&amp;&#64;",
        "$a$ ~~b~~ :smile:",
        "\\",
        "\\\\|",
    ],
)
def test_names_are_shown_letter_by_letter(text: str) -> None:
    report = named(one_row(Verdict.WEAK), text)

    page = page_of(render(report))

    [head, row] = page.tables[-1]
    shown = visible(text)
    cells = {name: squeezed(cell) for name, cell in zip(head, row, strict=True)}
    assert page.tags <= OURS
    assert cells == {
        "verdict": "weak",
        "where": squeezed(f"{shown}:10 000000000001 in {shown}"),
        "outcome": squeezed(f"the false side of if {shown}"),
        "why": squeezed(shown),
        "test": squeezed(shown),
    }


def test_mentions_and_references_outside_of_code_are_broken_up() -> None:
    text = render(named(one_row(Verdict.WEAK), "@octocat #1"))

    prose = page_of(text).tables[-1][1][3]
    assert prose == f"@{INVISIBLE}octocat #{INVISIBLE}1"


def test_worst_stands_first_and_bound_last() -> None:
    text = render(full_report())

    titles = [line for line in text.splitlines() if line.startswith("###")]
    assert titles == [
        "### What to do next",
        "### Findings (10)",
        "### Weak tests (1)",
        "### Notes",
        "### Bound (1)",
        "### Passed without a test (3)",
    ]
    findings = next(table for table in page_of(text).tables if len(table[0]) == 5)
    assert [row[0] for row in findings[1:3]] == ["red", "weak"]


@pytest.mark.parametrize(
    ("report", "title"),
    [
        (nothing_new(), "## invertgate: passed"),
        (one_row(Verdict.BOUND), "## invertgate: passed"),
        (one_row(Verdict.WEAK), "## invertgate: not passed"),
        (interrupted_report(), "## invertgate: not passed"),
        (failed_report(), "## invertgate: not passed"),
        (replace(failed_report(), exit_code=ExitCode.OK), "## invertgate: not passed"),
        (replace(nothing_new(), judged=False), "## invertgate: listed, not judged"),
    ],
)
def test_title_says_how_it_ended(report: Report, title: str) -> None:
    assert render(report).splitlines()[0] == title


def test_zero_rows_stand_beside_what_was_examined() -> None:
    assert "0 new outcomes; examined 3 files, 41 outcomes against 4f0c2d1a9b8c" in render(
        nothing_new()
    )


def test_waived_row_shows_who_answers_for_it() -> None:
    assert r"covered by the nightly soak (ada@" in render(rich_report()).replace(INVISIBLE, "")


def test_long_texts_are_cut() -> None:
    report = named(one_row(Verdict.WEAK), "x" * 10_000)

    cells = page_of(render(report)).tables[-1][1]

    assert max(map(len, cells)) < 3 * LONGEST_CELL


def test_summary_stays_below_the_limit_and_counts_what_it_leaves_out() -> None:
    [row] = one_row(Verdict.WEAK).rows
    rows = tuple(replace(row, id=f"{number:012x}") for number in range(9000))
    report = replace(one_row(Verdict.WEAK), rows=rows)

    text = render(report)
    short = render(report, limit=20_000)

    assert LIMIT - 1000 < len(text.encode()) < LIMIT
    assert len(short.encode()) < 20_000
    shown = short.count("| **weak** |")
    assert 100 < shown < 200
    assert f"\n{9000 - shown + 4} more lines did not fit" in short  # 4 for notes and their title
