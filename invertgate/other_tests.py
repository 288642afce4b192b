"""Which tests beside the claimed ones take an outcome, and whether they notice its inversion."""

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Final

from invertgate.evidence.candidates import Sighting, in_order
from invertgate.experiment.judge import judge
from invertgate.experiment.plan import Experiment, Subject
from invertgate.experiment.told import SessionError, Taken
from invertgate.frozen import flaky_tests
from invertgate.model import PolicySource, Side, Verdict
from invertgate.report.document import ReportRow
from invertgate.report.explanation import Noticed, OtherTest
from invertgate.request import Request
from invertgate.survey import ProjectSurvey, Survey
from invertgate.trial import Laboratory, laboratory, usable_cores

_SECONDS: Final = 60.0
"""On the clock, for looking which tests take the outcome."""
_TWO_SIDED: Final = frozenset((Side.TRUE, Side.FALSE))
_NOTICED: Final = {Verdict.BOUND: Noticed.KILLS, Verdict.WEAK: Noticed.GREEN}


@dataclass(slots=True)
class Looked:
    """What was seen of other tests."""

    others: list[OtherTest] = field(default_factory=list)
    takers: int | None = None
    takes_other_side: bool | None = None
    notes: list[str] = field(default_factory=list)


def look_at_others(
    request: Request, seen: Survey, project: ProjectSurvey, row: ReportRow, most_others: int
) -> Looked:
    """See which tests take the outcome, and try some of them."""
    looked = Looked()
    is_asked = row.verdict is Verdict.UNREACHED and row.side in _TWO_SIDED
    if not is_asked and most_others == 0:
        return looked
    lending = laboratory(
        request, seen, project, project.outcomes, most_workers=usable_cores(), doubt=False
    )
    with lending as lab:
        [subject] = lab.subjects
        try:
            if is_asked:
                looked.takes_other_side = _takes_other_side(lab, subject, row.test)
            if most_others > 0:
                _try_others(request, seen, project, lab, row, most_others, looked)
        except SessionError as error:
            looked.notes.append(f"pytest could not be run to look at other tests: {error}")
        looked.notes += lab.notes
    return looked


def _takes_other_side(lab: Laboratory, subject: Subject, test: str) -> bool | None:
    """Tell whether a test takes the other side of a decision; None if it does not pass alone."""
    other = subject.slot ^ 1
    alone = replace(lab, options=replace(lab.options, fork=False))
    taken = [each for each in alone.look(lab.existing([test]), [test]) if each.passed]
    return any(other in each.slots for each in taken) if taken else None


def _try_others(
    request: Request,
    seen: Survey,
    project: ProjectSurvey,
    lab: Laboratory,
    row: ReportRow,
    most: int,
    looked: Looked,
) -> None:
    [subject] = lab.subjects
    claimed = {claim.test for claim in row.claims}
    request.progress.stage("running tests to see which take the outcome")
    takers = list(_takers(request, project, lab, subject, sorted(claimed), looked))
    looked.takers = len(takers)
    others = [each for each in takers if each.test not in claimed]
    tests = in_order((Sighting(each.test, each.seconds) for each in others), row.path)
    usable = _without_flaky(request, seen, project, tests)[:most]
    if not usable:
        return
    request.progress.stage("trying other tests on the inverted outcome")
    request.progress.total(len(usable))
    experiments = [Experiment(number, (test,), (subject,)) for number, test in enumerate(usable)]
    found = {}
    for tried in chain.from_iterable(map(lab.conduct, lab.parts(experiments))):
        judgement = judge(tried.runs.get(subject.number, ()), lab.policy)
        noticed = Noticed.UNDECIDED if tried.stand else _NOTICED.get(judgement.verdict)
        reason = tried.reason or tried.stand or judgement.reason
        found[tried.test] = OtherTest(tried.test, noticed or Noticed.UNDECIDED, reason)
        request.progress.advance(None, tried.test)
    looked.others += [found[test] for test in usable if test in found]


def _takers(
    request: Request,
    project: ProjectSurvey,
    lab: Laboratory,
    subject: Subject,
    claimed: Sequence[str],
    looked: Looked,
) -> Iterator[Taken]:
    """Run the files of the claimed tests, then the suite; not for longer than a minute."""
    end = time.monotonic() + _SECONDS
    known: set[str] = set()
    near = lab.existing(claimed)
    for files in ([near] if near else []) + [list(project.config.tests)]:
        for taken in lab.search(files):
            if taken.test not in known and taken.passed and not taken.external:
                known.add(taken.test)
                if subject.slot in taken.slots | taken.at_import:
                    yield taken
            request.progress.advance(None, taken.test)
            if time.monotonic() > end:
                looked.notes.append(
                    f"looking for other tests ended after {_SECONDS:.0f} s; "
                    f"{len(known)} tests that pass were seen"
                )
                return


def _without_flaky(
    request: Request, seen: Survey, project: ProjectSurvey, tests: Iterable[str]
) -> list[str]:
    flaky = flaky_tests(
        seen.repository,
        project.folder,
        seen.patch.base if seen.policy is PolicySource.BASE else "",
        request.head,
        request.today,
        project.config.max_quarantine_days,
    )
    return [test for test in tests if flaky.freezing(test) is None]
