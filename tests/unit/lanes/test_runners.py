import sys
from collections.abc import Mapping
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from invertgate.lanes.properties import Property
from invertgate.lanes.runners import (
    Commanded,
    Finding,
    Room,
    Token,
    executables_in,
    judged_answer,
    judged_reports,
    run_all,
)
from invertgate.process import Answer, Cut

TOTAL = Property("total", "It adds up.", 2, ("**",), "p.py::prop_total")
TEST = "p.py::prop_total"


def told(*reports: Mapping[str, Any], tests: tuple[str, ...] = (TEST,)) -> dict[str, Any]:
    return {"tests": list(tests), "reports": list(reports), "errors": []}


def report(phase: str, outcome: str = "passed", **changed: object) -> dict[str, Any]:
    usual = {"test": TEST, "phase": phase, "outcome": outcome, "expected": False, "message": ""}
    return {**usual, **changed}


def passing(test: str = TEST) -> list[dict[str, Any]]:
    return [report(phase, test=test) for phase in ("setup", "call", "teardown")]


@pytest.mark.parametrize(
    ("answer", "token", "reason"),
    [
        (Answer(0, b"hold\n", b""), Token.HOLD, ""),
        (Answer(0, b"  fail", b""), Token.FAIL, ""),
        (
            Answer(0, b"hold please\n", b""),
            Token.UNRESOLVED,
            "neither hold nor fail: 'hold please'",
        ),
        (Answer(0, b"HOLD\n", b""), Token.UNRESOLVED, "neither hold nor fail"),
        (Answer(0, b"hold\nhold\n", b""), Token.UNRESOLVED, "neither hold nor fail"),
        (Answer(0, b"unresolved\n", b""), Token.UNRESOLVED, "neither hold nor fail"),
        (Answer(0, b"\xff", b""), Token.UNRESOLVED, "neither hold nor fail"),
        (Answer(0, b"", b""), Token.UNRESOLVED, "no word on standard output"),
        (Answer(1, b"hold\n", b"oh no\n"), Token.UNRESOLVED, "exit code 1: oh no"),
        (Answer(1, b"fail\n", b""), Token.UNRESOLVED, "exit code 1: fail"),
        (Answer(-9, b"hold\n", b""), Token.UNRESOLVED, "ended by signal 9"),
        (Answer(-15, b"hold\n", b"", Cut.LATE), Token.UNRESOLVED, "no answer in 5 seconds"),
        (Answer(-15, b"hold", b"", Cut.FLOOD), Token.UNRESOLVED, "more than 4 bytes of output"),
    ],
)
def test_only_a_plain_answer_and_a_clean_end_are_an_answer(
    answer: Answer, token: Token, reason: str
) -> None:
    found = judged_answer("total", answer, 5.0)

    assert found.token is token
    assert found.reason.startswith(reason)


def test_a_test_that_passes_in_all_phases_holds() -> None:
    assert judged_reports("total", TEST, told(*passing())) == Finding("total", Token.HOLD)


def test_a_failure_in_the_call_phase_is_a_fail() -> None:
    reports = [report("setup"), report("call", "failed", message="assert 1 == 2")]

    found = judged_reports("total", TEST, told(*reports, report("teardown")))

    assert found == Finding("total", Token.FAIL, "assert 1 == 2")


def test_one_failing_parameter_fails_the_property() -> None:
    tests = (TEST + "[1]", TEST + "[2]")
    reports = [*passing(tests[0]), report("call", "failed", test=tests[1])]

    assert judged_reports("total", TEST, told(*reports, tests=tests)).token is Token.FAIL


@pytest.mark.parametrize(
    ("reports", "reason"),
    [
        ([], "only to no phase"),
        ([report("setup", "failed", message="no database")], "failed no database"),
        ([report("setup", "skipped"), report("teardown")], "skipped"),
        ([report("setup"), report("call")], "only to call"),
        ([report("setup"), report("call", "skipped"), report("teardown")], "skipped in its call"),
        ([report("setup"), report("call"), report("teardown", "failed")], "failed in its teardown"),
        (
            [report("setup"), report("call", "failed", expected=True), report("teardown")],
            "expected to fail",
        ),
        (
            [report("setup"), report("call", expected=True), report("teardown")],
            "expected to fail",
        ),
    ],
)
def test_anything_else_is_unresolved(reports: list[dict[str, Any]], reason: str) -> None:
    found = judged_reports("total", TEST, told(*reports))

    assert found.token is Token.UNRESOLVED
    assert reason in found.reason


