"""Shows on a terminal what a search for tests found."""

from typing import Final

from rich.console import Console

from invertgate.model import Outcome
from invertgate.report.document import BindReport, Unkilled
from invertgate.report.lines import Page
from invertgate.report.words import counted, outcome_in_words, visible

_DIFF_STYLES: Final = {"+": "green", "-": "red"}


def show_bind(report: BindReport, console: Console) -> None:
    """Show which rows found a test, and which none."""
    page = Page(console)
    _bound(page, report)
    if report.unkilled:
        page.line(f"no test notices ({len(report.unkilled)})", "red")
    for entry in report.unkilled:
        _unkilled(page, entry)
    for broken in report.not_parsed:
        page.line(f"not parsed: {visible(f'{broken.path}:{broken.line}: {broken.message}')}", "red")
    for note in report.notes:
        page.prose("note", note, indent=0)
    page.line(
        f"{len(report.bound)} bound now, {report.claimed} claimed before, "
        f"{len(report.unkilled)} that no test notices",
        "bold",
    )
    for path in report.written:
        page.line(f"wrote {visible(path)}")
    _unwritten(page, report)
    _markers(page, report)
    page.line(f"next: {_next(report)}")


def _bound(page: Page, report: BindReport) -> None:
    if report.bound:
        page.line(f"bound now ({len(report.bound)})", "green")
    replaced = {each.outcome.key: each for each in report.replaced}
    for outcome, test in report.bound:
        page.line(_outcome(outcome), indent=2)
        page.name(test)
        if (instead := replaced.get(outcome.key)) is not None:
            page.name(instead.before, "instead of")
            page.prose("why", instead.reason)


def _unwritten(page: Page, report: BindReport) -> None:
    for path, diff in report.unwritten.items():
        page.line(f"would write {visible(path)}:")
        for line in diff.splitlines():
            page.line(visible(line), _DIFF_STYLES.get(line[:1], ""), indent=2)


def _markers(page: Page, report: BindReport) -> None:
    """Show lines to be added, each as it would stand in its file."""
    if report.markers:
        page.line("add these lines in this order, each above the line of its number")
    path = ""
    for each in report.markers:
        if each.path != path:
            path = each.path
            page.line(visible(path), indent=2)
        page.name(f"{each.line:>5}: {each.text}")


def _next(report: BindReport) -> str:
    if report.unkilled:
        return "write a test for each row above, name it in the table, and run again"
    if report.not_parsed:
        return "mend or exclude the files that do not parse"
    if report.unwritten:
        return "run it again without --dry-run"
    if report.markers:
        return "add the lines, then `invertgate run --changed` judges them"
    return "review the table, then `invertgate run --changed` judges it"


def _unkilled(page: Page, entry: Unkilled) -> None:
    page.line(_outcome(entry.outcome), indent=2)
    tried = f"{counted(entry.tried, 'test')} tried"
    page.prose("why", f"{entry.reason}; {tried}" if entry.reason else tried)
    for test in entry.nearest:
        page.name(test, "closest")
        page.prose("but", entry.why_not.get(test, ""), indent=6)


def _outcome(outcome: Outcome) -> str:
    words = outcome_in_words(outcome.kind, outcome.predicate, outcome.side)
    return f"{visible(f'{outcome.path}:{outcome.line}')}  {outcome.id}  {words}"
