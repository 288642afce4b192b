"""What the page shows of each row: where it hangs, its source with the side marked, its mutant."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from invertgate.model import Span, Verdict
from invertgate.report.document import Report, ReportRow
from invertgate.report.html_text import shown_block
from invertgate.report.words import visible

WORST_FIRST: Final[tuple[Verdict | None, ...]] = (
    Verdict.RED,
    Verdict.WEAK,
    Verdict.UNREACHED,
    Verdict.UNBOUND,
    Verdict.UNCOLLECTED,
    Verdict.LOCKED_OUT,
    Verdict.LEFTOVER,
    Verdict.UNPROVEN,
    None,
    Verdict.QUARANTINED,
    Verdict.EXTERNAL,
    Verdict.WAIVED,
    Verdict.BOUND,
    Verdict.EXEMPT,
    Verdict.INHERITED,
)
"""The order in which a reader wants them; None is a row that was not judged."""

TONES: Final[Mapping[Verdict | None, str]] = {
    Verdict.BOUND: "good",
    Verdict.WAIVED: "good",
    Verdict.UNPROVEN: "open",
    Verdict.QUARANTINED: "open",
    Verdict.EXTERNAL: "open",
    Verdict.EXEMPT: "quiet",
    Verdict.INHERITED: "quiet",
    None: "quiet",
}
"""Colours; what is not named here is bad."""

_RANKS: Final = {verdict: rank for rank, verdict in enumerate(WORST_FIRST)}
_PLAIN_IN_ANCHORS: Final = re.compile(rb"[A-Za-z0-9._/-]")
_DIFF_TAGS: Final = {"+": "ins", "-": "del"}


@dataclass(frozen=True, slots=True)
class PageRow:
    """A row of the report, and what the page needs beside it."""

    row: ReportRow
    place: int
    """Its position in the report: by path, line and side."""
    anchor: str
    """The id of its element, by which links lead to it."""
    rank: int
    """The smaller, the sooner a reader wants it."""
    tone: str
    label: str
    """The verdict as words."""
    source: Markup
    """Its source with line numbers, the side that was inverted marked; or empty."""
    mutant: Markup
    """The inverted outcome as a diff with signs, or empty."""


def page_rows(report: Report) -> list[PageRow]:
    """Return the rows for the page, worst first, each with an anchor of its own."""
    taken: set[str] = set()
    rows = [_page_row(place, row, taken) for place, row in enumerate(report.rows)]
    return sorted(rows, key=lambda one: (one.rank, one.place))


def anchor_of(path: str, row_id: str) -> str:
    """Return the id under which a row is found, the same in each report (``row-lib/a.py-0123``)."""
    raw = path.encode("utf-8", "surrogatepass")
    letters = (raw[at : at + 1] for at in range(len(raw)))
    name = "".join(
        letter.decode("ascii") if _PLAIN_IN_ANCHORS.match(letter) else f"~{letter.hex()}"
        for letter in letters
    )
    return f"row-{name}-{visible(row_id)}"


def label_of(verdict: Verdict | None) -> str:
    """Return a verdict as words."""
    return "not judged" if verdict is None else verdict.replace("_", " ")


def tone_of(verdict: Verdict | None) -> str:
    """Return the name of a verdict's colour."""
    return TONES.get(verdict, "bad")


def _page_row(place: int, row: ReportRow, taken: set[str]) -> PageRow:
    return PageRow(
        row=row,
        place=place,
        anchor=_free(anchor_of(row.path, row.id), taken),
        rank=_RANKS[row.verdict],
        tone=tone_of(row.verdict),
        label=label_of(row.verdict),
        source=Markup("".join(_source_lines(row))),  # noqa: S704 - what is not ours is escaped
        mutant=Markup("".join(_diff_lines(row.mutant))),  # noqa: S704 - the same
    )


def _free(anchor: str, taken: set[str]) -> str:
    """Return an anchor that is not taken: two tables may each have a row of one path and id."""
    free, number = anchor, 1
    while free in taken:
        number += 1
        free = f"{anchor}-{number}"
    taken.add(free)
    return free


def _source_lines(row: ReportRow) -> Iterator[str]:
    """Yield lines with their numbers; the decision and the side's own lines are marked."""
    if row.excerpt is None:
        return
    body = range(row.body_line or row.line, row.end_line + 1)
    for number, text in enumerate(row.excerpt.lines, start=row.excerpt.first):
        code = _with_test(text, number, row.anchor)
        if number == row.line:
            yield f'<mark class="at" data-n="{number} ▶">{code}\n</mark>'
        elif number in body:
            yield f'<mark data-n="{number} ┃">{code}\n</mark>'
        else:
            yield f'<span data-n="{number}  ">{code}\n</span>'


def _with_test(text: str, number: int, anchor: Span | None) -> str:
    """Return a line of source; what decides is underlined where it stands in this line alone."""
    if anchor is None or (anchor.line, anchor.end_line) != (number, number):
        return shown_block(text)
    raw = text.encode("utf-8", "surrogatepass")
    start, end = anchor.column, anchor.end_column
    try:
        parts = [
            shown_block(part.decode("utf-8", "surrogatepass"))
            for part in (raw[:start], raw[start:end], raw[end:])
        ]
    except UnicodeDecodeError:  # the excerpt is not what the columns were counted in
        return shown_block(text)
    return f"{parts[0]}<u>{parts[1]}</u>{parts[2]}"


def _diff_lines(diff: str) -> Iterator[str]:
    """Yield the lines of a unified diff, each kind in its own element, signs and all."""
    in_hunk = False
    for line in diff.rstrip("\n").split("\n") if diff else ():
        in_hunk = in_hunk or line.startswith("@@")
        text = shown_block(line)
        if line.startswith("@@") or not in_hunk:
            yield f'<span class="head">{text}\n</span>'
        elif tag := _DIFF_TAGS.get(line[:1]):
            yield f"<{tag}>{text}\n</{tag}>"
        else:
            yield f"<span>{text}\n</span>"


@dataclass(frozen=True, slots=True)
class WeakTest:
    """A test that stayed green under inversion, and what shows it."""

    test: str
    rows: tuple[tuple[str, str], ...]
    """Each row's name and anchor; the anchor is empty if the page does not have the row."""


def weak_tests(report: Report, rows: Iterable[PageRow]) -> list[WeakTest]:
    """Return the weak tests, that which misses most first."""
    anchors = {one.row.name: one.anchor for one in rows}
    found = [
        WeakTest(test, tuple((name, anchors.get(name, "")) for name in names))
        for test, names in report.weak_tests.items()
    ]
    return sorted(found, key=lambda one: (-len(one.rows), one.test))
