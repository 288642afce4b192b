"""Annotations, outputs of a job and the room for a step summary, as GitHub's runner reads them."""

from collections.abc import Iterator
from typing import Final

from invertgate.model import Verdict
from invertgate.report.document import Report, ReportRow
from invertgate.report.findings import (
    Level,
    findings,
    headline,
    level_of,
    lines_of,
    story,
    trouble,
)
from invertgate.report.words import ending_in_words, visible

MOST: Final = 10
"""GitHub shows so many annotations of a step, and drops the rest without a word."""

SUMMARY_LIMIT: Final = 1024 * 1024
"""Bytes that the summary of one step may have; a larger one is dropped as a whole."""

_LONGEST: Final = 4000


def render(report: Report) -> str:
    """Return the annotations of a report: commands of a workflow, one a line.

    Format: ``::error file=PATH,line=N,title=TITLE::MESSAGE``, as the runner's ``ActionCommand``
    parses it. Everything that came out of tests or sources is escaped, so that it ends neither the
    line nor a property, and cannot be another command.
    """
    commands = list(_commands(report))
    shown, hidden = commands[:MOST], len(commands) - MOST
    if hidden > 0:
        rest = f"{hidden} of {len(commands)} findings are not annotated; the report has them all"
        shown.append(_command("notice", "", 0, "invertgate", rest))
    return "".join(f"{command}\n" for command in shown)


def outputs(report: Report) -> str:
    """Return the outputs of a step, ``NAME=VALUE`` lines for the file ``GITHUB_OUTPUT``.

    They are ``exit_code``, ``complete``, ``found``, ``undecided``, ``findings`` and the number of
    rows of each verdict: words and numbers of ours, nothing that a test or a source said.
    """
    values: dict[str, object] = {
        "exit_code": int(report.exit_code),
        "complete": str(report.complete).lower(),
        "found": int(report.found),
        "undecided": int(report.undecided),
        "findings": len(findings(report)),
        **{verdict.value: int(report.counts.get(verdict, 0)) for verdict in Verdict},
    }
    return "".join(f"{name}={value}\n" for name, value in values.items())


def _commands(report: Report) -> Iterator[str]:
    if problem := trouble(report):
        ending = ending_in_words(report.exit_code)
        yield _command(Level.ERROR, "", 0, "invertgate could not judge", f"{problem}\n{ending}")
    for unread in report.not_parsed:
        title = "not parsed: no outcome of this file was judged"
        yield _command(Level.ERROR, unread.path, unread.line, title, unread.message)
    for row in findings(report):
        yield _annotation(row)


def _annotation(row: ReportRow) -> str:
    level = level_of(row.verdict) or Level.WARNING
    scope = f" in {visible(row.scope)}" if row.scope else ""
    said = [f"{headline(row)}{scope}", *story(row), f"row: {visible(row.name)}"]
    title = f"invertgate: {(row.verdict or '').replace('_', ' ')}"
    return _command(level, row.path, row.line, title, "\n".join(said))


def _command(level: str, path: str, line: int, title: str, message: str) -> str:
    properties = {"file": visible(path), "line": str(line) if line else "", "title": title}
    written = ",".join(f"{name}={_property(value)}" for name, value in properties.items() if value)
    return f"::{level} {written}::{_text(_cut(lines_of(message), _LONGEST))}"


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 4]} ..."


def _text(text: str) -> str:
    """Escape a message; ``##[`` is broken up, as runners also look for commands in mid-line."""
    text = text.replace("##[", "## [")
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _text(text).replace(":", "%3A").replace(",", "%2C")
