import ast
import json
from collections.abc import Mapping
from typing import Any

import pytest
from _environments import ScriptError
from _measures import (
    Measure,
    Session,
    as_json,
    distinct_runs,
    median,
    per_row,
    per_run,
    session,
    table,
    warm_rows,
)
from _workloads import FUNCTIONS, MODULE, environ, step, step_rows, step_test

from invertgate.model import ChangedFile
from invertgate.outcomes.identity import new_outcomes


def run(
    cpu: float, *, inverted: bool = False, cold: bool = False, test: str = "t"
) -> dict[str, Any]:
    return {"test": test, "cpu": cpu, "seconds": 2 * cpu, "inverted": inverted, "cold": cold}


def row(*runs: Mapping[str, Any], verdict: str = "bound") -> dict[str, Any]:
    return {"verdict": verdict, "runs": list(runs)}


def test_measure_at_its_limit_is_ok() -> None:
    assert Measure("ratio", 1.5, "x", 1.5).ok
    assert not Measure("ratio", 1.51, "x", 1.5).ok


def test_measure_at_least_is_broken_below_its_limit() -> None:
    assert Measure("cheaper", 20, "x", 20, at_least=True).ok
    assert not Measure("cheaper", 19.9, "x", 20, at_least=True).ok


def test_measure_without_limit_is_ok() -> None:
    assert Measure("runs", 1e9, "").ok


def test_measure_that_is_no_number_is_broken() -> None:
    assert not Measure("ratio", float("nan"), "x", 1.5).ok


def test_shared_control_counts_once() -> None:
    control = run(0.01)
    rows = [
        row(control, run(0.02, inverted=True)),
        row({**control, "reached": False}, run(0.03, inverted=True)),
    ]

    assert [each["cpu"] for each in distinct_runs(rows)] == [0.01, 0.02, 0.03]


def test_equal_inverted_runs_of_two_rows_count_twice() -> None:
    rows = [row(run(0.02, inverted=True)), row(run(0.02, inverted=True))]

    assert len(distinct_runs(rows)) == 2


def test_controls_of_two_tests_count_twice() -> None:
    rows = [row(run(0.01, test="a")), row(run(0.01, test="b"))]

    assert len(distinct_runs(rows)) == 2


def test_session_tells_runs_in_forks_apart() -> None:
    report = {"rows": [row(run(0.01), run(0.02, inverted=True), run(0.5, cold=True))]}

    assert session(report, cpu=2.0) == Session(cpu=2.0, rows=1, runs=3, warm=(0.01, 0.02))


def test_warm_rows_are_bound_and_need_no_fresh_process() -> None:
    warm = row(run(0.01), run(0.02, inverted=True))
    report = {
        "rows": [
            warm,
            row(run(0.01), run(0.02, inverted=True), verdict="weak"),
            row(run(0.5, cold=True), run(0.5, inverted=True, cold=True)),
        ]
    }

    assert warm_rows(report) == [warm]


def test_row_and_run_cost_the_difference_of_two_sessions() -> None:
    few, many = Session(2.0, 10, 30, ()), Session(6.0, 110, 330, ())

    assert per_row(few, many) == pytest.approx(0.04)
    assert per_run(few, many) == pytest.approx(4 / 300)


def test_sessions_of_equal_size_give_no_cost() -> None:
    same = Session(2.0, 10, 30, ())

    with pytest.raises(ScriptError, match="do not differ"):
        per_row(same, same)


def test_median_is_not_moved_by_one_bad_turn() -> None:
    assert median([1.0, 1.1, 50.0]) == 1.1


def test_table_names_value_limit_and_what_is_broken() -> None:
    shown = table("start", [Measure("run", 3.456, "x", 3.0), Measure("git", 12.0, "ms")])

    assert shown.splitlines() == [
        "start",
        "  measured     value  limit",
        "  run         3.46 x    ≤ 3  BROKEN",
        "  git       12.00 ms",
    ]


def test_json_says_of_each_measure_whether_it_is_ok() -> None:
    told = json.loads(as_json({"start": [Measure("run", 3.5, "x", 3.0)]}))

    assert told == {
        "start": [
            {
                "name": "run",
                "value": 3.5,
                "unit": "x",
                "limit": 3.0,
                "at_least": False,
                "ok": False,
            }
        ]
    }


def test_generated_table_is_exactly_what_the_gate_lists() -> None:
    source = "".join(map(step, range(FUNCTIONS))).encode()
    listed = new_outcomes([ChangedFile(MODULE, None, None, source, frozenset())]).outcomes
    rows = [each for number in range(FUNCTIONS) for each in step_rows(number)]

    assert [(each.id, each.predicate, str(each.side)) for each in listed] == [
        (each["id"], each["predicate"], each["side"]) for each in rows
    ]


def test_generated_test_notices_either_side() -> None:
    module: dict[str, Any] = {}
    exec(step(3), module)  # noqa: S102 (our own text)

    assert (module["step_3"](4), module["step_3"](3)) == ("above", "below")
    (function,) = ast.parse(step_test(3)).body
    assert isinstance(function, ast.FunctionDef)
    assert [type(statement) for statement in function.body] == [ast.Assert]


def test_environment_of_a_user_keeps_bytecode(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.setenv("GIT_DIR", "/elsewhere")

    assert {"PYTHONDONTWRITEBYTECODE", "GIT_DIR"} & environ().keys() == set()
