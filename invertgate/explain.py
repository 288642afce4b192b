"""Everything about one row: runs what claims it, what else takes it, and the test on the base."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from invertgate.advice import Evidence, advice
from invertgate.advised import content, evidence_of
from invertgate.base_check import passing_on_base, worth_asking
from invertgate.model import Result, Verdict
from invertgate.one_row import chosen, repeat
from invertgate.options import Inversion
from invertgate.other_tests import Looked, look_at_others
from invertgate.outcomes.mutant import mutants
from invertgate.patch.git import open_repository
from invertgate.report.build import build, with_mutants
from invertgate.report.document import Facts, ReportRow
from invertgate.report.explanation import Explanation, Noticed
from invertgate.request import Request
from invertgate.survey import ProjectSurvey, Survey, survey
from invertgate.table.check import Matched
from invertgate.verdicts import judge_project
from invertgate.waived import with_waivers


@dataclass(frozen=True, slots=True)
class Wanted:
    """How much is to be found out."""

    others: int = 5
    """Tests beside the claimed ones that are tried at most; 0 looks for none."""
    on_base: bool = True
    """Run the claimed test on the base's source too."""


def explain(request: Request, text: str, wanted: Wanted) -> Explanation:
    """Find out all there is to say of one row.

    Args:
        request: What the user asked for.
        text: The row's id, or the beginning of it, or ``PATH:`` and either.
        wanted: How much is to be found out.

    Raises:
        InvertgateError: There is no such row, or it cannot be judged.
    """
    seen = survey(request, open_repository(request.root, request.environment))
    seen, project, outcome = chosen(seen, text)
    result, matched, notes = _judged(request, seen, project)
    row = _row(request, seen, project, matched, result)
    if result is None:
        return Explanation(row, repeat=repeat(request, outcome)[:1])
    looked = look_at_others(request, seen, project, row, wanted.others)
    base = passing_on_base(request, seen, project, _asked(result, wanted))
    row = replace(row, passes_on_base=base.passes.get(row.test))
    evidence = evidence_of(seen, project, row, outcome, (Verdict.WEAK, Verdict.BOUND))
    if evidence is not None:
        row = replace(row, advice=advice(_with(evidence, looked)))
    return Explanation(
        row,
        failing=_failing(seen, row),
        others=tuple(looked.others),
        takers=looked.takers,
        repeat=repeat(request, outcome),
        notes=tuple(dict.fromkeys((*notes, *looked.notes, *base.notes))),
    )


def _judged(
    request: Request, seen: Survey, project: ProjectSurvey
) -> tuple[Result | None, Matched, Sequence[str]]:
    """Judge the one row as the gate would."""
    matched = seen.matched(project)
    if not matched.rows:
        return None, matched, ()
    judged = judge_project(replace(request, resume=False), seen, project, matched)
    results = (*judged.results, *judged.matched.unbound)
    waived = with_waivers(request, seen, results)
    [result] = waived.results
    return result, judged.matched, (*judged.notes, *waived.notes)


def _row(
    request: Request,
    seen: Survey,
    project: ProjectSurvey,
    matched: Matched,
    result: Result | None,
) -> ReportRow:
    facts = Facts(request.command, datetime.now(UTC).isoformat(timespec="seconds"))
    report = build(
        seen.patch,
        seen.listing,
        [] if result is None else [result],
        facts,
        rows=matched.rows,
        projects={outcome.path: project.folder or "." for outcome in project.outcomes},
    )
    negate = project.config.operator is Inversion.NEGATE
    asked = [outcome for outcome in project.outcomes if not outcome.exempt]
    made = mutants(asked, seen.sources(), negate=negate)
    diffs = {key: mutant.text for key, mutant in made.items()}
    [row] = with_mutants(report, diffs).rows
    return row


def _asked(result: Result, wanted: Wanted) -> dict[str, bool]:
    """Name the test that is run on the base's source: one that passes on the head."""
    return worth_asking([result]) if wanted.on_base else {}


def _with(evidence: Evidence, looked: Looked) -> Evidence:
    return replace(
        evidence,
        takes_other_side=looked.takes_other_side,
        killers=tuple(other.test for other in looked.others if other.noticed is Noticed.KILLS),
        takers=looked.takers,
    )


def _failing(seen: Survey, row: ReportRow) -> str:
    """Return the line at which an inverted run failed first, with its text."""
    places = [run.where for run in row.runs if run.inverted and run.where]
    if not places:
        return ""
    path, _, number = places[0].rpartition(":")
    if not number.isdecimal():
        return places[0]
    source = content(seen, path)
    lines = source.decode("utf-8", "replace").split("\n")
    text = lines[int(number) - 1].strip() if 0 < int(number) <= len(lines) else ""
    return f"{places[0]}  {text}".rstrip()
