"""Plain words for what a report says; strings only, and nothing in them can drive a terminal."""

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from invertgate.errors import ExitCode
from invertgate.model import Kind, PolicySource, Side, Verdict
from invertgate.report.document import Report, ReportRow

LONGEST_PREDICATE: Final = 160
SHORT_COMMIT: Final = 12

DECISIONS: Final[Mapping[Kind, str]] = {
    Kind.IF: "`if {}`",
    Kind.EXCEPT: "`{}`",
    Kind.TRY_ELSE: "`{}`",
    Kind.MATCH: "`{}`",
    Kind.FOR_ELSE: "`{}`",
    Kind.WHILE_ELSE: "`{}`",
    Kind.WHILE: "`while {}`",
    Kind.IFEXP: "`... if {} else ...`",
    Kind.COMPREHENSION: "the filter `if {}`",
}
"""How a decision reads in code, around its predicate."""

SIDES: Final[Mapping[Side, str]] = {
    Side.TRUE: "the true side of {}",
    Side.FALSE: "the false side of {}",
    Side.HANDLER: "the handler {}",
    Side.CASE: "the case {}",
    Side.ELSE: "the else of {}",
}

MEANINGS: Final[Mapping[Verdict, str]] = {
    Verdict.BOUND: "the test fails because of the inversion, and only then",
    Verdict.WEAK: "the test stays green although the outcome is inverted",
    Verdict.UNREACHED: "the claimed test never takes the outcome",
    Verdict.UNBOUND: "no test is named",
    Verdict.UNCOLLECTED: "the claim is no test that pytest collects",
    Verdict.RED: "the claimed test does not pass although nothing is inverted",
    Verdict.UNPROVEN: "it could not be decided",
    Verdict.QUARANTINED: "the claimed test is on the list of flaky tests and earns nothing",
    Verdict.EXTERNAL: "the claimed test has an outside cost and is not run on inverted code",
    Verdict.WAIVED: "a live waiver lets it pass",
    Verdict.LEFTOVER: "the table has a row, the patch has no such outcome",
    Verdict.INHERITED: "rows of merged patches, unchanged from the base's table",
    Verdict.LOCKED_OUT: "the claimed test changed since it was locked",
    Verdict.EXEMPT: "no test has to be named",
}

NEXT_STEPS: Final[Mapping[Verdict, str]] = {
    Verdict.WEAK: "assert something that differs when the outcome goes the other way, or name a "
    "test that does",
    Verdict.UNREACHED: "name a test that takes the outcome, or write one; "
    "`invertgate bind` searches for it once the row's test is null",
    Verdict.UNBOUND: "run `invertgate bind`, or name a test in the table",
    Verdict.UNCOLLECTED: "correct the nodeid: `pytest --collect-only -q` lists those that exist",
    Verdict.RED: "make the test pass alone: `python -m pytest NODEID`",
    Verdict.UNPROVEN: "remove what the reason names, or claim a test without it",
    Verdict.QUARANTINED: "claim another test, or mend this one and take it off the list",
    Verdict.EXTERNAL: "claim a test without outside cost, or let a person decide",
    Verdict.LEFTOVER: "run `invertgate table --write`, which removes such rows",
    Verdict.INHERITED: "nothing has to be done; `invertgate table --write` removes them",
    Verdict.LOCKED_OUT: "let a reviewer look at the change of the test and lock it again",
}

ENDINGS: Final[Mapping[int, str]] = {
    ExitCode.OK: "passed",
    ExitCode.FINDINGS: "findings",
    ExitCode.USAGE: "usage, configuration or table",
    ExitCode.UNPROVEN: "unproven rows, nothing worse",
    ExitCode.RED: "a claimed test is red without an inversion",
    ExitCode.NO_BASE: "no base to compare with",
    ExitCode.NOT_PARSED: "a changed file does not parse",
    ExitCode.LANE_REJECTED: "rejected by the lane",
    ExitCode.HOLD: "on hold, nothing worse",
    ExitCode.BUG: "a bug in invertgate",
    ExitCode.INTERRUPTED: "interrupted",
}


_COMMAND: Final = re.compile(r"(?:^|(?<=[\r\n]))[^\S\r\n]*::|##\[")
_MENDED_BY_HAND: Final = (Verdict.WEAK, Verdict.UNREACHED, Verdict.UNCOLLECTED, Verdict.RED)


def visible(text: str) -> str:
    """Return text on one line in which whatever could drive a terminal is spelled out."""
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii")
        for letter in text
    )


def inert(text: str) -> str:
    """Return text in which GitHub's runner finds no command.

    It takes ``::NAME ...::`` at the start of a line, white space before it or not, and
    ``##[NAME]`` anywhere in one; lines end at CR, too.
    """
    return _COMMAND.sub(lambda found: f"{found[0][:-1]} {found[0][-1]}", text)


def outcome_in_words(kind: Kind | None, predicate: str, side: Side | None) -> str:
    """Say which way of which decision (``the false side of `if x is None` ``)."""
    predicate = visible(predicate)
    if len(predicate) > LONGEST_PREDICATE:
        predicate = f"{predicate[: LONGEST_PREDICATE - 4]} ..."
    if kind is None or side is None:
        return f"`{predicate}`" if predicate else "an outcome that is gone"
    return SIDES[side].format(DECISIONS[kind].format(predicate))


