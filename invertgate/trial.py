"""Try tests on inverted outcomes: private trees, one pytest session, verdicts."""

import os
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Final

from invertgate import holding, process
from invertgate.config import Config, Inversion, Kill, OnTimeout
from invertgate.copies import judged_trees
from invertgate.experiment import session
from invertgate.experiment.judge import Judgement, Policy, judge
from invertgate.experiment.plan import (
    Experiment,
    Subject,
    conftests_above,
    files_of,
    in_groups,
    subjects_of,
)
from invertgate.experiment.session import Place
from invertgate.experiment.told import Collection, Measurement, SessionError, Taken, Tried
from invertgate.inside import settings
from invertgate.inside.budget import Options
from invertgate.isolation.contain import Held, held, launcher
from invertgate.isolation.environment import environment, install_inside, original_of
from invertgate.isolation.trees import Selection, environments_in, missing_in
from invertgate.model import Outcome, Result, Row, Run, Verdict
from invertgate.request import Request
from invertgate.survey import ProjectSurvey, Survey
from invertgate.table.claims import resolve

_CONTROL_SECONDS: Final = 600.0
_FORKED_CONTROL_SECONDS: Final = 60.0
_MEBIBYTE: Final = 1 << 20

_STANDS: Final[Mapping[str, Verdict]] = {
    "not collected": Verdict.UNCOLLECTED,
    "deselected": Verdict.RED,
    "collection error": Verdict.RED,
    "external": Verdict.EXTERNAL,
}
"""What it says of a row that its test could not be run at all."""

_WHICH_COUNTS: Final = (
    Verdict.BOUND,
    Verdict.RED,
    Verdict.UNCOLLECTED,
    Verdict.UNPROVEN,
    Verdict.WEAK,
    Verdict.UNREACHED,
    Verdict.EXTERNAL,
)
"""Which verdict a row gets that several tests claim: one has to kill, or else the worst counts."""


@dataclass(frozen=True, slots=True)
class Laboratory:
    """Private trees of a project, with its outcomes woven."""

    place: Place
    options: Options
    policy: Policy
    config: Config
    subjects: tuple[Subject, ...]
    held: Held
    """How far what is inverted is held."""
    notes: list[str]
    """What a reader should be told of that, gathered as experiments are carried out."""

    def collect(self, tests: Sequence[str]) -> Collection:
        """Collect tests, without running any.

        Raises:
            SessionError: pytest did not come to its end.
        """
        return session.collect(self.place, tests)

    def search(self, tests: Sequence[str]) -> Generator[Taken]:
        """Run tests as pytest always does, and tell which outcomes each takes.

        Raises:
            SessionError: pytest did not come to its end.
        """
        return session.search(self.place, tests)

    def look(self, tests: Sequence[str], known: Sequence[str]) -> Generator[Taken]:
        """Run tests alone, each in a process of its own, and tell which outcomes each takes.

        Args:
            tests: What pytest is to collect; empty for what it collects by itself.
            known: The nodeids of the tests to be run.

        Raises:
            SessionError: pytest did not come to its end.
        """
        return session.look(self.place, in_groups(known), self.options, tests)

    def measure(self, tests: Sequence[str], only: Sequence[str] = ()) -> Measurement:
        """Run tests once under coverage; see `session.measure`.

        Raises:
            SessionError: pytest did not come to its end.
        """
        return session.measure(self.place, tests, only, self.config.external)

    def parts(self, experiments: Iterable[Experiment]) -> list[list[Experiment]]:
        """Part experiments into those that one pytest session may carry out.

        pytest loads the conftest files above its arguments before anything else: tests that have
        others above them would meet what these leave behind.
        """
        found: dict[frozenset[tuple[str, ...]], list[Experiment]] = {}
        for experiment in experiments:
            files = files_of(experiment.tests)
            chains = frozenset(conftests_above(self.place.folder, file) for file in files)
            found.setdefault(chains, []).append(experiment)
        return list(found.values())

    def conduct(self, part: Sequence[Experiment]) -> Generator[Tried]:
        """Carry out experiments of one part.

        Raises:
            SessionError: pytest ended before all of them were carried out.
        """
        place = replace(self.place, workers=min(self.place.workers, len(part)))
        tests = [test for experiment in part for test in experiment.tests]
        there = self.existing(tests) or [os.curdir]
        bench = holding.Bench(place, self.options, self.config.external, there)
        return holding.conduct(bench, self.held, part, self.notes)

    def existing(self, tests: Iterable[str]) -> list[str]:
        """Return the files of some tests, as far as they are there."""
        files = files_of(tests)
        gone = set(missing_in(self.place.folder, files))
        return [file for file in files if file not in gone]


