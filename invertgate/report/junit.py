"""JUnit XML: one case a row."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from invertgate.model import Run, Verdict
from invertgate.report.document import Report, ReportRow
from invertgate.report.findings import lines_of, reason, story, trouble
from invertgate.report.words import (
    conservation,
    examined_in_words,
    outcome_in_words,
    visible,
)

TAGS: Final[Mapping[Verdict, str]] = {
    Verdict.BOUND: "",
    Verdict.WEAK: "failure",
    Verdict.UNREACHED: "failure",
    Verdict.UNBOUND: "failure",
    Verdict.UNCOLLECTED: "failure",
    Verdict.RED: "error",
    Verdict.UNPROVEN: "error",
    Verdict.QUARANTINED: "skipped",
    Verdict.EXTERNAL: "skipped",
    Verdict.WAIVED: "skipped",
    Verdict.LEFTOVER: "failure",
    Verdict.INHERITED: "skipped",
    Verdict.LOCKED_OUT: "failure",
    Verdict.EXEMPT: "skipped",
}
"""What a case of each verdict holds; only a bound row is a case that passed."""


@dataclass(frozen=True, slots=True)
class _Case:
    name: str
    path: str
    line: int
    tag: str
    kind: str
    message: str
    story: str
    seconds: float = 0.0
    output: str = ""


def render(report: Report) -> str:
    """Return a report as JUnit XML, as Jenkins, GitLab and most of CI read it.

    A row that fails the gate is a failure, one that could not be decided an error, one that nobody
    has to bind or that a person has to decide is skipped. Files that do not parse, and a run that
    did not get to its end, are cases of their own: an empty suite would look green. Characters
    that XML does not have are spelled out.
    """
    cases = [_row(report, row) for row in report.rows]
    cases += [
        _Case("parse", one.path, one.line, "error", "not_parsed", one.message, one.message)
        for one in report.not_parsed
    ]
    if (problem := trouble(report)) and not any(case.tag == "error" for case in cases):
        cases.append(_Case("run", "invertgate", 0, "error", "incomplete", problem, problem))
    root = Element("testsuites", _sums(cases, "invertgate"))
    suite = SubElement(root, "testsuite", _sums(cases, "invertgate"))
    suite.set("timestamp", visible(report.started))
    for case in cases:
        _add(suite, case)
    told = [examined_in_words(report), conservation(report), *map(visible, report.notes)]
    SubElement(suite, "system-out").text = lines_of("\n".join(told))
    indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(root, encoding="unicode")}\n'


def _sums(cases: list[_Case], name: str) -> dict[str, str]:
    numbers = {
        f"{tag}s" if tag != "skipped" else tag: sum(case.tag == tag for case in cases)
        for tag in ("failure", "error", "skipped")
    }
    seconds = sum(case.seconds for case in cases)
    return {
        "name": name,
        "tests": str(len(cases)),
        **{key: str(number) for key, number in numbers.items()},
        "time": f"{seconds:.3f}",
    }


def _row(report: Report, row: ReportRow) -> _Case:
    words = outcome_in_words(row.kind, row.predicate, row.side)
    if row.verdict is None:
        tag = "error" if report.judged else "skipped"
        kind, message = "not judged", "nothing was judged"
    else:
        tag, kind = TAGS[row.verdict], row.verdict.value
        message = reason(row)
    return _Case(
        name=f"{words} [{row.id}]",
        path=row.path,
        line=row.line,
        tag=tag,
        kind=kind,
        message=message,
        story="\n".join(story(row)),
        seconds=sum(run.seconds for run in row.runs),
        output="\n".join(_run(run) for run in row.runs),
    )


def _run(run: Run) -> str:
    what = "inverted" if run.inverted else "control"
    parts = (f"{what}: {run.ending}", run.exception, run.message, run.where)
    return visible(": ".join(filter(None, parts)))


def _add(suite: Element, case: _Case) -> None:
    made = SubElement(
        suite,
        "testcase",
        {
            "classname": visible(case.path),
            "name": visible(case.name),
            "file": visible(case.path),
            **({"line": str(case.line)} if case.line else {}),
            "time": f"{case.seconds:.3f}",
        },
    )
    if case.tag:
        found = SubElement(
            made, case.tag, {"type": visible(case.kind), "message": visible(case.message)}
        )
        found.text = lines_of(case.story)
    if case.output:
        SubElement(made, "system-out").text = lines_of(case.output)
