import re
from io import BytesIO, StringIO, TextIOWrapper

import pytest
from rich.cells import cell_len

from invertgate.model import Verdict
from invertgate.report.progress import Bar, PlainLines, Silent, progress_for
from support.reports import outcome, result


class Terminal(StringIO):
    """A stream that somebody watches."""

    def isatty(self) -> bool:
        return True


class AsciiTerminal(TextIOWrapper):
    """A stream that somebody watches under ``LANG=C``."""

    def isatty(self) -> bool:
        return True


class Closed(StringIO):
    """A stream whose reader left."""

    def write(self, _text: str) -> int:
        raise BrokenPipeError


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


BOUND = result(outcome(1), Verdict.BOUND)
WEAK = result(outcome(2), Verdict.WEAK)
TERM = {"TERM": "xterm", "COLUMNS": "100", "NO_COLOR": "1"}


def test_plain_lines_are_at_most_one_every_few_seconds() -> None:
    stream, clock = StringIO(), Clock()
    lines = PlainLines(stream, clock)

    lines.stage("judging rows")
    lines.total(3)
    lines.advance(BOUND, "a")
    clock.now = 6
    lines.advance(WEAK, "b")
    lines.advance(None, "c")
    lines.close()

    assert stream.getvalue().splitlines() == [
        "invertgate: judging rows: 3",
        "invertgate: judging rows 2/3: 1 bound, 1 weak  b",
    ]


def test_stage_without_steps_is_not_worth_a_line() -> None:
    stream = StringIO()

    PlainLines(stream).stage("reading the patch")

    assert stream.getvalue() == ""


def test_reader_who_left_does_not_end_the_run() -> None:
    lines = PlainLines(Closed())

    lines.stage("judging rows")
    lines.total(3)


def test_hostile_text_in_plain_lines_is_spelled_out() -> None:
    stream, clock = StringIO(), Clock()
    lines = PlainLines(stream, clock)
    lines.total(1)
    clock.now = 6

    lines.advance(None, "\x1b[2J\n::error::")

    assert stream.getvalue().endswith("\\x1b[2J\\n::error::\n")


def test_bar_shows_how_far_the_run_is_and_vanishes() -> None:
    stream, clock = Terminal(), Clock()
    bar = Bar(stream, TERM, clock)
    bar.stage("judging rows")
    bar.total(2)
    bar.advance(BOUND, "test[bold]")
    bar.advance(WEAK, "too soon to be drawn")

    drawn = stream.getvalue()
    bar.close()

    assert "1/2" in drawn
    assert "judging rows: 1 bound  test[bold]" in drawn
    assert "too soon" not in drawn
    assert stream.getvalue().endswith("\x1b[2K")


@pytest.mark.parametrize("width", [10, 40, 80, 200])
def test_bar_stays_on_one_line_and_tells_the_numbers(width: int) -> None:
    stream = Terminal()
    bar = Bar(stream, {**TERM, "COLUMNS": str(width)})
    bar.stage("judging rows")
    bar.total(2)

    bar.advance(WEAK, "tests/test_shop.py::test_店[" + "long " * 60 + "]")

    frame = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\r", "", stream.getvalue().splitlines()[-1])
    assert "1/2" in frame
    assert cell_len(frame.rstrip()) <= width
    assert ("━" in frame) == (width >= 60)
    assert "\n" not in stream.getvalue().rstrip("\n").partition("1/2")[2]


def test_bar_is_drawn_in_ascii_where_a_stream_knows_no_more() -> None:
    raw = BytesIO()
    stream = AsciiTerminal(raw, encoding="ascii", write_through=True)
    bar = Bar(stream, {**TERM, "COLUMNS": "80"})

    bar.stage("judging rows")
    bar.total(4)
    bar.advance(WEAK, "a")

    assert b"1/4" in raw.getvalue()
    assert raw.getvalue().isascii()


def test_bar_draws_nothing_before_a_stage_has_steps() -> None:
    stream = Terminal()
    bar = Bar(stream, TERM)

    bar.stage("reading the patch")
    bar.advance(None, "")
    bar.close()

    assert stream.getvalue() == ""


def test_silence_is_silent() -> None:
    silent = Silent()

    silent.stage("a")
    silent.total(1)
    silent.advance(BOUND, "")
    silent.close()


@pytest.mark.parametrize(
    ("stream", "environment", "kind"),
    [
        (Terminal(), {"TERM": "xterm"}, Bar),
        (Terminal(), {"TERM": "xterm", "CI": "true"}, PlainLines),
        (Terminal(), {"TERM": "dumb"}, PlainLines),
        (StringIO(), {"TERM": "xterm"}, PlainLines),
    ],
)
def test_bar_is_for_a_terminal_that_somebody_watches(
    stream: StringIO, environment: dict[str, str], kind: type
) -> None:
    assert isinstance(progress_for(stream, environment), kind)
