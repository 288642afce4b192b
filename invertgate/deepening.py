"""`--deep`: small changes in bound rows, by mutmut's operators, that no test notices; advice."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Final

from invertgate.experiment import session
from invertgate.experiment.judge import Policy, judge
from invertgate.experiment.plan import Experiment, Subject, WovenFile
from invertgate.experiment.told import SessionError, Tried
from invertgate.model import Outcome, Verdict
from invertgate.nightly.depth import Chosen, NotReadError, Variant, operators, variants
from invertgate.report.depth_words import depth_in_words
from invertgate.report.document import Deep, Report, ReportRow, Survivor
from invertgate.request import Request
from invertgate.survey import ProjectSurvey, Survey
from invertgate.table.selection import Key
from invertgate.trial import Laboratory, laboratory

_AN_EXPERIMENT: Final = 20
"""Variants that are tried in one go; more are spread over the workers."""
_SAID: Final = 3
"""Survivors of a row that its advice names; the report has them all."""
_ONE_PAIR: Final = Policy(confirm=1)


@dataclass(frozen=True, slots=True)
class _Subject:
    """A variant as the engine knows it, and the tests that may notice it."""

    subject: Subject
    variant: Variant
    tests: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Plan:
    """All that is tried in one project."""

    files: tuple[WovenFile, ...]
    subjects: tuple[_Subject, ...]
    left_out: Mapping[Key, int]
    notes: tuple[str, ...]


def ready() -> None:
    """See to it that there are operators, before anything else is done.

    Raises:
        UsageError: mutmut is not there, or of a version that keeps them elsewhere.
    """
    operators()


def with_depth(request: Request, seen: Survey, report: Report) -> Report:
    """Return a report whose bound rows say which small changes in them no test notices.

    Verdicts, counts and the exit code stay as they are: an inner change that survives is advice.

    Args:
        request: What the user asked for; `deep` is the most variants of one row.
        seen: What is judged.
        report: With all its rows judged.

    Raises:
        UsageError: mutmut is not there, or of a version that keeps its operators elsewhere.
    """
    bound = {(row.path, row.id): row for row in report.rows if row.verdict is Verdict.BOUND}
    deep: dict[Key, Deep] = {}
    notes: list[str] = []
    for project in seen.projects:
        plan = _planned(request, seen, project, bound)
        notes += plan.notes
        if plan.subjects:
            deep |= _deepened(request, seen, project, plan, notes)
    if not deep:
        return replace(report, notes=(*report.notes, *notes))
    rows = tuple(_with(row, deep.get((row.path, row.id))) for row in report.rows)
    return replace(report, rows=rows, notes=(*report.notes, *notes, depth_in_words(rows)))


def _planned(
    request: Request, seen: Survey, project: ProjectSurvey, bound: Mapping[Key, ReportRow]
) -> _Plan:
    """Choose what is tried, and number it."""
    tests = _tests(project.outcomes, bound)
    sources = seen.sources()
    files, subjects, notes = list[WovenFile](), list[_Subject](), list[str]()
    left_out: dict[Key, int] = {}
    for path in dict.fromkeys(one.path for one in project.outcomes if one.key in bound):
        # The first of a decision's rows has its predicate: one that is bound, if there is any.
        outcomes = sorted(
            (one for one in project.outcomes if one.path == path and not one.exempt),
            key=lambda one: one.key not in bound,
        )
        try:
            chosen = variants(sources[path], outcomes, bound.keys(), request.deep, operators())
        except NotReadError as error:
            notes.append(f"--deep leaves out {path}: {error}")
            continue
        left_out |= {key: each.left_out for key, each in chosen.items()}
        made = list(_numbered(outcomes, chosen, tests, len(files), len(subjects)))
        subjects += made
        digest = sha256(sources[path]).hexdigest()
        files.append(WovenFile(len(files), path, digest, (), tuple(map(_version, made))))
    return _Plan(tuple(files), tuple(subjects), left_out, tuple(notes))


def _tests(
    outcomes: Iterable[Outcome], bound: Mapping[Key, ReportRow]
) -> dict[Key, tuple[tuple[str, ...], tuple[str, ...]]]:
    """Return the tests of each bound row, and those of all bound rows of its decision."""
    own: dict[Key, tuple[str, ...]] = {}
    shared: dict[tuple[object, ...], list[str]] = {}
    places: dict[Key, tuple[object, ...]] = {}
    for outcome in outcomes:
        row = bound.get(outcome.key)
        if row is not None:
            claims = (claim.test for claim in row.claims)
            own[outcome.key] = tuple(dict.fromkeys((row.test, *claims)))
            places[outcome.key] = (outcome.path, outcome.kind, outcome.anchor)
            shared.setdefault(places[outcome.key], []).extend(own[outcome.key])
    return {
        key: (tests, tuple(dict.fromkeys((*tests, *shared[places[key]]))))
        for key, tests in own.items()
    }


def _numbered(
    outcomes: Iterable[Outcome],
    chosen: Mapping[Key, Chosen],
    tests: Mapping[Key, tuple[tuple[str, ...], tuple[str, ...]]],
    file: int,
    first: int,
) -> Iterator[_Subject]:
    pairs = (
        (outcome, variant)
        for outcome in outcomes
        if outcome.key in chosen
        for variant in chosen[outcome.key].variants
    )
    for number, (outcome, variant) in enumerate(pairs, first):
        own, of_decision = tests[outcome.key]
        subject = Subject(number, outcome, file, number, (number,))
        yield _Subject(subject, variant, of_decision if variant.is_predicate else own)


def _version(each: _Subject) -> tuple[int, int, str, int, str]:
    variant = each.variant
    return (*variant.statement, variant.part, each.subject.slot, variant.text)


def _deepened(
    request: Request, seen: Survey, project: ProjectSurvey, plan: _Plan, notes: list[str]
) -> dict[Key, Deep]:
    """Try all that was planned for one project."""
    experiments = _experiments(plan.subjects)
    outcomes = list(
        {each.subject.outcome.key: each.subject.outcome for each in plan.subjects}.values()
    )
    most = len(experiments)
    verdicts: dict[int, list[Verdict]] = {each.subject.number: [] for each in plan.subjects}
    request.progress.stage("trying small changes in bound rows")
    request.progress.total(most)
    with laboratory(request, seen, project, outcomes, most_workers=most) as lab:
        session.write_boot(lab.place, plan.files, len(plan.subjects))
        options = replace(lab.options, confirm=1)
        for tried in _conducted(replace(lab, options=options), experiments, notes):
            request.progress.advance(None, tried.test)
            for number, runs in tried.runs.items():
                verdicts[number].append(judge(runs, _ONE_PAIR).verdict)
        notes += (note for note in lab.notes if note not in notes)
    return _summed(plan, verdicts)


def _experiments(subjects: Iterable[_Subject]) -> list[Experiment]:
    groups: dict[tuple[str, ...], list[Subject]] = {}
    for each in subjects:
        groups.setdefault(each.tests, []).append(each.subject)
    parts = [
        (tests, tuple(group[start : start + _AN_EXPERIMENT]))
        for tests, group in sorted(groups.items())
        for start in range(0, len(group), _AN_EXPERIMENT)
    ]
    return [
        Experiment(number, tests, group, first=True) for number, (tests, group) in enumerate(parts)
    ]


def _conducted(
    lab: Laboratory, experiments: Sequence[Experiment], notes: list[str]
) -> Iterator[Tried]:
    """Carry out experiments; a session that fails leaves the rest of its part undecided."""
    for part in lab.parts(experiments):
        try:
            yield from lab.conduct(part)
        except SessionError as error:
            notes.append(f"--deep: pytest could not be run on the copy: {error}")


def _summed(plan: _Plan, verdicts: Mapping[int, Sequence[Verdict]]) -> dict[Key, Deep]:
    by_row: dict[Key, list[_Subject]] = {}
    for each in plan.subjects:
        by_row.setdefault(each.subject.outcome.key, []).append(each)
    return {
        key: _deep(subjects, verdicts, plan.left_out.get(key, 0))
        for key, subjects in by_row.items()
    }


def _deep(
    subjects: Sequence[_Subject], verdicts: Mapping[int, Sequence[Verdict]], left_out: int
) -> Deep:
    said = [(each.variant, _of_tests(verdicts[each.subject.number])) for each in subjects]
    survivors = [variant for variant, verdict in said if verdict is Verdict.WEAK]
    tally = [verdict for _, verdict in said]
    return Deep(
        tried=len(said),
        noticed=tally.count(Verdict.BOUND),
        not_run=tally.count(Verdict.UNREACHED),
        undecided=tally.count(Verdict.UNPROVEN),
        left_out=left_out,
        survivors=tuple(Survivor(each.line, each.before, each.after) for each in survivors),
    )


def _of_tests(verdicts: Sequence[Verdict]) -> Verdict:
    """Say what the tests of a row make of a variant: one that notices is enough."""
    if Verdict.BOUND in verdicts:
        return Verdict.BOUND
    if not verdicts or not set(verdicts) <= {Verdict.WEAK, Verdict.UNREACHED}:
        return Verdict.UNPROVEN
    return Verdict.WEAK if Verdict.WEAK in verdicts else Verdict.UNREACHED


def _with(row: ReportRow, deep: Deep | None) -> ReportRow:
    if deep is None:
        return row
    said = [
        f"bound, but `{each.before}` → `{each.after}` in line {each.line} survives"
        for each in deep.survivors
    ]
    more = [f"{len(said) - _SAID} more changes survive"] if len(said) > _SAID else []
    return replace(row, deep=deep, advice=(*row.advice, *said[:_SAID], *more))