@contextmanager
def laboratory(
    request: Request,
    survey: Survey,
    project: ProjectSurvey,
    outcomes: Sequence[Outcome],
    *,
    most_workers: int,
    doubt: bool = True,
) -> Generator[Laboratory]:
    """Lend private trees of what is judged, gone when the block is left.

    Args:
        request: What the user asked for.
        survey: What is judged.
        project: The project whose tests are run.
        outcomes: Those that will be inverted.
        most_workers: How many can have something to do.
        doubt: Ask a fresh process too before a test is blamed.
    """
    config = project.config
    how = held(config.contain)
    workers = max(1, min(config.workers or usable_cores(), most_workers))
    negate = config.operator is Inversion.NEGATE
    files, subjects, slots = subjects_of(outcomes, survey.sources(), negate=negate)
    with ExitStack() as stack:
        head = survey.patch.head if request.head else ""
        selection = Selection(config.copy_exclude, config.copy_include)
        trees = stack.enter_context(
            judged_trees(survey.repository, head, 2 * workers, selection, survey.sources())
        )
        stack.callback(process.end_marked, settings.RUN, str(trees.scratch))
        install_inside(trees)
        original = original_of(request.environment, survey.repository.top)
        place = Place(
            trees.scratch,
            original,
            trees.name,
            project.folder,
            workers,
            workers,
            environment(request.environment, trees, project.folder),
            tuple(str(folder) for folder in environments_in(original)),
            config.pytest_args,
            session.calming_options(trees.scratch),
            launcher(how.always, trees.scratch),
        )
        session.write_boot(place, files, slots)
        notes = [how.note] if how.note else []
        options = _options(config, doubt=doubt)
        yield Laboratory(place, options, _policy(config), config, subjects, how, notes)


def usable_cores() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _options(config: Config, *, doubt: bool) -> Options:
    import psutil  # noqa: PLC0415 - costs more than all that a patch without outcomes needs

    half = psutil.virtual_memory().total // 2
    return Options(
        confirm=config.confirm,
        fork=hasattr(os, "fork"),
        doubt=doubt,
        factor=config.timeout_factor,
        floor=config.timeout_floor,
        wall_floor=config.wall_floor,
        memory=config.memory_limit * _MEBIBYTE or half,
        control=_CONTROL_SECONDS,
        control_fork=_FORKED_CONTROL_SECONDS,
    )


def _policy(config: Config) -> Policy:
    return Policy(
        config.confirm,
        assertion_only=config.kill is Kill.ASSERTION,
        timeout_kills=config.timeout is OnTimeout.KILL,
    )


@dataclass(frozen=True, slots=True)
class _Trial:
    """What came of one claim of one row."""

    judgement: Judgement
    runs: tuple[Run, ...]
    pool: tuple[str, ...]
    """Collected tests that an uncollected claim could mean."""


