import re
from collections.abc import Callable
from dataclasses import replace
from io import StringIO

import pytest
from rich.cells import cell_len

from invertgate.model import NotParsed, Result, Verdict
from invertgate.report.bind_page import show_bind
from invertgate.report.build import build
from invertgate.report.document import BindReport, Facts, Report, Unkilled
from invertgate.report.terminal import (
    console_for,
    show_list,
    show_report,
    show_table,
)
from invertgate.report.words import visible
from support.reports import (
    FACTS,
    KILL,
    PATCH,
    REPORTS,
    full_report,
    listing,
    one_row,
    outcome,
    result,
)

TEST = re.compile(r" +(test|nearest|closest): ")


class Terminal(StringIO):
    """A stream that somebody watches."""

    def isatty(self) -> bool:
        return True


def shown(report: Report, *, verbose: bool = False) -> str:
    stream = StringIO()
    show_report(report, console_for(stream, {}), verbose=verbose)
    return stream.getvalue()


def test_row_that_fails_is_shown_with_all_that_a_reader_needs() -> None:
    lines = shown(one_row(Verdict.WEAK, "passed twice although inverted")).splitlines()

    start = lines.index("weak (1): the test stays green although the outcome is inverted")
    assert lines[start + 1 : start + 5] == [
        "  src/retry.py:10  000000000001  in Retry.call",
        "    what: the false side of `if attempt < max_attempts`",
        "    test: tests/t.py::test_a",
        "    why: passed twice although inverted",
    ]
    assert lines[start + 5].startswith("  next: assert something that differs")


def test_header_is_first_and_next_steps_are_last() -> None:
    lines = shown(one_row(Verdict.UNBOUND, test="")).splitlines()

    assert lines[0].startswith("invertgate 0.1.0: examined 3 files, 41 outcomes, 1 new against")
    assert lines[-3:] == [
        "report: invertgate.out/report.json",
        "exit 1: findings",
        "next: `invertgate bind` searches a test for each row without one",
    ]


@pytest.mark.parametrize("verdict", [v for v in Verdict if v is not Verdict.BOUND])
def test_every_verdict_but_bound_has_its_group(verdict: Verdict) -> None:
    assert f"\n{verdict.replace('_', ' ')} (1): " in shown(full_report())


def test_bound_rows_are_only_counted() -> None:
    text = shown(one_row(Verdict.BOUND))

    assert "found 1 = 1 bound" in text
    assert "000000000001" not in text


def test_verbose_lists_bound_rows_with_what_killed() -> None:
    text = shown(full_report(), verbose=True)

    assert "tests/t.py::test_a (assertion)\n" in text
    assert "run: inverted failed in call by AssertionError: assert 1 == 2 at tests/t.py:12" in text


def test_verbose_names_every_file_that_was_left_out() -> None:
    report = one_row(Verdict.BOUND)

    assert "left out 2 files: a test file" in shown(report)
    assert "left out tests/test_shop.py: a test file" in shown(report, verbose=True)


def test_red_row_shows_its_control() -> None:
    assert (
        "run: control error in setup by ConnectionError: no server at tests/conftest.py:3 "
        "(outcome not reached) [0.00 s]"
    ) in shown(full_report())


def test_run_says_that_it_was_cold_and_what_stood_in_the_way_of_proof() -> None:
    run = replace(KILL, cold=True, notes=("child without the switch",))
    row = outcome()
    report = build(PATCH, listing(row), [Result(*row.key, Verdict.UNPROVEN, runs=(run,))], FACTS)

    assert "[0.00 s, fresh process] (child without the switch)" in shown(report)


def test_exception_without_a_message_is_named_alone() -> None:
    row = outcome()
    runs = (replace(KILL, message=""),)
    report = build(PATCH, listing(row), [Result(*row.key, Verdict.UNPROVEN, runs=runs)], FACTS)

    assert "by AssertionError at tests/t.py:12 [" in shown(report)


def test_weak_tests_are_named_with_their_rows() -> None:
    rows = [outcome(number, line=number) for number in range(1, 6)]
    results = [Result(*row.key, Verdict.WEAK, weak_tests=("t.py::test_a",)) for row in rows]

    text = shown(build(PATCH, listing(*rows), results, FACTS))

    assert "weak tests (1): green although inverted" in text
    assert "  t.py::test_a\n    5 rows: src/retry.py:000000000001, " in text
    assert "src/retry.py:000000000003 and 2 more\n" in text


def test_exempt_rows_are_listed_with_their_reason() -> None:
    assert "why: `TYPE_CHECKING` is false at run time" in shown(full_report())


