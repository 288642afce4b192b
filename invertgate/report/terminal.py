"""Show a report on a terminal or in a log: every word of it text, never markup or control codes."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from rich.console import Console

from invertgate.errors import ExitCode
from invertgate.model import Run, Verdict
from invertgate.report.document import Report, ReportRow
from invertgate.report.lines import Page, console_for
from invertgate.report.store import FILE, FOLDER
from invertgate.report.words import (
    MEANINGS,
    NEXT_STEPS,
    by_verdict,
    conservation,
    counted,
    ending_in_words,
    examined_in_words,
    left_out_in_words,
    next_for_group,
    next_steps,
    outcome_in_words,
    place_in_words,
    policy_in_words,
    visible,
)

__all__ = ["console_for", "show_list", "show_report", "show_table"]

SHOWN: Final = (
    Verdict.EXEMPT,
    Verdict.INHERITED,
    Verdict.WAIVED,
    Verdict.QUARANTINED,
    Verdict.EXTERNAL,
    Verdict.UNPROVEN,
    Verdict.LEFTOVER,
    Verdict.UNBOUND,
    Verdict.UNCOLLECTED,
    Verdict.LOCKED_OUT,
    Verdict.RED,
    Verdict.UNREACHED,
    Verdict.WEAK,
)
"""Groups of rows, so that what matters most stands last, where a terminal stops."""

STYLES: Final[Mapping[Verdict, str]] = {
    Verdict.BOUND: "green",
    Verdict.WAIVED: "green",
    Verdict.EXEMPT: "dim",
    Verdict.INHERITED: "dim",
    Verdict.UNPROVEN: "yellow",
    Verdict.QUARANTINED: "yellow",
    Verdict.EXTERNAL: "yellow",
}
"""What is not named here is red."""

WITH_RUNS: Final = frozenset({Verdict.RED, Verdict.UNPROVEN})
"""Verdicts whose runs are shown unasked."""

PATHS_SHOWN: Final = 3
ROWS_SHOWN: Final = 20
CHANGES_SHOWN: Final = 3


def show_report(report: Report, console: Console, *, verbose: bool = False) -> None:
    """Show what was judged: rows that need work, weak tests, the sum, and what to do next.

    Args:
        report: What was found.
        console: Where it goes.
        verbose: List bound rows, every run, and every file that was left out.
    """
    page = Page(console)
    _heading(page, report)
    groups = by_verdict(report.rows)
    _bound(page, groups.get(Verdict.BOUND, []), verbose=verbose)
    for verdict in SHOWN:
        if rows := groups.get(verdict):
            _group(page, verdict, rows, verbose=verbose)
    _weak_tests(page, report)
    _on_base(page, report)
    _survivors(page, report, verbose=verbose)
    _files(page, report, verbose=verbose)
    _ending(page, report)


def show_list(report: Report, console: Console) -> None:
    """Show outcomes only, one a line."""
    page = Page(console)
    _heading(page, report)
    for row in report.rows:
        page.line(_listed(row), "dim" if row.verdict is Verdict.EXEMPT else "", indent=2)
    _files(page, report, verbose=False)
    _ending(page, report)


def show_table(report: Report, console: Console) -> None:
    """Show the rows of the table beside the outcomes that they answer."""
    page = Page(console)
    _heading(page, report)
    for table in report.tables:
        page.line(f"table {visible(table)}")
    for row in report.rows:
        state = "claimed" if row.verdict is None else row.verdict.replace("_", " ")
        page.line(f"{state:<11} {_listed(row)}", _style(row.verdict), indent=2)
        page.name(row.test, indent=14)
    _files(page, report, verbose=False)
    _ending(page, report)


def _heading(page: Page, report: Report) -> None:
    page.line(f"invertgate {report.tool_version}: {examined_in_words(report)}", "bold")
    for line in policy_in_words(report):
        page.line(line, "bold red")


def _style(verdict: Verdict | None) -> str:
    return "" if verdict is None else STYLES.get(verdict, "red")


def _bound(page: Page, rows: Sequence[ReportRow], *, verbose: bool) -> None:
    if not rows or not verbose:
        return
    page.line(f"\nbound ({len(rows)}): {MEANINGS[Verdict.BOUND]}", _style(Verdict.BOUND))
    for row in rows:
        killer = next((run.killer for run in row.runs if run.inverted and run.killer), None)
        by = f" ({killer})" if killer else ""
        page.line(f"{_listed(row)}  {visible(row.test)}{by}", indent=2)
        _runs(page, row.runs)


def _group(page: Page, verdict: Verdict, rows: Sequence[ReportRow], *, verbose: bool) -> None:
    title = verdict.replace("_", " ")
    page.line(f"\n{title} ({len(rows)}): {MEANINGS[verdict]}", f"{_style(verdict)} bold")
    for row in rows:
        page.line(place_in_words(row), indent=2)
        page.prose("what", outcome_in_words(row.kind, row.predicate, row.side))
        page.name(row.test or ("none" if row.line and row.verdict in NEXT_STEPS else ""), "test")
        page.prose("why", row.reason)
        if row.ambiguous:
            page.prose("also", "one of several equals; all of them must be bound")
        page.prose("hint", row.hint)
        for test in row.nearest:
            page.name(test, "nearest")
        page.prose("advice", row.advice[0] if row.advice else "")
        if verbose or verdict in WITH_RUNS:
            _runs(page, row.runs)
    if verdict in NEXT_STEPS:
        page.prose("next", next_for_group(verdict, rows), indent=2)


def _listed(row: ReportRow) -> str:
    return f"{place_in_words(row)}  {outcome_in_words(row.kind, row.predicate, row.side)}" + (
        f"  (exempt: {visible(row.reason)})" if row.verdict is Verdict.EXEMPT else ""
    )


def _runs(page: Page, runs: Iterable[Run]) -> None:
    for run in runs:
        page.prose("run", _run_in_words(run))


def _run_in_words(run: Run) -> str:
    parts = [f"{'inverted' if run.inverted else 'control'} {run.ending}"]
    if run.phase:
        parts.append(f"in {run.phase}")
    if run.exception:
        first = run.message.strip().partition("\n")[0]
        parts.append(f"by {run.exception}{f': {first}' if first else ''}")
    if run.where:
        parts.append(f"at {run.where}")
    if not run.reached:
        parts.append("(outcome not reached)")
    parts.append(f"[{run.seconds:.2f} s{', fresh process' if run.cold else ''}]")
    parts.extend(f"({note})" for note in run.notes)
    return " ".join(parts)


def _weak_tests(page: Page, report: Report) -> None:
    if not report.weak_tests:
        return
    page.line(f"\nweak tests ({len(report.weak_tests)}): green although inverted", "red bold")
    for test, names in report.weak_tests.items():
        shown = ", ".join(names[:PATHS_SHOWN])
        more = f" and {len(names) - PATHS_SHOWN} more" if len(names) > PATHS_SHOWN else ""
        page.name(test, indent=2)
        page.line(f"{counted(len(names), 'row')}: {visible(shown)}{more}", indent=4)


def _on_base(page: Page, report: Report) -> None:
    asked = [row for row in report.rows if row.passes_on_base is not None]
    passing = dict.fromkeys(row.test for row in asked if row.passes_on_base)
    if not asked:
        return
    tests = counted(len({row.test for row in asked}), "claimed test")
    page.line(f"\non the base's source: {len(passing)} of {tests} pass too", "bold")
    for test in passing:
        page.line(visible(test), indent=2)
    if passing:
        page.prose("advice", "they do not show what this patch changes", indent=2)


def _survivors(page: Page, report: Report, *, verbose: bool) -> None:
    """Show which small changes no test notices: a list to choose from, and nothing to work off."""
    rows = [(row, row.deep.survivors) for row in report.rows if row.deep and row.deep.survivors]
    if not rows:
        return
    changes = counted(sum(len(survivors) for _, survivors in rows), "small change")
    within = counted(len(rows), "bound row")
    page.line(
        f"\n{changes} in {within} that no test notices (advice; some may be harmless)", "bold"
    )
    for row, survivors in rows if verbose else rows[:ROWS_SHOWN]:
        page.line(_listed(row), indent=2)
        for each in survivors if verbose else survivors[:CHANGES_SHOWN]:
            page.prose(f"line {each.line}", f"`{each.before}` → `{each.after}`")
        if (more := len(survivors) - CHANGES_SHOWN) > 0 and not verbose:
            page.line(f"and {more} more", indent=4)
    if (more := len(rows) - ROWS_SHOWN) > 0 and not verbose:
        page.line(f"and {counted(more, 'row')} more; see -v", indent=2)


def _files(page: Page, report: Report, *, verbose: bool) -> None:
    if report.not_parsed or report.left_out or report.notes:
        page.line("")
    for broken in report.not_parsed:
        page.line(f"not parsed: {visible(f'{broken.path}:{broken.line}: {broken.message}')}", "red")
    if verbose:
        for left in report.left_out:
            page.line(f"left out {visible(f'{left.path}: {left.reason}')}", "dim")
    else:
        for text in left_out_in_words(report):
            page.line(f"left out {text}", "dim")
    for note in report.notes:
        page.prose("note", note, indent=0)


def _ending(page: Page, report: Report) -> None:
    page.line(f"\n{conservation(report)}", "bold")
    for path in report.written:
        page.line(f"wrote {visible(path)}")
    if report.judged:
        page.line(f"report: {FOLDER}/{FILE}")
    page.prose("error", report.error, indent=0)
    if not report.complete:
        page.line("the run did not get to its end; this says nothing about the patch", "red")
    style = "green" if report.exit_code == ExitCode.OK else "red"
    page.line(ending_in_words(report.exit_code), style)
    for step in next_steps(report):
        page.prose("next", step, indent=0)
