"""A report in Markdown, as the summary of a step or a comment shows it."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Final

from invertgate.errors import ExitCode
from invertgate.model import Verdict
from invertgate.report.document import Report, ReportRow
from invertgate.report.findings import findings, level_of, reason, trouble
from invertgate.report.words import (
    DECISIONS,
    LONGEST_PREDICATE,
    MEANINGS,
    SIDES,
    conservation,
    counted,
    ending_in_words,
    examined_in_words,
    next_steps,
    visible,
)

LIMIT: Final = 1024 * 1024
"""Bytes that GitHub shows of a step's summary; a larger one is dropped as a whole."""

LONGEST_CELL: Final = 300
_RESERVE: Final = 512
"""Bytes for the line that counts what was left out."""

_MARKUP: Final = re.compile(r"[\\`*_{}\[\]<>#|~&!$@]|(?<=:)//|(?<=www)\.")
_PASSES: Final = (Verdict.WAIVED, Verdict.EXEMPT, Verdict.INHERITED)


def render(report: Report, limit: int = LIMIT) -> str:
    """Return a report in GitHub's Markdown: what it comes to, then the rows, worst first.

    Whatever tests and sources said stands in spans of code or is escaped: it is no markup, no
    mention and no link.

    Args:
        report: What to show.
        limit: Bytes that the text may have; the rows that do not fit are counted.
    """
    rows = report.rows
    parts = (
        _head(report),
        _verdicts(report),
        _next(report),
        _table("Findings", findings(report)),
        _table("Not judged", [row for row in rows if row.verdict is None]),
        _weak(report),
        _notes(report),
        _table("Bound", [row for row in rows if row.verdict is Verdict.BOUND]),
        _table("Passed without a test", [row for row in rows if row.verdict in _PASSES]),
    )
    return _fitted(chain.from_iterable(parts), limit)


def _head(report: Report) -> Iterator[str]:
    passed = report.exit_code == ExitCode.OK and report.complete and not report.error
    shut = "not passed"
    if not report.judged and passed:
        shut = "listed, not judged"
    yield f"## invertgate: {'passed' if passed and report.judged else shut}\n\n"
    yield f"{_prose(ending_in_words(report.exit_code))}. {_prose(conservation(report))}.\n\n"
    yield f"{_prose(examined_in_words(report))}.\n\n"
    if problem := trouble(report):
        yield f"> [!CAUTION]\n> **No judgement**: {_prose(problem)}\n\n"
    for unread in report.not_parsed:
        place = _code(f"{unread.path}:{unread.line}")
        yield f"- {place} does not parse: {_prose(unread.message)}\n"
    if report.not_parsed:
        yield "\n"


def _verdicts(report: Report) -> Iterator[str]:
    counts = [(verdict, report.counts.get(verdict, 0)) for verdict in Verdict]
    lines = [
        f"| {verdict.replace('_', ' ')} | {number} | {_prose(MEANINGS[verdict])} |\n"
        for verdict, number in counts
        if number
    ]
    if lines:
        yield "| verdict | rows | meaning |\n| --- | ---: | --- |\n"
        yield from lines
        yield "\n"


def _next(report: Report) -> Iterator[str]:
    steps = next_steps(report)
    if steps:
        yield "### What to do next\n\n"
        yield from (f"- {step}\n" for step in steps)
        yield "\n"


def _table(title: str, rows: Sequence[ReportRow]) -> Iterator[str]:
    if not rows:
        return
    yield f"### {title} ({len(rows)})\n\n"
    yield "| verdict | where | outcome | why | test |\n| --- | --- | --- | --- | --- |\n"
    yield from map(_line, rows)
    yield "\n"


def _line(row: ReportRow) -> str:
    verdict = row.verdict.replace("_", " ") if row.verdict else "not judged"
    marked = f"**{verdict}**" if level_of(row.verdict) else verdict
    place = f"{row.path}:{row.line}" if row.line else row.path
    scope = f" in {_code(row.scope)}" if row.scope else ""
    cells = (
        marked,
        f"{_code(place)} {_code(row.id)}{scope}",
        _outcome(row),
        _prose(reason(row)),
        _code(row.test),
    )
    return f"| {' | '.join(cells)} |\n"


def _outcome(row: ReportRow) -> str:
    predicate = row.predicate
    if row.kind is None or row.side is None:
        return _code(predicate) or "gone"
    if len(predicate) > LONGEST_PREDICATE:
        predicate = f"{predicate[: LONGEST_PREDICATE - 4]} ..."
    decision = DECISIONS[row.kind].replace("`", "").format(predicate)
    return SIDES[row.side].format(_code(decision))


def _weak(report: Report) -> Iterator[str]:
    ranked = sorted(report.weak_tests.items(), key=lambda pair: (-len(pair[1]), pair[0]))
    if ranked:
        yield f"### Weak tests ({len(ranked)})\n\nGreen although what they claim was inverted:\n\n"
        yield from (f"- {_code(test)}: {counted(len(rows), 'row')}\n" for test, rows in ranked)
        yield "\n"


def _notes(report: Report) -> Iterator[str]:
    if report.notes:
        yield "### Notes\n\n"
        yield from (f"- Note: {_prose(note)}\n" for note in report.notes)
        yield "\n"


def _code(text: str) -> str:
    """Return text as a span of code, also in a table."""
    text = _cut(visible(text))
    if not text:
        return ""
    if "|" in text:  # would end the cell: how a bar is escaped in a span depends on the parser
        return f"<code>{''.join(map(_reference, text))}</code>"
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * (longest + 1)
    space = " " if text[0] in "` " or text[-1] in "` " else ""
    return f"{fence}{space}{text}{space}{fence}"


def _reference(letter: str) -> str:
    is_plain = letter.isalnum() or letter == " "
    return letter if is_plain else f"&#{ord(letter)};"


def _prose(text: str) -> str:
    """Return text in which nothing is markup."""
    return _MARKUP.sub(_harmless, _cut(visible(text)))


def _harmless(found: re.Match[str]) -> str:
    mark = found[0]
    if mark in "@#":
        return f"{mark}\u200b" if mark == "@" else f"\\{mark}\u200b"
    return f"\\{mark}"


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_CELL else f"{text[: LONGEST_CELL - 4]} ..."


def _fitted(parts: Iterable[str], limit: int) -> str:
    """Join as many parts as fit, and count the others."""
    kept: list[str] = []
    left = 0
    room = limit - _RESERVE
    for part in parts:
        size = len(part.encode("utf-8", "replace"))
        if left or size > room:
            left += 1
            continue
        room -= size
        kept.append(part)
    if left:
        kept.append(
            f"\n{counted(left, 'more line')} did not fit; the whole report is in the JSON.\n"
        )
    return "".join(kept)