def test_file_that_does_not_parse_is_named_with_its_line() -> None:
    assert "not parsed: src/broken.py:4: invalid syntax" in shown(full_report())


def test_nothing_is_said_of_files_where_there_is_nothing_to_say() -> None:
    report = replace(one_row(Verdict.BOUND), left_out=(), notes=())

    assert shown(report).splitlines()[1:3] == ["", "found 1 = 1 bound"]


def test_incomplete_report_says_so() -> None:
    facts = Facts("invertgate run", "2026-01-02T03:04:05Z", complete=False)

    text = shown(build(PATCH, listing(outcome()), [], facts))

    assert "did not get to its end" in text
    assert "exit 130: interrupted" in text


def test_stub_that_was_written_is_named() -> None:
    report = replace(one_row(Verdict.UNBOUND), written=("branch_rows.json",))

    assert "wrote branch_rows.json\n" in shown(report)


HOSTILE = "tests/t.py::test[bold][/bold]\x1b[2J\r::error::[link=x]"


def test_hostile_names_are_shown_and_not_interpreted() -> None:
    row = outcome(predicate=f"x == '{HOSTILE}'", path=HOSTILE)
    results = [Result(*row.key, Verdict.WEAK, HOSTILE, HOSTILE, weak_tests=(HOSTILE,))]
    stream = Terminal()

    show_report(
        build(PATCH, listing(row), results, FACTS),
        console_for(stream, {"TERM": "xterm", "NO_COLOR": "1", "COLUMNS": "500"}),
    )

    text = stream.getvalue()
    assert text.count("test[bold][/bold]\\x1b[2J\\r::error::[link=x]") >= 4
    assert "\x1b[2J" not in text
    assert "\r" not in text


def test_no_line_starts_like_a_command_to_a_ci_runner() -> None:
    row = outcome(path="::add-mask::x.py")
    results = [result(row, Verdict.WEAK, "first\n::error::second", "::stop-commands::")]

    text = shown(build(PATCH, listing(row), results, FACTS))

    assert not [line for line in text.splitlines() if line.lstrip().startswith("::")]
    assert "| : ::error::second" not in text
    assert "|: ::error::second" in text


def test_names_are_never_broken_however_narrow_the_terminal() -> None:
    stream = Terminal()

    show_report(one_row(Verdict.WEAK), console_for(stream, {"COLUMNS": "20", "NO_COLOR": "1"}))

    lines = stream.getvalue().splitlines()
    assert "  src/retry.py:10" in lines
    assert "    000000000001  in" in lines
    assert "    Retry.call" in lines


def live(report: Report, width: int) -> str:
    """Show a report to somebody who watches, and return the letters of it."""
    stream = Terminal()
    environment = {"COLUMNS": str(width), "TERM": "xterm"}
    show_report(report, console_for(stream, environment), verbose=True)
    return re.sub(r"\x1b\[[0-9;]*m", "", stream.getvalue())


def test_prose_is_wrapped_to_the_terminal_below_its_indent() -> None:
    text = live(one_row(Verdict.WEAK, "word " * 30), 40)

    lines = [line for line in text.splitlines() if "word word" in line]
    assert len(lines) > 3
    assert all(line.startswith("    ") and len(line) <= 40 for line in lines)


@pytest.mark.parametrize("width", [1, 20, 40, 80, 200])
@pytest.mark.parametrize("report", REPORTS.values(), ids=REPORTS)
def test_lines_are_broken_between_words_only(report: Callable[[], Report], width: int) -> None:
    text = live(report(), width)

    words = shown(report(), verbose=True).split()
    names = {f"  {visible(test)}" for test in report().weak_tests}
    prose = [line for line in text.splitlines() if line not in names and not TEST.match(line)]
    broken = [line for line in prose if cell_len(line) > width]
    assert [word for word in text.split() if word != "|"] == [word for word in words if word != "|"]
    assert [line for line in broken if " " in line.strip().removeprefix("| ")] == []


def test_nodeid_is_in_one_piece_to_be_copied() -> None:
    nodeid = "tests/test_shop.py::test_total[one of many words - and another one]"
    found = replace(one_row(Verdict.WEAK).rows[0], test=nodeid, nearest=(nodeid,))

    text = live(replace(one_row(Verdict.WEAK), rows=(found,)), 20)

    assert f"    test: {nodeid}\n" in text
    assert f"    nearest: {nodeid}\n" in text


