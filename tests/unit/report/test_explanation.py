from dataclasses import replace
from io import StringIO

from invertgate.model import Ending, Excerpt, Run, Verdict
from invertgate.report.explanation import Explanation, Noticed, OtherTest, run_in_words, show
from invertgate.report.lines import console_for
from support.reports import one_row

TEST = "tests/test_retry.py::test_gives_up"
RUNS = (
    Run(TEST, False, Ending.PASSED, reached=True, seconds=0.5),
    Run(TEST, True, Ending.PASSED, reached=True),
    Run(TEST, False, Ending.PASSED, reached=False, cold=True, counted=False),
)


def shown(told: Explanation) -> str:
    stream = StringIO()
    show(told, console_for(stream, {"NO_COLOR": "1"}))
    return stream.getvalue()


def explanation() -> Explanation:
    made = one_row(Verdict.WEAK).rows[0]
    row = replace(
        made,
        runs=RUNS,
        line=10,
        end_line=11,
        excerpt=Excerpt(9, ("def call(self):", "\tif attempt < most:", "\t\treturn", "\x1b[2J")),
        mutant="--- a/x.py\n+++ b/x.py\n@@ -1,1 +1,1 @@\n-if a:\n+if a and False:\n",
        passes_on_base=True,
        advice=("the first", "the second"),
    )
    others = (
        OtherTest("t.py::test_b", Noticed.KILLS, "killed by an assertion"),
        OtherTest("t.py::test_c", Noticed.GREEN, "stays green"),
    )
    return Explanation(row, "t.py:3  assert x", others, 3, ("invertgate run --id x",), ("a note",))


def test_all_that_is_known_is_shown() -> None:
    page = shown(explanation())

    for part in (
        "> 10      if attempt < most:",
        "| 11          return",
        "  +if a and False:",
        "weak: the test stays green",
        "run 1: control passed [0.50 s]",
        "run 2: inverted stayed green",
        "run 3: control passed (outcome not taken) [0.00 s, fresh process] (set aside)",
        "fails at: t.py:3  assert x",
        "on the base's source: the test passes too",
        "kills        t.py::test_b",
        "stays green  t.py::test_c",
        "advice: the first",
        "also: the second",
        "note: a note",
        "again: invertgate run --id x",
    ):
        assert part in page


def test_source_cannot_drive_the_terminal() -> None:
    assert "\x1b" not in shown(explanation())


def test_without_advice_the_verdict_s_next_step_is_shown() -> None:
    told = explanation()

    page = shown(replace(told, row=replace(told.row, advice=())))

    assert "advice: assert something that differs" in page


def test_nothing_is_said_of_other_tests_if_nobody_looked() -> None:
    assert "other test" not in shown(replace(explanation(), others=(), takers=None))


def test_failed_run_says_where_and_by_what() -> None:
    run = Run(TEST, True, Ending.FAILED, "call", "KeyError", "'a'\nmore", "shop.py:3", reached=True)

    assert run_in_words(run) == "inverted failed in call at shop.py:3: KeyError: 'a' [0.00 s]"
