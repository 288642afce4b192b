"""The gate: every new outcome of a patch needs a test that notices when it is inverted."""

import resource
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from invertgate.errors import ExitCode
from invertgate.model import Result, Row, Verdict
from invertgate.patch.git import Repository, open_repository
from invertgate.policy_files import changes_lists, policy_file_notes
from invertgate.report import store
from invertgate.report.build import build, stopped_early, with_mutants
from invertgate.report.document import Facts, Gone, Report
from invertgate.request import Request
from invertgate.survey import ProjectSurvey, Survey, survey
from invertgate.table import document
from invertgate.table.check import Matched, stub
from invertgate.table.store import write_file


@dataclass(slots=True)
class Found:
    """What is found project by project."""

    results: list[Result] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    gone: list[Gone] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    trees: set[str] = field(default_factory=set)
    tables: list[str] = field(default_factory=list)
    written: list[str] = field(default_factory=list)
    projects: dict[str, str] = field(default_factory=dict)
    left: str = ""
    """Why rows were left without a verdict; empty if none was."""


def run(request: Request) -> Report:
    """Judge a patch.

    Writes nothing but the report, and a stub where there is no table.

    Raises:
        InvertgateError: It cannot be judged; the message says what to do.
    """
    report = reported(request, _judged, judged=not request.list_only)
    if request.list_only and report.exit_code == ExitCode.FINDINGS:
        return replace(report, exit_code=ExitCode.OK)  # a list is an answer, not a judgement
    return report


def table(request: Request, *, write: bool) -> Report:
    """Compare the tables with the outcomes; nothing is run.

    Args:
        request: What the user asked for.
        write: Bring the tables up to date.

    Raises:
        InvertgateError: They cannot be compared; the message says what to do.
    """
    compare = _written if write else _compared
    return reported(request, compare, judged=False)


def reported(
    request: Request,
    examine: "Examine",
    *,
    judged: bool,
    prepare: "Prepare" = lambda seen: seen,
    remember: "Remember | None" = None,
) -> Report:
    """Examine all projects, and write the report of what is found.

    Args:
        request: What the user asked for.
        examine: What is done with each project.
        judged: Whether anything is judged by that.
        prepare: What is made of the survey before.
        remember: What is done with a complete report; by default it is kept for comparisons.

    Raises:
        InvertgateError: It cannot be done; the message says what to do.
    """
    started, cpu = time.monotonic(), _cpu()
    facts = Facts(request.command, datetime.now(UTC).isoformat(timespec="seconds"), judged=judged)
    repository = open_repository(request.root, request.environment)
    if request.deep:
        from invertgate.deepening import ready  # noqa: PLC0415  # seldom asked for

        ready()
    folder = repository.top / store.FOLDER
    with store.opened(folder, facts):
        seen = prepare(replace(survey(request, repository), shard=request.shard))
        found = Found(notes=[*seen.notes, *policy_file_notes(seen)])
        for project in seen.projects:
            found.projects |= dict.fromkeys(
                (outcome.path for outcome in project.outcomes), project.folder or "."
            )
            examine(request, seen, project, found)
        _waive(request, seen, found)
        facts = replace(
            _of_whole(request, seen, facts),
            operator=str(seen.projects[0].config.operator),
            policy=seen.policy,
            seconds=time.monotonic() - started,
            cpu=_cpu() - cpu,
            tables=tuple(found.tables),
            written=tuple(found.written),
            notes=tuple(dict.fromkeys(found.notes)),
            tree=found.trees.pop() if len(found.trees) == 1 else "",
            complete=not found.left,
        )
        report = build(
            seen.patch,
            seen.judged(),
            found.results,
            facts,
            rows=found.rows,
            gone=found.gone,
            projects=found.projects,
        )
        if judged and seen.listing.outcomes:
            from invertgate.advised import with_advice  # noqa: PLC0415  # nothing new: not needed

            report = with_mutants(report, _mutants(seen))
            report = with_advice(request, seen, report, found.results)
        if judged and request.deep:
            from invertgate.deepening import with_depth  # noqa: PLC0415  # seldom asked for

            report = with_depth(request, seen, report)
        if found.left:
            report = stopped_early(report, found.left)
        elif judged and report.rows:
            report = (remember or remembered)(request, repository, report)
        store.write(report, folder)
        if judged and report.rows and report.complete:
            from invertgate.resume import finished  # noqa: PLC0415  # nothing new: not needed

            finished(request, folder)
    return report


def remembered(request: Request, repository: Repository, report: Report) -> Report:
    """Keep for `invertgate trend` what is said of a whole patch.

    Args:
        request: What the user asked for.
        repository: The user's.
        report: Complete.

    Returns:
        The report, which is compared with others only if somebody asks.
    """
    if request.paths or request.ids or request.shard or not report.found:
        return report
    from invertgate.trends import history_of, recorded  # noqa: PLC0415  # nothing new: not needed

    told = recorded(report, history_of(repository.top), "run")
    return replace(told, trend=None)  # a patch is compared with another only if asked


