"""Everything about one row, for the person who has to do something about it."""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from rich.console import Console

from invertgate.model import Ending, Excerpt, Run, Verdict
from invertgate.report.document import ReportRow
from invertgate.report.lines import Page
from invertgate.report.terminal import STYLES
from invertgate.report.words import MEANINGS, NEXT_STEPS, outcome_in_words, place_in_words, visible


class Noticed(StrEnum):
    """What a test did when the outcome was inverted."""

    KILLS = "kills"
    GREEN = "stays green"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class OtherTest:
    """A test that takes the outcome and does not claim it."""

    test: str
    noticed: Noticed
    reason: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """All that was found out about one row."""

    row: ReportRow
    """With its source, its mutant, its runs and advice."""
    failing: str = ""
    """The line at which the first inverted run failed, with its text."""
    others: tuple[OtherTest, ...] = ()
    takers: int | None = None
    """How many tests were seen to take the outcome, the claimed ones among them; null if nobody
    looked."""
    repeat: tuple[str, ...] = ()
    """Commands that do it again."""
    notes: tuple[str, ...] = ()


def show(told: Explanation, console: Console) -> None:
    """Show all that was found out about a row.

    Args:
        told: What there is to say.
        console: Where it goes.
    """
    page = Page(console)
    row = told.row
    page.line(place_in_words(row), "bold")
    page.line(outcome_in_words(row.kind, row.predicate, row.side))
    if row.ambiguous:
        page.line("one of several equals of which it cannot be told which is new")
    if row.hint:
        page.line(f"hint: {visible(row.hint)}")
    _source(page, row)
    _mutant(page, row)
    _judgement(page, told)
    _others(page, told)
    _advice(page, row)
    for note in told.notes:
        page.prose("note", note, indent=0)
    page.line("")
    for command in told.repeat:
        page.line(f"again: {visible(command)}")


def _source(page: Page, row: ReportRow) -> None:
    if row.excerpt is None:
        return
    page.line("")
    width = len(str(row.excerpt.first + len(row.excerpt.lines)))
    for number, text in _numbered(row.excerpt):
        is_inside = row.line <= number <= row.end_line
        mark = ">" if number == row.line else "|" if is_inside else " "
        style = "bold" if number == row.line else ""
        page.line(f"{mark} {number:>{width}}  {_code(text)}".rstrip(), style)


def _numbered(excerpt: Excerpt) -> Iterator[tuple[int, str]]:
    return enumerate(excerpt.lines, excerpt.first)


def _mutant(page: Page, row: ReportRow) -> None:
    if not row.mutant:
        return
    page.line("\nthe inverted outcome, as `git apply` takes it:")
    for line in row.mutant.splitlines():
        style = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1], "")
        page.line(_code(line), style, indent=2)


def _code(text: str) -> str:
    """Show a line of code with its indentation."""
    return "\t".join(visible(part) for part in text.split("\t")).expandtabs(4)


def _judgement(page: Page, told: Explanation) -> None:
    row = told.row
    if row.verdict is None:
        return
    page.line(
        f"\n{row.verdict.replace('_', ' ')}: {MEANINGS[row.verdict]}",
        f"{STYLES.get(row.verdict, 'red')} bold",
    )
    if row.beneath is not None:
        page.prose("beneath", f"{row.beneath}: {MEANINGS[row.beneath]}", indent=2)
    page.prose("why", row.reason, indent=2)
    page.prose("test", row.test or _without_test(row.verdict), indent=2)
    others = [claim.test for claim in row.claims if claim.test != row.test]
    page.prose("also claimed by", ", ".join(others), indent=2)
    page.prose("nearest", ", ".join(row.nearest), indent=2)
    for place, run in enumerate(row.runs, 1):
        page.prose(f"run {place}", run_in_words(run), indent=2)
    page.prose("fails at", told.failing, indent=2)
    if row.passes_on_base is not None:
        word = "passes too" if row.passes_on_base else "does not pass"
        page.prose("on the base's source", f"the test {word}", indent=2)


def _without_test(verdict: Verdict) -> str:
    return "" if verdict is Verdict.EXEMPT else "none"


def run_in_words(run: Run) -> str:
    """Say what one run told."""
    name = "inverted" if run.inverted else "control"
    if run.ending is Ending.PASSED:
        said = "stayed green" if run.inverted else "passed"
    else:
        first = run.message.strip().partition("\n")[0]
        what = ": ".join(part for part in (run.exception, first) if part)
        said = f"{run.ending}" + (f" in {run.phase}" if run.phase else "")
        said += f" at {run.where}" if run.where else ""
        said += f": {what}" if what else ""
    parts = [f"{name} {said}"]
    if not run.reached:
        parts.append("(outcome not taken)")
    parts.append(f"[{run.seconds:.2f} s{', fresh process' if run.cold else ''}]")
    if not run.counted:
        parts.append("(set aside)")
    parts.extend(f"({note})" for note in run.notes)
    return " ".join(parts)


def _others(page: Page, told: Explanation) -> None:
    if told.takers is None:
        return
    page.line("")
    if not told.others:
        page.line(f"no other test was seen to take it ({told.takers} in all)")
        return
    page.line(f"other tests that take it ({len(told.others)} of those seen were tried):")
    for other in told.others:
        style = "green" if other.noticed is Noticed.KILLS else ""
        page.line(f"{other.noticed:<12} {visible(other.test)}", style, indent=2)
        if other.noticed is not Noticed.GREEN:
            page.prose("why", other.reason, indent=15)


def _advice(page: Page, row: ReportRow) -> None:
    step = "" if row.verdict is None else NEXT_STEPS.get(row.verdict, "")
    sentences = row.advice or ((step,) if step else ())
    test = shlex.quote(row.test) if row.test else "NODEID"
    for place, sentence in enumerate(sentences):
        if place == 0:
            page.line("")
        page.prose("advice" if place == 0 else "also", sentence.replace("NODEID", test), indent=0)