class Verdicts:
    """Gathers what was tried for each row until the row can be judged."""

    def __init__(self, rows: Mapping[int, Row], policy: Policy) -> None:
        self._rows = rows
        self._policy = policy
        self._judged: dict[int, dict[str, _Trial]] = {number: {} for number in rows}

    def add(self, tried: Tried, experiment: Experiment) -> Iterator[Result]:
        """Take what came of one test; yield the rows that are decided by it."""
        for subject in experiment.subjects:
            runs = tried.runs.get(subject.number, ())
            judged = self._judged[subject.number]
            judged[tried.test] = _Trial(self._judgement(tried, runs), runs, tried.pool)
            if len(judged) == len(self._rows[subject.number].claims):
                yield self.result(subject.number)

    def result(self, number: int, lost: "Callable[[Row], tuple[str, str]] | None" = None) -> Result:
        """Return the result of a row.

        Args:
            number: The row's.
            lost: Names a claimed test that nothing was told of, and says why; a kill by another
                test counts all the same.
        """
        row = self._rows[number]
        judged = self._judged[number]
        bound = any(one.judgement.verdict is Verdict.BOUND for one in judged.values())
        if lost is not None and not bound:
            test, reason = lost(row)
            return _result(row, Judgement(Verdict.UNPROVEN, reason), test)
        test = min(judged, key=lambda each: _rank(judged[each].judgement))
        trial = judged[test]
        weak = [each for each, one in judged.items() if one.judgement.verdict is Verdict.WEAK]
        if trial.judgement.verdict is not Verdict.UNCOLLECTED:
            return _result(row, trial.judgement, test, trial.runs, tuple(weak))
        meant = resolve(test, frozenset(trial.pool))
        reason = trial.judgement.reason or meant.reason
        judgement = Judgement(Verdict.UNCOLLECTED, reason)
        return _result(row, judgement, test, (), tuple(weak), meant.nearest)

    def undecided(self) -> Iterator[int]:
        """Yield the numbers of rows some of whose claims were never tried."""
        for number, judged in self._judged.items():
            if len(judged) < len(self._rows[number].claims):
                yield number

    def _judgement(self, tried: Tried, runs: Sequence[Run]) -> Judgement:
        if tried.held:
            return Judgement(Verdict.RED, _held(tried))
        if tried.stand:
            return Judgement(_STANDS[tried.stand], _reason(tried))
        return judge(runs, self._policy)


def _rank(judgement: Judgement) -> int:
    return _WHICH_COUNTS.index(judgement.verdict)


def _reason(tried: Tried) -> str:
    if tried.stand == "external":
        return "the test has an outside cost, and is never run on inverted code"
    if tried.stand == "not collected":
        return tried.reason
    return f"{tried.stand}: {tried.reason}"


def _held(tried: Tried) -> str:
    return (
        f'the test passes, but not under contain = "{tried.held}": '
        'leave it at "auto", or set it to "none"'
    )


def _result(
    row: Row,
    judgement: Judgement,
    test: str,
    runs: tuple[Run, ...] = (),
    weak: tuple[str, ...] = (),
    nearest: tuple[str, ...] = (),
) -> Result:
    outcome = row.outcome
    return Result(
        outcome.path,
        outcome.id,
        judgement.verdict,
        judgement.reason,
        test,
        runs,
        weak,
        nearest,
    )


def try_claims(
    lab: Laboratory,
    rows: Mapping[int, Row],
    experiments: Sequence[Experiment],
    told: Callable[[Result], None],
    heard: Callable[[Tried], None] = lambda _: None,
) -> list[Result]:
    """Try every claim of some rows, and judge them.

    Args:
        lab: Where.
        rows: Rows with claims, by the number of their subjects.
        experiments: One for each claimed test.
        told: Called with every result as soon as it is there.
        heard: Called before, with what came of each test.

    Returns:
        A result for each row. One that no worker answered for is unproven.
    """
    verdicts = Verdicts(rows, lab.policy)
    by_number = {experiment.number: experiment for experiment in experiments}
    results: dict[tuple[str, str], Result] = {}
    why: dict[str, str] = {}
    for part in lab.parts(experiments):
        try:
            for tried in lab.conduct(part):
                heard(tried)
                for result in verdicts.add(tried, by_number[tried.experiment]):
                    results[result.key] = result
                    told(result)
        except SessionError as error:
            tests = [test for experiment in part for test in experiment.tests]
            why |= dict.fromkeys(tests, f"pytest could not be run on the copy: {error}")
    for number in verdicts.undecided():
        result = verdicts.result(number, lambda row: _not_answered(row, why))
        results[result.key] = result
        told(result)
    return [results[row.outcome.key] for row in rows.values()]


def _not_answered(row: Row, why: Mapping[str, str]) -> tuple[str, str]:
    """Return a claimed test that nothing was told of, and why."""
    tests = [claim.test for claim in row.claims]
    test = next((each for each in tests if each in why), tests[0])
    return test, why.get(test, "worker lost")
