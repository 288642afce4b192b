"""Gathers what is known of rows, and lets it be said what would help."""

import posixpath
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from invertgate.advice import Evidence, advice
from invertgate.base_check import BaseCheck, passing_on_base, worth_asking
from invertgate.evidence.bodies import Body, body_of
from invertgate.model import Outcome, Result, Verdict
from invertgate.outcomes.alike import ends_alike
from invertgate.report.document import Report, ReportRow
from invertgate.request import Request
from invertgate.survey import ProjectSurvey, Survey
from invertgate.table.selection import Key


def evidence_of(
    seen: Survey,
    project: ProjectSurvey,
    row: ReportRow,
    outcome: Outcome,
    read: Collection[Verdict] = (Verdict.WEAK,),
) -> Evidence | None:
    """Return what is known of a judged row without running anything.

    Args:
        seen: What is judged.
        project: The row's.
        row: With its verdict and its runs.
        outcome: The row's.
        read: Verdicts for which the file of the test is read as well.

    Returns:
        The evidence; None if nothing was judged.
    """
    verdict = row.beneath or row.verdict
    if verdict is None:
        return None
    return Evidence(
        verdict=verdict,
        kind=outcome.kind,
        predicate=outcome.predicate,
        side=outcome.side,
        test=row.test,
        runs=row.runs,
        nearest=row.nearest,
        body=_body(seen, project, row) if verdict in read else None,
        ends_alike=verdict is Verdict.WEAK and ends_alike(outcome, seen.sources()[outcome.path]),
        passes_on_base=row.passes_on_base,
    )


def content(seen: Survey, path: str) -> bytes:
    """Return a file of what is judged, from the top of the repository; empty if it is not there."""
    if seen.patch.head:
        return seen.repository.blob_at(seen.patch.head, path) or b""
    try:
        return (seen.repository.top / path).read_bytes()
    except OSError:
        return b""


def _body(seen: Survey, project: ProjectSurvey, row: ReportRow) -> Body | None:
    file = posixpath.normpath(posixpath.join(project.folder, row.test.split("::", 1)[0]))
    production = row.path.removesuffix(".py").split("/")
    return body_of(content(seen, file), row.test, production)


def with_advice(
    request: Request, seen: Survey, report: Report, results: Sequence[Result]
) -> Report:
    """Return a report whose rows say what would help.

    Args:
        request: What the user asked for: to run the tests on the base's source as well, or not.
        seen: What is judged.
        report: With all its rows.
        results: The same rows as they were judged.
    """
    checks = [_checked(request, seen, project, results) for project in seen.projects]
    outcomes = {
        outcome.key: (project, check, outcome)
        for project, check in zip(seen.projects, checks, strict=True)
        for outcome in project.outcomes
    }
    rows = tuple(_advised(seen, row, outcomes) for row in report.rows)
    said = dict.fromkeys(note for check in checks for note in check.notes)
    return replace(report, rows=rows, notes=(*report.notes, *said))


def _checked(
    request: Request, seen: Survey, project: ProjectSurvey, results: Sequence[Result]
) -> BaseCheck:
    keys = {outcome.key for outcome in project.outcomes}
    tests = worth_asking(result for result in results if result.key in keys)
    if not request.against_base or not tests:
        return BaseCheck({})
    request.progress.stage("running the claimed tests on the base's source")
    return passing_on_base(request, seen, project, tests)


def _advised(
    seen: Survey,
    row: ReportRow,
    outcomes: Mapping[Key, tuple[ProjectSurvey, BaseCheck, Outcome]],
) -> ReportRow:
    known = outcomes.get((row.path, row.id))
    if known is None:
        return row
    project, check, outcome = known
    row = replace(row, passes_on_base=check.passes.get(row.test))
    evidence = evidence_of(seen, project, row, outcome)
    return row if evidence is None else replace(row, advice=advice(evidence))
