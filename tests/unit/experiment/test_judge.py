from dataclasses import replace

import pytest

from invertgate.experiment.judge import Policy, judge
from invertgate.inside.refusals import REFUSED
from invertgate.model import Ending, Killer, Run, Verdict

POLICY = Policy(confirm=2)
CONTROL = Run("t", inverted=False, ending=Ending.PASSED, reached=True)
KILL = Run(
    "t",
    inverted=True,
    ending=Ending.FAILED,
    phase="call",
    exception="AssertionError",
    killer=Killer.ASSERTION,
    reached=True,
)
GREEN = replace(KILL, ending=Ending.PASSED, exception="", killer=None, phase="")
BOUND = (CONTROL, KILL, KILL, CONTROL)


def verdict(*runs: Run, policy: Policy = POLICY) -> Verdict:
    return judge(runs, policy).verdict


def test_agreeing_pairs_bind() -> None:
    assert judge(BOUND, POLICY).verdict is Verdict.BOUND
    assert judge(BOUND, POLICY).reason == "killed by an assertion: failed (AssertionError)"


def test_one_pair_is_not_enough_where_two_are_asked_for() -> None:
    assert verdict(CONTROL, KILL) is Verdict.UNPROVEN
    assert verdict(CONTROL, KILL, policy=Policy(confirm=1)) is Verdict.BOUND


def test_green_is_weak() -> None:
    assert verdict(CONTROL, GREEN) is Verdict.WEAK


def test_not_taken_is_unreached() -> None:
    assert verdict(replace(CONTROL, reached=False)) is Verdict.UNREACHED


@pytest.mark.parametrize("note", ["child without the switch", "executed without being woven"])
def test_what_cannot_be_seen_is_neither_unreached_nor_weak(note: str) -> None:
    blind = replace(CONTROL, reached=False, notes=(note,))

    assert verdict(blind) is Verdict.UNPROVEN
    assert verdict(CONTROL, replace(GREEN, notes=(note,))) is Verdict.UNPROVEN


@pytest.mark.parametrize(
    "ending",
    [
        Ending.FAILED,
        Ending.ERROR,
        Ending.SKIPPED,
        Ending.XFAILED,
        Ending.XPASSED,
        Ending.NO_REPORT,
        Ending.WALL,
        Ending.SIGNAL,
        Ending.COLLECTION_ERROR,
    ],
)
def test_control_that_does_not_pass_is_red(ending: Ending) -> None:
    assert verdict(replace(CONTROL, ending=ending)) is Verdict.RED


@pytest.mark.parametrize("ending", [Ending.LOST, Ending.MEMORY])
def test_control_that_could_not_be_run_is_no_red_test(ending: Ending) -> None:
    assert verdict(replace(CONTROL, ending=ending)) is Verdict.UNPROVEN


@pytest.mark.parametrize(
    "ending", [ending for ending in Ending if ending not in (Ending.FAILED, Ending.PASSED)]
)
def test_no_other_ending_is_a_kill(ending: Ending) -> None:
    odd = replace(KILL, ending=ending)

    assert verdict(CONTROL, odd, odd, CONTROL) is Verdict.UNPROVEN


@pytest.mark.parametrize("exception", ["MemoryError", "DeadlineExceeded"])
def test_failure_that_tells_of_the_machine_is_no_kill(exception: str) -> None:
    odd = replace(KILL, exception=exception)

    assert verdict(CONTROL, odd, odd, CONTROL) is Verdict.UNPROVEN


def test_failure_without_passing_the_point_is_no_kill() -> None:
    odd = replace(KILL, reached=False)

    assert verdict(CONTROL, odd, odd, CONTROL) is Verdict.UNPROVEN


@pytest.mark.parametrize(
    "runs",
    [
        (CONTROL, KILL, GREEN, CONTROL),
        (CONTROL, KILL, KILL, replace(CONTROL, ending=Ending.FAILED)),
        (CONTROL, KILL, KILL, replace(CONTROL, reached=False)),
        (CONTROL, KILL, replace(KILL, ending=Ending.WALL), CONTROL),
    ],
)
def test_what_stays_mixed_is_unstable(runs: tuple[Run, ...]) -> None:
    judgement = judge(runs, POLICY)

    assert judgement.verdict is Verdict.UNPROVEN
    assert judgement.reason.startswith("unstable: ")


def test_runs_that_are_set_aside_do_not_count() -> None:
    aside = replace(CONTROL, ending=Ending.SIGNAL, counted=False)

    assert verdict(aside, *BOUND) is Verdict.BOUND


def test_control_that_passed_in_a_fork_and_fails_elsewhere_is_no_red_test() -> None:
    aside = replace(CONTROL, counted=False)

    assert verdict(aside, replace(CONTROL, ending=Ending.FAILED)) is Verdict.UNPROVEN


def test_exception_out_of_the_code_is_no_kill_where_only_assertions_are() -> None:
    odd = replace(KILL, exception="TypeError", killer=Killer.EXCEPTION)
    strict = Policy(confirm=2, assertion_only=True)

    assert verdict(CONTROL, odd, odd, CONTROL) is Verdict.BOUND
    assert verdict(CONTROL, odd, odd, CONTROL, policy=strict) is Verdict.WEAK


def test_processor_time_used_up_twice_is_a_kill_only_by_policy() -> None:
    odd = replace(KILL, ending=Ending.CPU)
    lenient = Policy(confirm=2, timeout_kills=True)

    assert verdict(CONTROL, odd, odd) is Verdict.UNPROVEN
    assert verdict(CONTROL, odd, odd, policy=lenient) is Verdict.BOUND
    assert verdict(CONTROL, odd, policy=lenient) is Verdict.UNPROVEN
    assert verdict(CONTROL, replace(odd, ending=Ending.WALL), odd, policy=lenient) is (
        Verdict.UNPROVEN
    )


def test_nothing_run_is_unproven() -> None:
    assert verdict() is Verdict.UNPROVEN
    assert verdict(CONTROL) is Verdict.UNPROVEN


def test_kill_of_a_run_that_containment_refused_something_is_unproven() -> None:
    refused = replace(KILL, notes=(f"{REFUSED}removing /srv/precious",))

    judgement = judge((CONTROL, refused, refused, CONTROL), POLICY)

    assert judgement.verdict is Verdict.UNPROVEN
    assert "kept it from removing /srv/precious" in judgement.reason


def test_green_run_that_containment_refused_something_is_not_weak() -> None:
    assert verdict(CONTROL, replace(GREEN, notes=(f"{REFUSED}x",))) is Verdict.UNPROVEN


def test_kill_counts_if_the_control_started_the_same_programs_under_containment() -> None:
    control, kill = replace(CONTROL, unwatched=(1, 2)), replace(KILL, unwatched=(2,))

    assert verdict(control, kill, kill, control) is Verdict.BOUND


def test_kill_does_not_count_if_only_the_inverted_run_started_a_program_under_containment() -> None:
    kill = replace(KILL, unwatched=(7,))

    assert verdict(CONTROL, kill, kill, CONTROL) is Verdict.UNPROVEN
    assert verdict(CONTROL, replace(GREEN, unwatched=(7,))) is Verdict.WEAK