def _mutants(seen: Survey) -> dict[tuple[str, str], str]:
    """Write what the rows of a report ask to be noticed."""
    from invertgate.options import Inversion  # noqa: PLC0415  # nothing new: not needed
    from invertgate.outcomes.mutant import Mutant, mutants  # noqa: PLC0415

    found: dict[tuple[str, str], Mutant] = {}
    for project in seen.projects:
        asked = [outcome for outcome in project.outcomes if not outcome.exempt]
        negate = project.config.operator is Inversion.NEGATE
        found |= mutants(asked, seen.sources(), negate=negate)
    return {key: mutant.text for key, mutant in found.items()}


def _of_whole(request: Request, seen: Survey, facts: Facts) -> Facts:
    """Say of which whole the report is; of one that is empty and undivided there is nothing."""
    if not (seen.listing.outcomes or seen.listing.not_parsed or request.shard):
        return facts
    from invertgate.whole import shard_of_report, whole_digest  # noqa: PLC0415  # nothing new: not needed

    shard = shard_of_report(seen, request.shard) if request.shard else None
    return replace(facts, whole=whole_digest(request, seen), shard=shard)


def _waive(request: Request, seen: Survey, found: Found) -> None:
    """Let waivers count, where there is a row or the patch changes a list."""
    if not found.results and not changes_lists(seen):
        return
    from invertgate.waived import with_waivers  # noqa: PLC0415  # nothing new: not needed

    waived = with_waivers(request, seen, found.results)
    found.results = list(waived.results)
    found.notes += waived.notes


def _cpu() -> float:
    if sys.platform == "win32":
        return time.process_time()
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)


def _judged(request: Request, seen: Survey, project: ProjectSurvey, found: Found) -> None:
    """Judge the rows of one project."""
    matched = seen.matched(project)
    if matched.rows and not request.list_only:
        from invertgate.verdicts import judge_project  # noqa: PLC0415  # nothing new: not needed

        judged = judge_project(request, seen, project, matched)
        matched = judged.matched
        found.notes += judged.notes
        found.trees |= {judged.tree} - {""}
        found.results += judged.results
    _note(project, matched, found)
    _write_stub(request, seen, project, matched, found)


def _claimed(matched: Matched) -> list[Row]:
    return [row for row in matched.rows if row.claims]


def _note(project: ProjectSurvey, matched: Matched, found: Found) -> None:
    found.rows += matched.rows
    locked_out = {result.key for result in found.results if result.verdict is Verdict.LOCKED_OUT}
    found.results += (result for result in matched.unbound if result.key not in locked_out)
    found.results += (*matched.leftovers, *matched.inherited)
    found.notes += matched.notes
    if project.has_table:
        found.tables.append(project.table_path)
    entries = {entry.key: entry for entry in project.table.entries}
    for result in (*matched.leftovers, *matched.inherited):
        entry = entries[result.key]
        folder = project.folder or "."
        found.gone.append(
            Gone(entry.path, entry.id, entry.kind, entry.predicate, entry.side, folder)
        )


def _write_stub(
    request: Request, seen: Survey, project: ProjectSurvey, matched: Matched, found: Found
) -> None:
    """Write a table to be filled in, where there is neither a table nor a claim."""
    whole_patch = not (request.head or request.paths or request.ids or request.shard)
    nothing_to_do = request.list_only or not whole_patch
    if nothing_to_do or project.has_table or not matched.rows or _claimed(matched):
        return
    _write(seen, project, stub(project.outcomes, project.table_path), found)
    found.tables.append(project.table_path)


def _compared(_: Request, seen: Survey, project: ProjectSurvey, found: Found) -> None:
    """Lay outcomes and table beside each other."""
    matched = seen.matched(project)
    if matched.unbound:
        from invertgate.spelled_markers import spelled_markers  # noqa: PLC0415  # seldom needed

        matched = seen.matched(project, spelled_markers(seen, project))
    _note(project, matched, found)


def _written(_: Request, seen: Survey, project: ProjectSurvey, found: Found) -> None:
    """Bring a table up to date, and lay it beside the outcomes."""
    new = seen.updated(project)
    if project.has_table or new.entries:
        _write(seen, project, new, found)
    project = replace(project, table=new, has_table=True)
    _note(project, seen.matched(project), found)


def _write(seen: Survey, project: ProjectSurvey, new: document.Table, found: Found) -> None:
    path = project.table_path
    top = seen.repository.top
    if write_file(top / path, document.write(new, Path(path).suffix), top):
        found.written.append(path)


Examine = Callable[[Request, Survey, ProjectSurvey, Found], None]
"""What is done with each project."""
Prepare = Callable[[Survey], Survey]
Remember = Callable[[Request, Repository, Report], Report]
