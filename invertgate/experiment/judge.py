"""Judge a row by what its runs told: values in, a verdict out."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from invertgate.inside.refusals import REFUSED
from invertgate.model import Ending, Killer, Run, Verdict

NO_KILL: Final = {
    "MemoryError": "memory ran out",
    "DeadlineExceeded": "a time limit of Hypothesis was passed",
}
"""Exceptions that tell of the machine and not of the code."""


_OTHER_IDS: Final = (
    "its id is another one in every process (a set, an object); give the parameter one of its own"
)


@dataclass(frozen=True, slots=True)
class Policy:
    """What counts, by the configuration."""

    confirm: int
    """Pairs of a passing control and a failing inverted run that have to agree."""
    assertion_only: bool = False
    """An exception out of the code is no kill."""
    timeout_kills: bool = False
    """Processor time used up twice is a kill."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict, and the sentence that goes with it."""

    verdict: Verdict
    reason: str


def judge(runs: Sequence[Run], policy: Policy) -> Judgement:
    """Judge one row by the runs of one test that claims it.

    Args:
        runs: Controls and inverted runs, in the order in which they were made.
        policy: What counts.
    """
    counted = [run for run in runs if run.counted]
    controls = [run for run in counted if not run.inverted]
    inverted = [run for run in counted if run.inverted]
    green = [run for run in controls if run.ending is Ending.PASSED]
    if not controls:
        return Judgement(Verdict.UNPROVEN, "no control was run")
    if not green or any(run.ending is Ending.NOT_COLLECTED for run in controls):
        return _without_control(controls, runs)
    if len(green) < len(controls):
        return Judgement(Verdict.UNPROVEN, _unstable(controls, inverted))
    if not any(run.reached for run in controls):
        return _not_reached(counted)
    if not inverted:
        return Judgement(Verdict.UNPROVEN, "no inverted run was made")
    return _by_inverted(controls, inverted, policy)


def _without_control(controls: Sequence[Run], runs: Sequence[Run]) -> Judgement:
    """Say why no control passed; a control that could not be run to its end is no red test."""
    last = controls[-1]
    if any(run.ending is Ending.NOT_COLLECTED for run in controls):
        return Judgement(Verdict.UNCOLLECTED, _OTHER_IDS)
    if any(run.ending is Ending.PASSED for run in runs if not run.inverted):
        said = f"unstable: without a mutant it passed in a fork, and then {describe(last)}"
        return Judgement(Verdict.UNPROVEN, said)
    if last.ending in (Ending.LOST, Ending.MEMORY):
        return Judgement(Verdict.UNPROVEN, f"without a mutant: {describe(last)}")
    return Judgement(Verdict.RED, f"without a mutant the test does not pass: {describe(last)}")


def _not_reached(runs: Sequence[Run]) -> Judgement:
    obstacles = [note for run in runs for note in run.notes]
    if obstacles:
        return Judgement(Verdict.UNPROVEN, f"{obstacles[0]}: the outcome may be taken there")
    return Judgement(Verdict.UNREACHED, "the test never takes this outcome")


def _refused(controls: Sequence[Run], inverted: Sequence[Run]) -> str:
    """Say what containment refused inverted code, as the test may have noticed nothing else."""
    notes = [note for run in inverted for note in run.notes if note.startswith(REFUSED)]
    if notes:
        return (
            f"inverted, {notes[0]}: what the test would say of that is not known "
            '(contain = "none" lets it happen)'
        )
    known = {mark for run in controls for mark in run.unwatched}
    if any(is_kill(run) and set(run.unwatched) - known for run in inverted):
        return (
            "inverted, it started a program that only containment may have made fail "
            '(contain = "none" lets it run free)'
        )
    return ""


def _by_inverted(controls: Sequence[Run], inverted: Sequence[Run], policy: Policy) -> Judgement:
    if refused := _refused(controls, inverted):
        return Judgement(Verdict.UNPROVEN, refused)
    kills = [run for run in inverted if is_kill(run)]
    green = [run for run in inverted if run.ending is Ending.PASSED]
    if len(kills) == len(inverted) and all(run.reached for run in controls):
        return _bound(controls, kills, policy)
    if kills or (green and len(green) < len(inverted)):
        return Judgement(Verdict.UNPROVEN, _unstable(controls, inverted))
    if green:
        return _green(controls, green)
    if policy.timeout_kills and _used_up_twice(inverted):
        return Judgement(Verdict.BOUND, "inverted, it used up its processor time, twice")
    return Judgement(Verdict.UNPROVEN, f"inverted: {describe(inverted[-1])}")


def _bound(controls: Sequence[Run], kills: Sequence[Run], policy: Policy) -> Judgement:
    if min(len(controls), len(kills)) < policy.confirm:
        return Judgement(Verdict.UNPROVEN, "the kill was not confirmed")
    first = kills[0]
    if policy.assertion_only and any(run.killer is not Killer.ASSERTION for run in kills):
        return Judgement(
            Verdict.WEAK, f"noticed by no assertion, only by an exception: {describe(first)}"
        )
    return Judgement(Verdict.BOUND, f"killed by {_killer(first)}: {describe(first)}")


def _green(controls: Sequence[Run], green: Sequence[Run]) -> Judgement:
    if not all(run.reached for run in green):
        return Judgement(
            Verdict.UNPROVEN, "unstable: the outcome was taken in the control and not inverted"
        )
    obstacles = [note for run in (*controls, *green) for note in run.notes]
    if obstacles:
        return Judgement(Verdict.UNPROVEN, f"{obstacles[0]}: it ran without the mutant")
    return Judgement(Verdict.WEAK, "the outcome was inverted and the test stayed green")


def is_kill(run: Run) -> bool:
    """Tell whether an inverted run noticed: failed in its call phase, with the point passed."""
    return run.ending is Ending.FAILED and run.reached and run.exception not in NO_KILL


def _used_up_twice(inverted: Sequence[Run]) -> bool:
    return len(inverted) > 1 and all(run.ending is Ending.CPU and run.reached for run in inverted)


def _killer(run: Run) -> str:
    return "an assertion" if run.killer is Killer.ASSERTION else "an exception"


def _unstable(controls: Sequence[Run], inverted: Sequence[Run]) -> str:
    passed = sum(run.ending is Ending.PASSED for run in controls)
    killed = sum(is_kill(run) for run in inverted)
    return (
        f"unstable: {passed} of {len(controls)} controls passed, "
        f"{killed} of {len(inverted)} inverted runs failed"
    )


def describe(run: Run) -> str:
    """Say in one line how a run ended."""
    said = run.ending.value
    if run.ending is Ending.FAILED and not run.reached and run.inverted:
        return "it failed without passing the inverted point"
    if run.exception in NO_KILL:
        said = NO_KILL[run.exception]
    elif run.ending is Ending.ERROR:
        said = f"error in {run.phase}"
    elif run.ending is Ending.FAILED:
        said = "failed"
    first_line = run.message.strip().split("\n", 1)[0][:160]
    detail = ": ".join(part for part in (run.exception, first_line) if part)
    where = f" at {run.where}" if run.where else ""
    return f"{said} ({detail}{where})" if detail else f"{said}{where}"