def place_in_words(row: ReportRow) -> str:
    """Say where a row is, and the id that means it."""
    place = f"{row.path}:{row.line}" if row.line else row.path
    scope = f"  in {row.scope}" if row.scope else ""
    return visible(f"{place}  {row.id}{scope}")


def against(report: Report) -> str:
    """Say what head was compared with."""
    if not report.base:
        if report.base_name.startswith("since "):  # a sweep: its policies are no patch's
            return visible(report.base_name)
        return "against nothing: whole files, every outcome taken as new"
    base = f"{report.base[:SHORT_COMMIT]} ({report.base_name})" if report.base_name else report.base
    return visible(f"against {base}")


def examined_in_words(report: Report) -> str:
    """Say what was looked at: the proof that stands behind zero rows."""
    looked_at = (
        f"examined {counted(report.files_examined, 'file')}, "
        f"{counted(report.outcomes_examined, 'outcome')}"
    )
    if report.shard is not None:
        part = f"shard {report.shard.index}/{report.shard.count}"
        share = f"{report.found} of {counted(report.shard.found_in_all, 'new outcome')}"
        return f"{part}: {looked_at}, {share} {against(report)}"
    if not report.found:
        return f"0 new outcomes; {looked_at} {against(report)}"
    return f"{looked_at}, {report.found} new {against(report)}"


def policy_in_words(report: Report) -> list[str]:
    """Say loudly that the patch's own policies counted; nothing where the merge base's did."""
    if report.policy is PolicySource.BASE or not report.base:
        return []
    return [
        (
            "!! POLICY FROM HEAD (--policy head): options, waivers, locks and the list of flaky "
            "tests are those of this patch; a person must have reviewed them"
        )
    ]


def conservation(report: Report) -> str:
    """Return the sum that must hold (``found 12 = 1 exempt + 9 bound + 2 weak``)."""
    parts = [
        f"{report.counts.get(verdict, 0)} {verdict.replace('_', ' ')}"
        for verdict in (Verdict.EXEMPT, *(v for v in Verdict if v is not Verdict.EXEMPT))
        if verdict not in {Verdict.LEFTOVER, Verdict.INHERITED} and report.counts.get(verdict)
    ]
    if report.undecided:
        parts.append(f"{report.undecided} not judged")
    beside = "".join(
        f"; {report.counts[verdict]} {verdict}"
        for verdict in (Verdict.LEFTOVER, Verdict.INHERITED)
        if report.counts.get(verdict)
    )
    return f"found {report.found} = {' + '.join(parts) or '0'}{beside}"


def left_out_in_words(report: Report) -> list[str]:
    """Count what makes no rows, by reason."""
    reasons = Counter(left.reason for left in report.left_out)
    return [f"{counted(number, 'file')}: {visible(reason)}" for reason, number in reasons.items()]


def ending_in_words(exit_code: int) -> str:
    """Say what an exit code means."""
    return f"exit {exit_code}: {ENDINGS.get(exit_code, 'unknown')}"


def next_steps(report: Report) -> list[str]:
    """Say what to do now, most useful first."""
    counts = report.counts
    steps: list[str] = []
    if report.not_parsed:
        steps.append("mend or exclude the files that do not parse")
    if counts.get(Verdict.UNBOUND):
        steps.append("`invertgate bind` searches a test for each row without one")
    if counts.get(Verdict.LEFTOVER) or counts.get(Verdict.INHERITED):
        steps.append("`invertgate table --write` brings the table up to date")
    if any(counts.get(verdict) for verdict in _MENDED_BY_HAND):
        steps.append("mend the listed rows; `invertgate run --id ID` judges one of them again")
    if counts.get(Verdict.LOCKED_OUT):
        steps.append("let a reviewer look at the changed tests, and lock them again")
    if counts.get(Verdict.UNPROVEN):
        steps.append("remove what the reasons above name, or let a person decide")
    if counts.get(Verdict.QUARANTINED) or counts.get(Verdict.EXTERNAL):
        steps.append("let a person decide about the rows on hold, or claim other tests for them")
    if not report.complete:
        steps.append("run it again")
    if not report.judged and not steps and report.undecided:
        steps.append("`invertgate run --changed` judges the rows")
    return steps


def next_for_group(verdict: Verdict, rows: Sequence[ReportRow]) -> str:
    """Say what to do about rows of one verdict, with the test's name where there is just one."""
    tests = {row.test for row in rows}
    test = shlex.quote(tests.pop()) if len(tests) == 1 else "NODEID"
    return NEXT_STEPS[verdict].replace("NODEID", test)


def nothing_new(report: Report) -> str:
    """Return what is shown of a patch without rows; without rich, so that it is quick."""
    lines = [f"invertgate {report.tool_version}: {examined_in_words(report)}"]
    lines += policy_in_words(report)
    lines += [f"left out {text}" for text in left_out_in_words(report)]
    lines += [f"note: {visible(note)}" for note in report.notes]
    return "\n".join([*lines, conservation(report)])


def counted(number: int, noun: str) -> str:
    """Return a number with its noun (``1 file``, ``2 files``)."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def by_verdict(rows: Iterable[ReportRow]) -> dict[Verdict | None, list[ReportRow]]:
    """Group rows, each group in the order of the report."""
    groups: dict[Verdict | None, list[ReportRow]] = {}
    for row in rows:
        groups.setdefault(row.verdict, []).append(row)
    return groups
