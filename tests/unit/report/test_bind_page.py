from io import StringIO

from invertgate.report.bind_page import show_bind
from invertgate.report.document import BindReport, MarkerLine, Replaced, Unkilled
from invertgate.report.lines import console_for
from support.reports import outcome


def shown(report: BindReport) -> list[str]:
    stream = StringIO()
    show_bind(report, console_for(stream, {}))
    return stream.getvalue().splitlines()


def test_a_row_that_was_pointed_elsewhere_says_from_where_and_why() -> None:
    replaced = Replaced(outcome(1), "t.py::test_old", "t.py::test_new", "it only crashes")

    lines = shown(BindReport(((outcome(1), "t.py::test_new"),), (), replaced=(replaced,)))

    assert lines[2:5] == [
        "    t.py::test_new",
        "    instead of: t.py::test_old",
        "    why: it only crashes",
    ]


def test_the_nearest_tests_say_why_they_do_not_bind() -> None:
    entry = Unkilled(outcome(1), 1, "green", ("t.py::test_a",), {"t.py::test_a": "stays green"})

    lines = shown(BindReport((), (entry,)))

    assert lines[3:5] == ["    closest: t.py::test_a", "      but: stays green"]


def test_a_dry_run_shows_what_would_be_written() -> None:
    lines = shown(BindReport((), (), unwritten={"rows.json": "--- a\n+++ b\n+new\n"}))

    assert lines[1:] == [
        "would write rows.json:",
        "  --- a",
        "  +++ b",
        "  +new",
        "next: run it again without --dry-run",
    ]


def test_marker_lines_are_shown_as_they_stand_in_their_files() -> None:
    marks = (
        MarkerLine("a.py", 9, '    @pytest.mark.branch("1")'),
        MarkerLine("a.py", 1, "import pytest"),
    )

    lines = shown(BindReport((), (), markers=marks))

    assert lines[1:5] == [
        "add these lines in this order, each above the line of its number",
        "  a.py",
        '        9:     @pytest.mark.branch("1")',
        "        1: import pytest",
    ]
