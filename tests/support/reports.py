"""Values of which reports are made, and one fixed report that shows everything."""

from invertgate.model import (
    Claim,
    Ending,
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
)
from invertgate.report.build import build
from invertgate.report.document import Facts, Gone, Report

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
