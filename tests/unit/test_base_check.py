from dataclasses import replace

from invertgate.base_check import worth_asking
from invertgate.model import Ending, Result, Run, Verdict

TEST = "tests/test_shop.py::test_total"
GREEN = Run(TEST, inverted=False, ending=Ending.PASSED, reached=True)
ALONE = replace(GREEN, cold=True)
RED = replace(GREEN, ending=Ending.FAILED)
KILL = Run(TEST, inverted=True, ending=Ending.FAILED, reached=True)


def judged(*runs: Run) -> Result:
    return Result("shop.py", "0" * 12, Verdict.BOUND, test=TEST, runs=runs)


def test_test_that_passes_in_a_fork_is_asked_in_one() -> None:
    assert worth_asking([judged(GREEN, KILL), judged(GREEN, ALONE)]) == {TEST: False}


def test_test_that_passes_only_in_a_process_of_its_own_is_asked_in_one() -> None:
    assert worth_asking([judged(replace(GREEN, counted=False), ALONE, KILL)]) == {TEST: True}


def test_test_that_needs_a_process_of_its_own_for_one_row_gets_it() -> None:
    assert worth_asking([judged(GREEN), judged(ALONE)]) == {TEST: True}


def test_test_that_is_red_or_was_not_run_is_not_asked() -> None:
    assert worth_asking([judged(RED), judged()]) == {}
