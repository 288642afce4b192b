"""A report as long as that of a large project: made up, but with all that real rows carry."""

from dataclasses import replace
from typing import Final

from invertgate.model import (
    Claim,
    Ending,
    Excerpt,
    Killer,
    Outcome,
    Result,
    Row,
    Run,
    Side,
    Span,
    Verdict,
)
from invertgate.report.build import build
from invertgate.report.document import Report, ReportRow
from support.reports import FACTS, PATCH, listing, outcome

CYCLE: Final = (
    *(Verdict.BOUND,) * 12,
    *(Verdict.WEAK,) * 3,
    Verdict.UNREACHED,
    Verdict.UNBOUND,
    Verdict.UNPROVEN,
    Verdict.EXEMPT,
    Verdict.RED,
)
"""Verdicts of rows that follow each other."""

PACKAGES: Final = ("billing", "orders", "shipping", "stock", "web")
MODULES: Final = ("api", "clock", "export", "forms", "models", "prices", "queue", "rules", "views")
CONDITIONS: Final = (
    "amount < self.minimum",
    "order.customer is None",
    "attempt >= max_attempts and not self.closed",
    "response.status_code in RETRIED",
    "not isinstance(value, Decimal)",
)
SCOPES: Final = ("Order.total", "Invoice.__post_init__", "retry", "Stock.reserve", "parse_price")
MESSAGE: Final = "assert Decimal('30.00') == Decimal('20.00')\n +  where Decimal('30.00') = total()"


def large_report(number: int = 5000) -> Report:
    """Return a report with so many rows."""
    outcomes = tuple(_outcome(at) for at in range(number))
    results = [
        _result(at, one) for at, one in enumerate(outcomes) if _verdict(at) is not Verdict.EXEMPT
    ]
    rows = [Row(one, _claims(at)) for at, one in enumerate(outcomes)]
    report = build(PATCH, listing(*outcomes), results, FACTS, rows=rows)
    return replace(report, rows=tuple(_with_source(row) for row in report.rows))


def _verdict(at: int) -> Verdict:
    return CYCLE[at * 7 % len(CYCLE)]


def _outcome(at: int) -> Outcome:
    package, module = PACKAGES[at % len(PACKAGES)], MODULES[at // 5 % len(MODULES)]
    return outcome(
        at,
        path=f"src/shop/{package}/{module}_{at // 500}.py",
        line=8 + 6 * (at % 200),
        predicate=CONDITIONS[at % len(CONDITIONS)],
        side=Side.TRUE if at % 2 else Side.FALSE,
        scope=SCOPES[at % len(SCOPES)],
        exempt="`TYPE_CHECKING` is false at run time" if _verdict(at) is Verdict.EXEMPT else "",
    )


def _test(at: int) -> str:
    package, module = PACKAGES[at % len(PACKAGES)], MODULES[at // 5 % len(MODULES)]
    name = f"Test{package.title()}::test_case_{at % 700}[eur-{at % 3}]"
    return f"tests/{package}/test_{module}.py::{name}"


def _claims(at: int) -> tuple[Claim, ...]:
    return () if _verdict(at) in {Verdict.UNBOUND, Verdict.EXEMPT} else (Claim(_test(at)),)


def _result(at: int, of: Outcome) -> Result:
    verdict, test = _verdict(at), _test(at)
    control = Run(test, inverted=False, ending=Ending.PASSED, reached=True, seconds=0.01, cpu=0.01)
    green = replace(control, inverted=True)
    red = replace(
        green,
        ending=Ending.FAILED,
        phase="call",
        exception="AssertionError",
        message=MESSAGE,
        where=f"{test.partition('::')[0]}:41",
        killer=Killer.ASSERTION,
    )
    match verdict:
        case Verdict.BOUND:
            reason = "killed by an assertion: failed (AssertionError: assert 30 == 20)"
            return Result(*of.key, verdict, reason, test, (control, red, red, control))
        case Verdict.WEAK:
            reason = "the outcome was inverted and the test stayed green"
            return Result(*of.key, verdict, reason, test, (control, green, green), (test,))
        case Verdict.UNBOUND:
            return Result(*of.key, verdict, "no test is named")
        case Verdict.RED:
            failed = replace(red, inverted=False, killer=None)
            return Result(*of.key, verdict, "fails without inversion", test, (failed, failed))
        case _:
            return Result(*of.key, verdict, f"why it is {verdict}", test, (control, control))


def _with_source(row: ReportRow) -> ReportRow:
    decision = f"        if {row.predicate}:"
    before = ("    def total(self, coupon: str | None = None) -> Decimal:", '        """Add up."""')
    after = (
        "            raise OutOfRange(amount)",
        "        self.seen += 1",
        "        return amount",
    )
    return replace(
        row,
        excerpt=Excerpt(row.line - 2, (*before, decision, *after)),
        body_line=row.line + 1 if row.side is Side.TRUE else row.line,
        end_line=row.line + 1 if row.side is Side.TRUE else row.line,
        anchor=Span(row.line, 11, row.line, 11 + len(row.predicate)),
        mutant=_mutant(row, decision, before, after),
    )


def _mutant(row: ReportRow, decision: str, before: tuple[str, ...], after: tuple[str, ...]) -> str:
    constant = "and False" if row.side is Side.TRUE else "or True"
    lines = (
        f"--- a/{row.path}",
        f"+++ b/{row.path}",
        f"@@ -{row.line - 2},6 +{row.line - 2},6 @@",
        *(f" {line}" for line in before),
        f"-{decision}",
        f"+        if ({row.predicate}) {constant}:",
        *(f" {line}" for line in after),
    )
    return "\n".join((*lines, ""))
