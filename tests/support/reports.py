"""Values of which reports are made, and one fixed report that shows everything."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from invertgate.errors import ExitCode
from invertgate.model import (
    Claim,
    Ending,
    Excerpt,
    Killer,
    Kind,
    LeftOut,
    NotParsed,
    Outcome,
    OutcomeList,
    Patch,
    Result,
    Row,
    Run,
    Side,
    Span,
    Verdict,
    Waiver,
)
from invertgate.report.build import build, failed
from invertgate.report.document import Facts, Gone, Report, ReportRow

FACTS = Facts(
    command="invertgate run --changed",
    started="2026-01-02T03:04:05Z",
    operator="onesided",
    seconds=1.5,
    cpu=2.25,
    python="3.11.9",
    platform="linux",
    tables=("branch_rows.json",),
)

PATCH = Patch(
    base="4f0c2d1a9b8c7d6e5f4a3b2c1d0e9f8a7b6c5d4e",
    base_name="merge base with origin/main",
    head="",
    files=(),
    left_out=(
        LeftOut("tests/test_retry.py", "a test file"),
        LeftOut("tests/test_shop.py", "a test file"),
    ),
    notes=("the clone has two merge bases; the first was taken",),
)


def outcome(  # noqa: PLR0913 (each has a default, and a test names what it is about)
    number: int = 1,
    *,
    path: str = "src/retry.py",
    line: int = 10,
    kind: Kind = Kind.IF,
    predicate: str = "attempt < max_attempts",
    side: Side = Side.FALSE,
    exempt: str = "",
    scope: str = "Retry.call",
    ambiguous: bool = False,
    hint: str = "",
) -> Outcome:
    """Return an outcome; its number makes its id."""
    return Outcome(
        path=path,
        id=f"{number:012x}",
        kind=kind,
        predicate=predicate,
        side=side,
        scope=scope,
        line=line,
        anchor=Span(line, 7, line, 29),
        body=(line + 1, line + 2),
        exempt=exempt,
        ambiguous=ambiguous,
        hint=hint,
    )


def result(of: Outcome, verdict: Verdict, reason: str = "", test: str = "") -> Result:
    """Return a result for an outcome."""
    return Result(of.path, of.id, verdict, reason, test)


def listing(*outcomes: Outcome, not_parsed: tuple[NotParsed, ...] = ()) -> OutcomeList:
    """Return outcomes as the walk gives them."""
    return OutcomeList(outcomes, files_examined=3, outcomes_examined=41, not_parsed=not_parsed)


def one_row(verdict: Verdict, reason: str = "because", test: str = "tests/t.py::test_a") -> Report:
    """Return the report of a patch with one new outcome."""
    row = outcome()
    return build(PATCH, listing(row), [result(row, verdict, reason, test)], FACTS)


def nothing_new() -> Report:
    """Return the report of a patch that brings no outcome."""
    return build(PATCH, listing(), [], FACTS)


CONTROL = Run("tests/t.py::test_a", inverted=False, ending=Ending.PASSED, reached=True, cpu=0.004)
KILL = Run(
    "tests/t.py::test_a",
    inverted=True,
    ending=Ending.FAILED,
    phase="call",
    exception="AssertionError",
    message="assert 1 == 2",
    where="tests/t.py:12",
    killer=Killer.ASSERTION,
    reached=True,
)
RED_CONTROL = Run(
    "tests/t.py::test_red",
    inverted=False,
    ending=Ending.ERROR,
    phase="setup",
    exception="ConnectionError",
    message="no server\nat all",
    where="tests/conftest.py:3",
)


def full_report() -> Report:
    """Return a report with a row of every verdict."""
    verdicts = [v for v in Verdict if v not in {Verdict.LEFTOVER, Verdict.INHERITED}]
    outcomes = tuple(
        outcome(
            number,
            line=number * 10,
            exempt="`TYPE_CHECKING` is false at run time" if verdict is Verdict.EXEMPT else "",
            ambiguous=verdict is Verdict.UNBOUND,
            hint="same as lib/old.py:12" if verdict is Verdict.UNREACHED else "",
        )
        for number, verdict in enumerate(verdicts, start=1)
    )
    results = [
        _full_result(one, verdict)
        for one, verdict in zip(outcomes, verdicts, strict=True)
        if verdict is not Verdict.EXEMPT
    ]
    results += [
        Result("src/old.py", "aaaaaaaaaaaa", Verdict.LEFTOVER, "the patch has no such outcome"),
        Result("src/old.py", "bbbbbbbbbbbb", Verdict.INHERITED, "unchanged from the base's table"),
    ]
    return build(
        PATCH,
        listing(*outcomes, not_parsed=(NotParsed("src/broken.py", 4, "invalid syntax"),)),
        results,
        FACTS,
        rows=[Row(one, (Claim("tests/t.py::test_a"),)) for one in outcomes],
        gone=[Gone("src/old.py", "aaaaaaaaaaaa", Kind.EXCEPT, "except KeyError", Side.HANDLER)],
    )


def _full_result(of: Outcome, verdict: Verdict) -> Result:
    match verdict:
        case Verdict.BOUND:
            return Result(*of.key, verdict, test="tests/t.py::test_a", runs=(CONTROL, KILL))
        case Verdict.WEAK:
            weak = ("tests/t.py::test_a",)
            return Result(*of.key, verdict, "still green", runs=(CONTROL,), weak_tests=weak)
        case Verdict.RED:
            return Result(*of.key, verdict, "error in setup", runs=(RED_CONTROL,))
        case Verdict.UNCOLLECTED:
            return Result(*of.key, verdict, "not collected", nearest=("tests/t.py::test_b",))
        case _:
            return Result(*of.key, verdict, f"why it is {verdict}")


WAIVER = Waiver(
    "src/retry.py", f"{10:012x}", "covered by the nightly soak", "ada@example.org", "2026-03-14"
)
SOURCE = (
    "def call(self):",
    "    if attempt < max_attempts:",
    "        return self.again()",
    "    return None",
)
DIFF = """\
--- a/src/retry.py
+++ b/src/retry.py
@@ -2 +2 @@
-    if attempt < max_attempts:
+    if True:
"""


def rich_report() -> Report:
    """Return a report with a row of every verdict and all that a row may carry."""
    report = full_report()
    return replace(report, rows=tuple(_rich(row) for row in report.rows))


def _rich(row: ReportRow) -> ReportRow:
    if not row.line:
        return row
    is_waived = row.verdict is Verdict.WAIVED
    return replace(
        row,
        excerpt=Excerpt(row.line - 1, SOURCE),
        mutant=DIFF,
        waiver=WAIVER if is_waived else None,
        beneath=Verdict.WEAK if is_waived else None,
        advice=("assert what the test gets back",) if row.verdict is Verdict.WEAK else (),
    )


HOSTILE: Final = (
    "\n::error file=a.py::forged\n##[error]forged\n::stop-commands::x\r::set-output name=x::y",
    "\r\n::add-mask::e\u2028::error::f\u2029::error::g\x85::error::h\x0b::error::i\x0c::error::j",
    "]]></failure></testcase><testcase name='forged'/><![CDATA[ &amp; &#0; \x00\x01\x1b[31m\ufffe",
    "| a | `b` ``c`` </td></tr></table> <img src=x onerror=alert(1)> <!-- \\| [x](javascript:1)",
    "</script><script>document.title='forged'</script>{{ 7 * 7 }}{% raw %}\"'--><!-- %0A%0D%25%3A",
    "lone \udc80 and \ud800, caf\xe9, \U0001f600, \u202er, \ufeffmark, @octocat #1 _x_ *y* ~~z~~",
)
"""Texts that would be commands, markup or no characters at all where a format does not look out."""


def hostile_report() -> Report:
    """Return a report of every verdict in which each name and each message is hostile."""
    report = rich_report()
    rows = tuple(_hostile(row, HOSTILE[n % len(HOSTILE)]) for n, row in enumerate(report.rows))
    everything = "".join(HOSTILE)
    return replace(
        report,
        rows=rows,
        command=everything,
        error=everything,
        base_name=everything,
        tables=(everything,),
        written=(everything,),
        notes=HOSTILE,
        left_out=(LeftOut(everything, everything),),
        not_parsed=tuple(NotParsed(f"{text}.py", 4, text) for text in HOSTILE),
        weak_tests={text: tuple(row.name for row in rows) for text in HOSTILE},
    )


def _hostile(row: ReportRow, text: str) -> ReportRow:
    run = replace(KILL, test=text, exception=text, message=text, where=text, notes=(text,))
    return replace(
        row,
        project=text,
        path=f"src/{text}.py",
        scope=text,
        predicate=text,
        reason=text,
        test=f"tests/t.py::test[{text}]",
        claims=(Claim(text),),
        hint=text,
        runs=tuple(replace(run, inverted=one.inverted, ending=one.ending) for one in row.runs),
        weak_tests=tuple(text for _ in row.weak_tests),
        nearest=(text,),
        excerpt=row.excerpt and Excerpt(row.line - 1, tuple(text.splitlines())),
        mutant=row.mutant and f"{DIFF}-{text}",
        waiver=row.waiver and replace(row.waiver, path=text, reason=text, owner=text),
        advice=(text,),
    )


def interrupted_report() -> Report:
    """Return the report of a run that was stopped while it judged."""
    bound, waiting = outcome(1), outcome(2, line=20)
    facts = replace(FACTS, complete=False)
    return build(PATCH, listing(bound, waiting), [result(bound, Verdict.BOUND)], facts)


def stopped_report() -> Report:
    """Return what stands on disk of a run that was stopped before it found anything."""
    return failed(FACTS, ExitCode.INTERRUPTED)


def failed_report() -> Report:
    """Return the report of a run that could not judge."""
    return failed(FACTS, ExitCode.NO_BASE, "HEAD and origin/main share no commit")


REPORTS: Final[Mapping[str, Callable[[], Report]]] = {
    "every verdict": full_report,
    "rich": rich_report,
    "hostile": hostile_report,
    "nothing new": nothing_new,
    "interrupted": interrupted_report,
    "stopped": stopped_report,
    "failed": failed_report,
}
"""What every format has to render."""
