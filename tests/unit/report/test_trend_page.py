import io

from invertgate.model import Verdict
from invertgate.report.terminal import console_for
from invertgate.report.trend_page import show_trend, sparkline
from invertgate.trend_model import FlakyRow, Moved, Night, RankedTest, SlowTest, Trend

NIGHTS = tuple(
    Night(f"2026-01-0{day}T03:00:00+00:00", "4f0c2d1", {Verdict.BOUND: day, Verdict.WEAK: 9 - day})
    for day in (1, 4, 7)
)


def page(trend: Trend) -> str:
    stream = io.StringIO()
    show_trend(trend, console_for(stream, {"COLUMNS": "120", "TERM": "dumb"}))
    return stream.getvalue()


def test_a_line_of_bars_grows_with_its_numbers() -> None:
    assert sparkline([0, 1, 2, 7]) == "▁▂▃█"
    assert sparkline([0, 0]) == "▁▁"


def test_the_page_tells_everything_that_was_found() -> None:
    told = page(
        Trend(
            "sweep",
            "linux, Python 3.11",
            NIGHTS,
            weak_tests=(RankedTest("t.py::weak", ("a:1", "a:2"), 3),),
            newly_weak=(Moved("a:1", "t.py::weak", None, Verdict.WEAK),),
            fixed=(Moved("a:3", "t.py::good", Verdict.UNREACHED, Verdict.BOUND),),
            flaky=(FlakyRow("a:4", "t.py::odd", "bound and weak, of the same files"),),
            slowest=(SlowTest("t.py::slow", 1.25),),
        )
    )

    assert "3 reports of sweep, linux, Python 3.11" in told
    assert "1 → 7" in told
    for words in ("t.py::weak", "not seen", "unreached", "of the same files", "1.25"):
        assert words in told


def test_long_lists_are_cut_and_say_so() -> None:
    many = tuple(RankedTest(f"t.py::t{number}", ("a:1",), 1) for number in range(25))

    assert "and 5 more: --json lists all" in page(Trend("run", "linux", NIGHTS, weak_tests=many))


def test_names_cannot_drive_the_terminal() -> None:
    hostile = (RankedTest("t.py::\x1b[31m[bold]x", ("a:1",), 1),)

    assert "\\x1b[31m[bold]x" in page(Trend("run", "linux", NIGHTS, weak_tests=hostile))
