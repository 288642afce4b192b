import pytest

from invertgate.errors import ExitCode
from invertgate.tryout import judged

TEST = "tests/test_shop.py::test_total"


def told(*reports: tuple[str, str], failures: int = 0, expected: bool = False) -> dict[str, object]:
    made = [
        {"test": TEST, "phase": phase, "outcome": outcome, "expected": expected, "message": ""}
        for phase, outcome in reports
    ]
    return {
        "tests": [TEST],
        "reports": made[: len(made) - failures],
        "failures": made[len(made) - failures :],
        "errors": [],
    }


@pytest.mark.parametrize(
    ("said", "code"),
    [
        (told(("setup", "passed"), ("call", "failed"), ("teardown", "passed")), ExitCode.OK),
        (told(("setup", "passed"), ("call", "failed"), failures=1), ExitCode.OK),
        (told(("setup", "passed"), ("call", "passed"), ("teardown", "passed")), ExitCode.FINDINGS),
        (told(("setup", "failed"), ("teardown", "passed")), ExitCode.UNPROVEN),
        (told(("setup", "passed"), ("call", "passed"), ("teardown", "failed")), ExitCode.UNPROVEN),
        (told(("setup", "skipped"), ("teardown", "passed")), ExitCode.UNPROVEN),
        (told(("call", "failed"), expected=True), ExitCode.UNPROVEN),
        ({"tests": [], "reports": [], "failures": [], "errors": []}, ExitCode.UNPROVEN),
        (None, ExitCode.UNPROVEN),
    ],
)
@pytest.mark.parametrize("ended", [0, 1, 4])
def test_reports_of_the_test_decide_and_no_exit_code(
    said: dict[str, object] | None, code: ExitCode, ended: int
) -> None:
    assert judged(said, ended).exit_code is code


def test_collection_errors_are_quoted() -> None:
    said = {"tests": [], "reports": [], "failures": [], "errors": ["t.py: ImportError: no shop"]}

    assert "ImportError: no shop" in judged(said, 2).said
