"""Judge the rows of one project that tests claim: by what is known, or else by experiments."""

from collections.abc import Sequence
from dataclasses import dataclass

from invertgate.covered import without_experiment
from invertgate.experiment.plan import by_test
from invertgate.frozen import flaky_tests, without_flaky
from invertgate.locked import without_locked_out
from invertgate.markers import files_bearing_markers, marked
from invertgate.mentions import mention_notes
from invertgate.model import PolicySource, Result, Row
from invertgate.nightly.journal import Journal
from invertgate.request import Request
from invertgate.resume import resumed, tree_of
from invertgate.survey import ProjectSurvey, Survey
from invertgate.table.check import Matched
from invertgate.trial import Laboratory, laboratory, try_claims


@dataclass(frozen=True, slots=True)
class Judged:
    """What is said of a project's rows."""

    matched: Matched
    """Outcomes and table, with what tests claim by markers."""
    results: tuple[Result, ...] = ()
    """For each row that something claims, and each that is locked out."""
    notes: tuple[str, ...] = ()
    tree: str = ""
    """Digest of all files that the tests found; empty if none was run."""


def judge_project(
    request: Request, seen: Survey, project: ProjectSurvey, matched: Matched
) -> Judged:
    """Judge the rows of one project.

    Args:
        request: What the user asked for.
        seen: What is judged.
        project: One of its projects.
        matched: Its outcomes and its table, laid beside each other.

    Raises:
        InvertgateError: They cannot be judged; the message says what to do.
    """
    bearing = files_bearing_markers(seen, project)
    if not bearing and not _claimed(matched):
        guarded = without_locked_out(seen, project, matched.rows)
        return Judged(matched, guarded.results, guarded.notes)
    flaky = flaky_tests(
        seen.repository,
        project.folder,
        seen.patch.base if seen.policy is PolicySource.BASE else "",
        request.head,
        request.today,
        project.config.max_quarantine_days,
    )
    notes = [*flaky.notes, *mention_notes(seen)]
    outcomes = [row.outcome for row in matched.rows]
    most = len({claim.test for row in matched.rows for claim in row.claims}) or len(outcomes)
    with laboratory(request, seen, project, outcomes, most_workers=most) as lab:
        if bearing:
            markers = marked(lab, project, bearing)
            notes += markers.notes
            matched = seen.matched(project, markers.tests)
        guarded = without_locked_out(seen, project, matched.rows)
        notes += guarded.notes
        held = without_flaky([row for row in guarded.rows if row.claims], flaky)
        spared = without_experiment(request, seen, project, lab, held.rows)
        notes += spared.notes
        tree = tree_of(lab)
        with resumed(request, seen, project, lab, tree) as journal:
            tried, said = _judged(request, lab, journal, spared.rows)
        notes += (*said, *lab.notes)
    results = (*guarded.results, *held.results, *spared.results, *tried)
    return Judged(matched, results, tuple(notes), tree)


def _claimed(matched: Matched) -> list[Row]:
    return [row for row in matched.rows if row.claims]


def _judged(
    request: Request, lab: Laboratory, journal: Journal, rows: Sequence[Row]
) -> tuple[list[Result], tuple[str, ...]]:
    """Judge rows: those that a killed run has judged by its journal, and try the others."""
    if not rows:
        return [], ()
    request.progress.stage("judging rows")
    request.progress.total(len(rows))
    known = [result for row in rows if (result := journal.result_for(row))]
    for result in known:
        request.progress.advance(result, f"{result.path} {result.id}")
    keys = {result.key for result in known}
    left = [row for row in rows if row.outcome.key not in keys]
    notes = (f"{len(known)} of {len(rows)} verdicts are those of a run that was ended",)
    return known + _tried(request, lab, journal, left), notes if known else ()


def _tried(
    request: Request, lab: Laboratory, journal: Journal, rows: Sequence[Row]
) -> list[Result]:
    """Try the claims of some rows."""
    subjects = {subject.outcome.key: subject for subject in lab.subjects}
    pairs = [(subjects[row.outcome.key], claim.test) for row in rows for claim in row.claims]
    numbered = {subjects[row.outcome.key].number: row for row in rows}
    by_key = {row.outcome.key: row for row in rows}

    def told(result: Result) -> None:
        journal.add(by_key[result.key], result)
        request.progress.advance(result, f"{result.path} {result.id}")

    return try_claims(lab, numbered, by_test(pairs), told)
