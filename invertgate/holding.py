"""Hold inverted code as far as the machine grants and each test can bear."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from invertgate.experiment import session
from invertgate.experiment.plan import Experiment, in_groups
from invertgate.experiment.session import Place
from invertgate.experiment.told import SessionError, Tried
from invertgate.inside.budget import Options
from invertgate.inside.refusals import REFUSED
from invertgate.isolation.contain import Held, launcher
from invertgate.model import Ending, Run
from invertgate.options import Contain

_TELLING: Final = (
    "Read-only file system",
    "readonly database",
    "Network is unreachable",
    "Temporary failure in name resolution",
    "Cannot assign requested address",
)
"""How the system words what containment refuses, also to code that is no Python."""


@dataclass(frozen=True, slots=True)
class Bench:
    """Where and how experiments are carried out."""

    place: Place
    options: Options
    external: Sequence[str]
    """Globs of tests that are never run."""
    tests: Sequence[str]
    """Files and folders to be collected, relative to the project."""


def conduct(
    bench: Bench, held: Held, experiments: Sequence[Experiment], notes: list[str]
) -> Generator[Tried]:
    """Carry out experiments under the strongest level, and those again that cannot bear it.

    A test cannot bear a level if without an inversion it fails there, or is refused something, and
    passes where nothing is refused. It is tried again under the next level, if there is one.

    Args:
        bench: Where and how.
        held: The levels.
        experiments: What.
        notes: Gets a line for the tests that had to be held less.

    Raises:
        SessionError: pytest ended before all experiments were carried out.
    """
    numbered = {experiment.number: experiment for experiment in experiments}
    waiting, free = list(experiments), set[str]()
    for level, weaker in zip(held.levels, (*held.levels[1:], None), strict=True):
        spoiled: list[Tried] = []
        answered: set[int] = set()
        try:
            for tried in _under(bench, level, waiting):
                answered.add(tried.experiment)
                if level is not Contain.NONE and _is_spoiled(tried):
                    spoiled.append(tried)
                else:
                    yield tried
        except SessionError as error:
            if weaker is None:
                raise _named(error, level) from error
        lost = [experiment for experiment in waiting if experiment.number not in answered]
        free |= _passing(bench, {tried.test for tried in spoiled} - free)
        for tried in spoiled:
            if tried.test not in free:
                yield tried
            elif weaker is None:
                yield replace(tried, held=str(level))
        freed = [tried for tried in spoiled if tried.test in free]
        waiting = lost + [replace(numbered[each.experiment], tests=(each.test,)) for each in freed]
        if weaker is None or not waiting:
            return
        notes += _told(level, weaker, freed, lost)


def _under(bench: Bench, level: Contain, experiments: Sequence[Experiment]) -> Generator[Tried]:
    place = replace(bench.place, launcher=launcher(level, bench.place.scratch))
    for tried in session.conduct(place, experiments, bench.options, bench.external, bench.tests):
        yield tried if level is Contain.NONE else _with_refusals(tried)


def _passing(bench: Bench, tests: set[str]) -> set[str]:
    """Return those tests that pass where nothing is inverted and nothing refused."""
    if not tests:
        return set()
    place = replace(bench.place, launcher=())
    try:
        looked = session.look(place, in_groups(sorted(tests)), bench.options, bench.tests)
        return {taken.test for taken in looked if taken.passed}
    except SessionError:
        return set()


def _is_spoiled(tried: Tried) -> bool:
    """Tell whether containment may be to blame: no control passes, or one is refused something."""
    if tried.stand:
        return tried.stand == "collection error"
    controls = [run for runs in tried.runs.values() for run in runs if not run.inverted]
    refused = any(note.startswith(REFUSED) for run in controls for note in run.notes)
    return refused or not any(run.ending is Ending.PASSED for run in controls)


def _with_refusals(tried: Tried) -> Tried:
    """Note refusals that only the message of an exception tells of."""
    runs = {number: tuple(map(_with_refusal, of_row)) for number, of_row in tried.runs.items()}
    return replace(tried, runs=runs)


def _with_refusal(run: Run) -> Run:
    said = next((words for words in _TELLING if words in run.message), "")
    if not said or any(note.startswith(REFUSED) for note in run.notes):
        return run
    return replace(run, notes=(*run.notes, f'{REFUSED}something ("{said}")'))


def _named(error: SessionError, level: Contain) -> SessionError:
    if level is Contain.NONE:
        return error
    return SessionError(f'{error} (it was held by contain = "{level}")')


def _told(
    level: Contain, weaker: Contain, freed: Sequence[Tried], lost: Sequence[Experiment]
) -> list[str]:
    names = sorted({each.test for each in freed} | {test for each in lost for test in each.tests})
    if not names:
        return []
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return [
        f'{names[0]}{more} cannot be run under contain = "{level}": tried again with "{weaker}"'
    ]
