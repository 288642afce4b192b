"""GitLab's code quality report."""

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Final

from invertgate.model import Verdict
from invertgate.report.document import Report, ReportRow
from invertgate.report.findings import findings, headline, lines_of, story, trouble
from invertgate.report.words import visible

SEVERITIES: Final[Mapping[Verdict, str]] = {
    Verdict.RED: "critical",
    Verdict.WEAK: "major",
    Verdict.UNREACHED: "major",
    Verdict.UNBOUND: "major",
    Verdict.UNCOLLECTED: "major",
    Verdict.LOCKED_OUT: "major",
    Verdict.UNPROVEN: "minor",
    Verdict.LEFTOVER: "minor",
    Verdict.QUARANTINED: "info",
    Verdict.EXTERNAL: "info",
}
"""One for each verdict that does not let a patch pass."""


def render(report: Report) -> str:
    """Return a report as GitLab's widget in merge requests reads it.

    Format: a JSON array of objects with ``description``, ``check_name``, ``fingerprint``,
    ``severity`` and ``location.path``, ``location.lines.begin`` (a subset of Code Climate's), as
    GitLab's page on code quality documents it. A fingerprint depends on path and id of a row and
    not on its line, so that GitLab tells old findings from new ones.
    """
    issues: list[object] = []
    if problem := trouble(report):
        issues.append(_issue("incomplete", "blocker", ".", 1, problem, ()))
    for unread in report.not_parsed:
        told = f"not parsed: {lines_of(unread.message)}"
        issues.append(
            _issue("not_parsed", "blocker", unread.path, unread.line, told, (unread.path,))
        )
    issues += [_row(row) for row in findings(report)]
    return json.dumps(issues, indent=2) + "\n"


def _row(row: ReportRow) -> object:
    verdict = row.verdict or Verdict.UNPROVEN
    told = "\n".join([headline(row), *story(row)])
    return _issue(verdict, SEVERITIES[verdict], row.path, row.line, told, (row.path, row.id))


def _issue(
    check: str, severity: str, path: str, line: int, told: str, identity: tuple[str, ...]
) -> object:
    told_apart = json.dumps(["invertgate", *(identity or (check,))])
    return {
        "description": told,
        "check_name": f"invertgate/{check}",
        "fingerprint": sha256(told_apart.encode("ascii")).hexdigest(),
        "severity": severity,
        "location": {"path": visible(path), "lines": {"begin": max(1, line)}},
    }