def test_log_that_wants_colour_is_not_wrapped() -> None:
    stream = StringIO()

    environment = {"COLUMNS": "20", "FORCE_COLOR": "1"}
    show_report(one_row(Verdict.WEAK), console_for(stream, environment))

    assert "\x1b[31m" in stream.getvalue() or "\x1b[1;31m" in stream.getvalue()
    assert "src/retry.py:10  000000000001  in Retry.call" in stream.getvalue()


def test_words_that_would_command_a_runner_do_not_begin_a_line() -> None:
    for width in range(10, 60):
        text = live(one_row(Verdict.WEAK, "said ::error::x " * 5), width)

        assert not [line for line in text.splitlines() if line.lstrip().startswith("::")]


def test_colour_is_for_terminals_without_no_color() -> None:
    coloured, plain, piped = Terminal(), Terminal(), StringIO()

    for stream, environment in (
        (coloured, {"TERM": "xterm-256color"}),
        (plain, {"TERM": "xterm-256color", "NO_COLOR": "1"}),
        (piped, {"TERM": "xterm-256color"}),
    ):
        show_report(one_row(Verdict.WEAK), console_for(stream, environment))

    assert "\x1b[" in coloured.getvalue()
    assert "\x1b[31m" not in plain.getvalue()
    assert "\x1b[" not in piped.getvalue()


def test_our_own_words_are_ascii() -> None:
    assert shown(full_report(), verbose=True).isascii()


def test_list_shows_each_outcome_on_one_line() -> None:
    facts = Facts("invertgate run --list", "2026-01-02T03:04:05Z", judged=False)
    rows = (outcome(1, line=1), outcome(2, line=2, exempt="constant test"))
    stream = StringIO()

    show_list(build(PATCH, listing(*rows), [], facts), console_for(stream, {}))

    lines = stream.getvalue().splitlines()
    assert lines[1] == (
        "  src/retry.py:1  000000000001  in Retry.call  "
        "the false side of `if attempt < max_attempts`"
    )
    assert lines[2].endswith("  (exempt: constant test)")


def test_table_shows_claims_and_what_is_missing() -> None:
    facts = Facts(
        "invertgate table", "2026-01-02T03:04:05Z", judged=False, tables=("branch_rows.json",)
    )
    first, second = outcome(1, line=1), outcome(2, line=2)
    results = [result(first, Verdict.UNBOUND)]
    report = build(PATCH, listing(first, second), results, facts)
    report = replace(report, rows=(report.rows[0], replace(report.rows[1], test="t.py::test_a")))
    stream = StringIO()

    show_table(report, console_for(stream, {}))

    lines = stream.getvalue().splitlines()
    assert lines[1] == "table branch_rows.json"
    assert lines[2].startswith("  unbound     src/retry.py:1")
    assert lines[3].startswith("  claimed     src/retry.py:2")
    assert lines[4].strip() == "t.py::test_a"


def test_bind_shows_what_was_bound_and_what_no_test_notices() -> None:
    report = BindReport(
        bound=((outcome(1), "t.py::test_a[x]"),),
        unkilled=(Unkilled(outcome(2), 1, "stayed green", ("t.py::test_b",)),),
        claimed=3,
        written=("branch_rows.json",),
        notes=("a note",),
    )
    stream = StringIO()

    show_bind(report, console_for(stream, {}))

    lines = stream.getvalue().splitlines()
    assert lines[0] == "bound now (1)"
    assert lines[2] == "    t.py::test_a[x]"
    assert lines[3] == "no test notices (1)"
    assert lines[5:7] == ["    why: stayed green; 1 test tried", "    closest: t.py::test_b"]
    assert lines[7:] == [
        "note: a note",
        "1 bound now, 3 claimed before, 1 that no test notices",
        "wrote branch_rows.json",
        "next: write a test for each row above, name it in the table, and run again",
    ]


@pytest.mark.parametrize(
    ("report", "words"),
    [
        (BindReport((), ()), "next: review the table, then `invertgate run --changed` judges it"),
        (
            BindReport((), (), not_parsed=(NotParsed("a.py", 1, "bad"),)),
            "next: mend or exclude the files that do not parse",
        ),
    ],
)
def test_bind_says_what_to_do_next(report: BindReport, words: str) -> None:
    stream = StringIO()

    show_bind(report, console_for(stream, {}))

    assert stream.getvalue().splitlines()[-1] == words


@pytest.mark.parametrize(
    ("report", "code"),
    [
        (BindReport((), ()), 0),
        (BindReport((), (Unkilled(outcome(), 0, ""),)), 1),
        (BindReport((), (), not_parsed=(NotParsed("a.py", 1, "bad"),)), 6),
    ],
)
def test_bind_ends_1_if_a_row_found_no_test(report: BindReport, code: int) -> None:
    assert report.exit_code == code
