"""One self-contained HTML page of a report: no request but its own, readable without script."""

from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from typing import Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from invertgate.errors import ExitCode
from invertgate.model import Verdict
from invertgate.report import words
from invertgate.report.document import Report
from invertgate.report.html_rows import (
    WORST_FIRST,
    label_of,
    page_rows,
    tone_of,
    weak_tests,
)
from invertgate.report.html_text import breakable, coded, outcome_shown, shown, shown_block
from invertgate.report.html_trend import trend_nights

FOLDER: Final = Path(__file__).with_name("page")
ON_HOLD: Final = frozenset({ExitCode.UNPROVEN, ExitCode.HOLD})
LONG: Final = 300
"""From so many rows on, a browser with scripts builds a row's details only when they are opened."""
WEAK_SHOWN: Final = 10
"""Weak tests that are shown at once; the others are a click away."""


@dataclass(frozen=True, slots=True)
class Count:
    """How many rows have a verdict."""

    verdict: str
    label: str
    tone: str
    number: int
    meaning: str
    start: float
    """Where its part of the bar begins, in percent of all rows."""
    share: float
    """How long its part of the bar is, in percent of all rows."""


def render(report: Report) -> str:
    """Return a report as one HTML page.

    Args:
        report: What was found.

    Returns:
        The page, which can be written in UTF-8.
    """
    style, script = (_asset(name) for name in ("report.css", "report.js"))
    rows = page_rows(report)
    return (
        _environment()
        .get_template("report.html")
        .render(
            report=report,
            policy=_policy(style, script),
            style=style,
            script=script,
            headline=headline(report),
            tone=_tone(report),
            counts=_counts(report),
            rows=rows,
            weak=weak_tests(report, rows),
            lazy=len(rows) >= LONG,
            weak_shown=WEAK_SHOWN,
            left_out=_left_out(report),
            anchors={one.row.name: one.anchor for one in rows},
            nights=trend_nights(report.trend) if report.trend else [],
            weak_for={one.test: one.nights for one in report.trend.weak_tests}
            if report.trend
            else {},
        )
    )


def headline(report: Report) -> str:
    """Say in a few words how it stands."""
    part = f"Shard {report.shard.index} of {report.shard.count}: " if report.shard else ""
    return part + _standing(report)


def _standing(report: Report) -> str:
    if not report.complete:
        return "The run did not get to its end"
    if report.error:
        return "The run could not judge the patch"
    if not report.found:
        return "No new outcomes"
    found = words.counted(report.found, "new outcome")
    if not report.judged:
        return f"{found}, not judged"
    bound = report.counts.get(Verdict.BOUND, 0)
    if bound == report.found:
        return f"All {found} bound" if bound > 1 else f"{found}, bound"
    return f"{bound} of {found} bound"


def _tone(report: Report) -> str:
    if not report.complete or report.error:
        return "bad"
    if report.exit_code == ExitCode.OK:
        return "good" if report.judged else "quiet"
    return "open" if report.exit_code in ON_HOLD else "bad"


def _counts(report: Report) -> list[Count]:
    """Count the rows of each verdict, worst first, those without rows too."""
    numbers: dict[Verdict | None, int] = {None: report.undecided}
    numbers |= {verdict: report.counts.get(verdict, 0) for verdict in Verdict}
    return list(_counted(numbers))


def _counted(numbers: dict[Verdict | None, int]) -> Iterator[Count]:
    total, start = sum(numbers.values()) or 1, 0.0
    for verdict in WORST_FIRST:
        number = numbers[verdict]
        share = 100 * number / total
        yield Count(
            verdict=verdict or "none",
            label=label_of(verdict),
            tone=tone_of(verdict),
            number=number,
            meaning=words.MEANINGS[verdict] if verdict else "nothing was judged",
            start=round(start, 3),
            share=round(share, 3),
        )
        start += share


def _left_out(report: Report) -> list[tuple[str, list[str]]]:
    """Return the files that make no rows, by reason."""
    entries = sorted((left.reason, left.path) for left in report.left_out)
    return [
        (reason, [path for _, path in group])
        for reason, group in groupby(entries, key=lambda entry: entry[0])
    ]


def _policy(style: str, script: str) -> str:
    """Return a content security policy under which this style and this script are all there is."""
    return "; ".join(
        (
            "default-src 'none'",
            f"style-src '{_digest(style)}'",
            f"script-src '{_digest(script)}'",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )


def _digest(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _asset(name: str) -> Markup:
    """Return a file of ours, which is not escaped: nothing of a report is in it."""
    return Markup(FOLDER.joinpath(name).read_text(encoding="utf-8"))  # noqa: S704 - ours


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        breakable=breakable,
        shown=shown,
        shown_block=shown_block,
        coded=coded,
        visible=words.visible,
    )
    environment.globals.update(
        outcome_shown=outcome_shown, words=words, label_of=label_of, tone_of=tone_of
    )
    return environment