def test_one_parameter_that_is_skipped_leaves_the_property_unresolved() -> None:
    tests = (TEST + "[1]", TEST + "[2]")
    reports = [*passing(tests[0]), report("setup", "skipped", test=tests[1])]

    assert judged_reports("total", TEST, told(*reports, tests=tests)).token is Token.UNRESOLVED


def test_a_test_that_is_not_collected_is_unresolved_with_the_error() -> None:
    nothing = {"tests": ["p.py::prop_total_2"], "reports": [], "errors": ["p.py: SyntaxError"]}

    found = judged_reports("total", TEST, nothing)

    assert found.reason == "pytest collects no p.py::prop_total; p.py: SyntaxError"


def room(folder: Path) -> Room:
    return Room(folder, {}, folder / "answer.json")


def command(script: str, seconds: float = 20.0) -> Commanded:
    return Commanded((sys.executable, "-c", script), "0" * 64, "diff --git é", seconds)


def test_the_question_is_json_on_standard_input(tmp_path: Path) -> None:
    script = (
        "import json, sys; told = json.load(sys.stdin);"
        "open('told', 'w').write(repr(sorted(told.items()))); print('hold')"
    )

    assert command(script)(TOTAL, room(tmp_path)).token is Token.HOLD
    assert (tmp_path / "told").read_text(encoding="utf-8") == repr(
        [
            ("fixture_sha256", "0" * 64),
            ("patch", "diff --git é"),
            ("property", "total"),
            ("statement", "It adds up."),
        ]
    )


def test_an_executable_that_is_not_there_is_unresolved(tmp_path: Path) -> None:
    missing = Commanded(("no-such-runner",), "", "", 1.0)

    assert "no-such-runner cannot be started" in missing(TOTAL, room(tmp_path)).reason


def test_one_that_misbehaves_does_not_touch_the_others(tmp_path: Path) -> None:
    scripts: dict[str, tuple[str, float]] = {
        "hangs": ("import time; time.sleep(60)", 0.5),
        "floods": ("while True: print('hold' * 1000)", 20.0),
        "chats": ("print('hold please')", 20.0),
        "dies": ("import os; print('hold', flush=True); os.kill(os.getpid(), 9)", 20.0),
        "holds": ("print('hold')", 20.0),
        "fails": ("print('fail')", 20.0),
    }

    def runner(stated: Property, where: Room) -> Finding:
        script, seconds = scripts[stated.id]
        return command(script, seconds)(stated, where)

    jobs = [(Property(name, "", 1, ()), room(tmp_path)) for name in scripts]
    found = run_all(jobs, runner, 3, lambda: None)

    assert {each.id: each.token.value for each in found} == {
        "hangs": "unresolved",
        "floods": "unresolved",
        "chats": "unresolved",
        "dies": "unresolved",
        "holds": "hold",
        "fails": "fail",
    }


def test_what_was_started_is_abandoned_when_a_runner_breaks(tmp_path: Path) -> None:
    is_abandoned = Event()

    def runner(_: Property, where: Room) -> Finding:
        if where.folder == tmp_path:
            raise ZeroDivisionError
        is_abandoned.wait(20)
        return Finding("total", Token.HOLD)

    jobs = [(TOTAL, room(tmp_path)), (TOTAL, room(tmp_path / "other")), (TOTAL, room(tmp_path))]
    with pytest.raises(ZeroDivisionError):
        run_all(jobs, runner, 2, is_abandoned.set)

    assert is_abandoned.is_set()


def test_files_of_the_repository_in_a_command_are_known(tmp_path: Path) -> None:
    tmp_path.joinpath("ask.py").touch()

    found = executables_in(("python", "./ask.py", "/bin/sh", "no.py"), tmp_path, tmp_path)

    assert found == {"ask.py"}
