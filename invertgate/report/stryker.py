"""The schema of mutation testing reports that Stryker's dashboards and elements read."""

import json
from collections.abc import Iterable, Mapping
from typing import Final

from invertgate.model import Verdict
from invertgate.report.build import WITHOUT_OUTCOME
from invertgate.report.document import Report, ReportRow
from invertgate.report.findings import headline, story
from invertgate.report.regions import Region, region
from invertgate.report.words import visible

VERSION: Final = "2.0"

STATUSES: Final[Mapping[Verdict, str]] = {
    Verdict.BOUND: "Killed",
    Verdict.WEAK: "Survived",
    Verdict.UNREACHED: "NoCoverage",
    Verdict.UNBOUND: "NoCoverage",
    Verdict.UNCOLLECTED: "NoCoverage",
    Verdict.RED: "NoCoverage",
    Verdict.UNPROVEN: "Survived",
    Verdict.QUARANTINED: "NoCoverage",
    Verdict.EXTERNAL: "NoCoverage",
    Verdict.WAIVED: "Ignored",
    Verdict.LOCKED_OUT: "NoCoverage",
    Verdict.EXEMPT: "Ignored",
}
"""Only a bound row is detected. Of the statuses that are not, those that do not count at all
(``RuntimeError``, ``Ignored``) would let a score of 100 stand beside a shut gate: they are for rows
that pass."""

Json = Mapping[str, object]


def render(report: Report) -> str:
    """Return a report in version 2 of ``mutation-testing-report-schema``.

    The source of a file is what the rows quote of it, in its place; the lines between are empty.
    Columns count UTF-16 code units, because those who show it index strings of JavaScript. Rows
    without an outcome (left over, inherited) are no mutants.
    """
    rows = [row for row in report.rows if row.verdict not in WITHOUT_OUTCOME]
    by_path: dict[str, list[ReportRow]] = {}
    for row in rows:
        by_path.setdefault(visible(row.path), []).append(row)
    document = {
        "schemaVersion": VERSION,
        "thresholds": {"high": 100, "low": 100},
        "framework": {"name": "invertgate", "version": report.tool_version},
        "config": {"operator": visible(report.operator), "complete": report.complete},
        "files": {path: _file(own, judged=report.judged) for path, own in by_path.items()},
        "testFiles": _tests(rows),
    }
    return json.dumps(document, indent=2) + "\n"


def _file(rows: Iterable[ReportRow], *, judged: bool) -> Json:
    lines: dict[int, str] = {}
    for row in rows:
        if row.excerpt:
            lines |= dict(enumerate(row.excerpt.lines, row.excerpt.first))
        else:
            lines.setdefault(max(1, row.line), "")
    source = "\n".join(_clean(lines.get(number, "")) for number in range(1, max(lines) + 1))
    return {
        "language": "python",
        "source": f"{source}\n",
        "mutants": [_mutant(row, judged=judged) for row in rows],
    }


def _clean(line: str) -> str:
    """Return a line whose characters are as many UTF-16 units, and each one of them a character."""
    return "".join("\ufffd" if "\ud800" <= letter <= "\udfff" else letter for letter in line)


def _status(row: ReportRow, *, judged: bool) -> str:
    if row.verdict:
        return STATUSES[row.verdict]
    return "NoCoverage" if judged else "Pending"  # a run that was stopped must not score either


def _mutant(row: ReportRow, *, judged: bool) -> Json:
    tests = _killers(row)
    where = region(row) or Region(max(1, row.line))
    seconds = sum(run.seconds for run in row.runs)
    return {
        "id": visible(row.name),
        "mutatorName": f"{row.kind}/{row.side}" if row.kind and row.side else "outcome",
        "description": headline(row),
        **_replacement(row, where),
        "location": _location(where),
        "status": _status(row, judged=judged),
        "statusReason": "\n".join(story(row)),
        "killedBy": tests if row.verdict is Verdict.BOUND else [],
        "coveredBy": tests if row.verdict in {Verdict.BOUND, Verdict.WEAK} else [],
        "duration": round(seconds * 1000, 3),
        "testsCompleted": len(row.runs),
    }


def _killers(row: ReportRow) -> list[str]:
    return [visible(row.test)] if row.test else []


def _replacement(row: ReportRow, where: Region) -> Json:
    """Return what stands in the mutant where the decision stands, if that can be told."""
    changes = row.mutant.splitlines()[2:]  # below the names of both sides
    before, after = ([line[1:] for line in changes if line[:1] == sign] for sign in "-+")
    if before != [where.text] or len(after) != 1:
        return {}
    head = where.text[: where.start or 0]
    tail = where.text[where.end :] if where.end is not None else ""
    [line] = after
    if len(line) < len(head + tail) or not (line.startswith(head) and line.endswith(tail)):
        return {}
    return {"replacement": visible(line[len(head) : len(line) - len(tail)])}


def _location(where: Region) -> Json:
    start = _units(where.text[: where.start or 0])
    end = _units(where.text[: where.end] if where.end is not None else where.text)
    return {
        "start": {"line": where.line, "column": start + 1},
        "end": {"line": where.line, "column": max(end, start) + 1},
    }


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _tests(rows: Iterable[ReportRow]) -> Json:
    files: dict[str, list[str]] = {}
    for nodeid in dict.fromkeys(test for row in rows for test in _killers(row)):
        files.setdefault(nodeid.partition("::")[0], []).append(nodeid)
    return {
        file: {
            "tests": [
                {"id": nodeid, "name": nodeid.partition("::")[2] or nodeid} for nodeid in found
            ]
        }
        for file, found in files.items()
    }
