from dataclasses import replace

import pytest

from invertgate.model import Kind, Outcome, Span
from invertgate.report.excerpt import MOST, excerpt, lines_of
from support.reports import outcome

LINES = [f"line {number}" for number in range(1, 201)]


def placed(line: int, body: tuple[int, int], anchor: int = 0) -> Outcome:
    made = outcome(line=line)
    start = anchor or line
    return replace(made, anchor=Span(start, 0, start, 9), body=body)


def test_three_lines_stand_before_the_decision_and_after_the_outcome() -> None:
    cut = excerpt(placed(10, (14, 16)), LINES)

    assert cut.first == 7
    assert cut.lines[-1] == "line 19"


def test_file_s_ends_are_not_passed() -> None:
    cut = excerpt(placed(2, (3, 4)), LINES[:5])

    assert (cut.first, cut.lines) == (1, tuple(LINES[:5]))


@pytest.mark.parametrize(
    ("line", "body", "anchor"), [(50, (51, 150), 50), (90, (91, 92), 10), (90, (10, 95), 20)]
)
def test_long_outcome_is_cut_around_its_own_line(
    line: int, body: tuple[int, int], anchor: int
) -> None:
    cut = excerpt(placed(line, body, anchor), LINES)

    assert len(cut.lines) <= MOST
    assert f"line {line}" in cut.lines


def test_else_shows_the_statement_that_it_belongs_to() -> None:
    made = replace(placed(20, (21, 22), 12), kind=Kind.FOR_ELSE)

    assert excerpt(made, LINES).first == 9


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        (b"a\r\nb\rc\nd", ["a", "b", "c", "d"]),
        (b"a\x0c\nb\n", ["a\x0c", "b"]),
        (b"\xef\xbb\xbfa\n", ["a"]),
        (b"# coding: latin-1\n\xe9\n", ["# coding: latin-1", "é"]),
        ("a = '\u2028'\n".encode(), ["a = '\u2028'"]),
    ],
)
def test_lines_are_those_that_python_counts(source: bytes, lines: list[str]) -> None:
    assert lines_of(source) == lines
