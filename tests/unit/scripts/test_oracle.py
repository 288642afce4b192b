import json
from collections import Counter
from pathlib import Path

import oracle
import pytest
from _trial import Ending, Trial, ending_of
from oracle import NOT_BOUND, Answer, Question, read_questions, sample, summary, verdict_of

PASSED = Trial(Ending.PASSED, imported=True)
FAILED = Trial(Ending.FAILED, imported=True)
TAKEN = Trial(Ending.PASSED, imported=True, marked=True)
UNSEEN = Trial(Ending.PASSED)


def row(verdict: str = "bound", **more: object) -> dict[str, object]:
    return {
        "path": "shop.py",
        "kind": "if",
        "side": "true",
        "line": 2,
        "predicate": "x",
        "test": "test_shop.py::test_x",
        "verdict": verdict,
        **more,
    }


def question(verdict: str, side: str = "true") -> Question:
    return Question("shop.py", "if", side, None, 2, "x", "test_shop.py::test_x", verdict)


@pytest.mark.parametrize(
    ("control", "marked", "inverted", "negated", "verdict"),
    [
        (PASSED, None, FAILED, False, "bound"),
        (PASSED, TAKEN, PASSED, False, "weak"),
        (PASSED, PASSED, PASSED, False, "unreached"),
        (PASSED, UNSEEN, UNSEEN, False, "unreached"),
        (FAILED, None, None, False, "red"),
        (Trial(Ending.SKIPPED), None, None, False, "red"),
        (Trial(Ending.TIMEOUT), None, None, False, "unproven"),
        (PASSED, None, Trial(Ending.TIMEOUT, imported=True), False, "unproven"),
        (PASSED, None, Trial(Ending.ERROR, imported=True), False, "unproven"),
        (PASSED, None, Trial(Ending.NO_REPORT), False, "unproven"),
        (PASSED, None, Trial(Ending.FAILED, "a.py:2: MemoryError", True), False, "unproven"),
        (PASSED, PASSED, FAILED, True, "unreached"),
        (PASSED, TAKEN, FAILED, True, "bound"),
        (PASSED, TAKEN, Trial(Ending.FAILED), False, "bound"),
        (PASSED, UNSEEN, Trial(Ending.FAILED), False, "not imported"),
        (PASSED, UNSEEN, Trial(Ending.PASSED, foreign="/shop.py"), False, "not imported"),
    ],
)
def test_runs_amount_to_a_verdict(
    control: Trial, marked: Trial | None, inverted: Trial | None, negated: bool, verdict: str
) -> None:
    assert verdict_of(control, marked, inverted, negated=negated)[0] == verdict


def report(when: str, outcome: str = "passed", *, xfail: bool = False) -> dict[str, object]:
    return {"test": "t", "when": when, "outcome": outcome, "xfail": xfail, "message": "why"}


@pytest.mark.parametrize(
    ("entries", "ending"),
    [
        ([report("setup"), report("call"), report("teardown")], Ending.PASSED),
        ([report("setup"), report("call", "failed"), report("teardown")], Ending.FAILED),
        (
            [report("setup"), report("call", "failed"), report("call"), report("teardown")],
            Ending.FAILED,
        ),
        ([report("setup"), report("call", "failed"), report("teardown", "failed")], Ending.FAILED),
        ([report("setup", "failed"), report("teardown")], Ending.ERROR),
        ([report("setup"), report("call"), report("teardown", "failed")], Ending.ERROR),
        ([report("setup", "skipped"), report("teardown")], Ending.SKIPPED),
        ([report("setup"), report("call", "skipped", xfail=True)], Ending.XFAILED),
        ([report("setup"), report("call", xfail=True), report("teardown")], Ending.XPASSED),
        ([report("setup"), report("call")], Ending.NO_REPORT),
        ([], Ending.NO_REPORT),
        ([{"imported": []}, {**report("call"), "test": "other"}], Ending.NO_REPORT),
    ],
)
def test_all_reports_of_a_test_decide_how_it_ended(
    entries: list[dict[str, object]], ending: Ending
) -> None:
    assert ending_of(entries, "t")[0] is ending


def test_rows_that_were_not_run_are_counted_and_not_asked() -> None:
    document = {"rows": [row(), row("unbound", test=""), row("exempt"), row("red", test=None)]}

    questions, skipped = read_questions(document)

    assert [question.verdict for question in questions] == ["bound"]
    assert skipped == Counter({"unbound": 1, "exempt": 1, "red": 1})


def test_anchor_operator_and_project_are_read_from_the_report() -> None:
    anchor = {"line": 2, "column": 7, "end_line": 2, "end_column": 8}
    document = {"operator": "negate", "rows": [row(anchor=anchor, project="svc")]}

    (read,), _ = read_questions(document)

    assert (read.anchor, read.operator, read.project) == ((2, 7, 2, 8), "negate", "svc")


def test_weak_tests_of_a_bound_row_are_asked_on_demand() -> None:
    document = {"rows": [row(weak_tests=["test_shop.py::test_y"])]}

    questions, _ = read_questions(document, weak_tests=True)

    assert [(each.test, each.verdict) for each in questions] == [
        ("test_shop.py::test_x", "bound"),
        ("test_shop.py::test_y", "weak"),
    ]


def test_tests_that_came_closest_may_say_anything_but_bound() -> None:
    document = {"unkilled": [{"outcome": row(), "nearest": ["test_shop.py::test_y"]}]}

    (read,), _ = read_questions(document)

    assert (read.test, read.verdict) == ("test_shop.py::test_y", NOT_BOUND)
    assert Answer(read, "weak").agrees
    assert not Answer(read, "bound").agrees


def test_sample_is_repeatable_and_holds_the_rare_sorts() -> None:
    questions = [question("bound", side) for side in ["true", "false"] * 50] + [question("weak")]

    drawn = sample(questions, 3, seed=1)

    assert drawn == sample(questions, 3, seed=1)
    assert {(each.verdict, each.side) for each in drawn} == {
        ("bound", "true"),
        ("bound", "false"),
        ("weak", "true"),
    }
    assert sample(questions, None, seed=1) == sample(questions, 1000, seed=1) == questions


def test_summary_counts_what_was_judged_and_what_was_not() -> None:
    answers = [
        Answer(question("bound"), "bound"),
        Answer(question("bound"), "weak"),
        Answer(question("bound"), "", "no text"),
    ]

    text = summary(answers, 5, Counter({"exempt": 2}))

    assert text == (
        "oracle: 2 rows judged (1 bound, 1 weak), 1 disagreements"
        "; not judged: 2 exempt, 2 not in the sample, 1 not writable as text"
    )


def test_disagreement_is_shown_with_its_runs() -> None:
    answer = Answer(question("bound"), "weak", "", PASSED, TAKEN, PASSED)

    text = oracle.describe(answer)

    assert "shop.py:2 if/true x" in text
    assert "the gate says bound" in text
    assert "the oracle says weak" in text
    assert "marked: passed in 0.0 s, edited file imported, outcome taken" in text


def test_report_that_cannot_be_read_is_a_usage_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert oracle.main([str(tmp_path)]) == 2
    assert "no report can be read" in capsys.readouterr().err


def test_project_outside_of_git_is_a_usage_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pairs = tmp_path / "pairs.json"
    pairs.write_text(json.dumps([row()]), "utf-8")

    assert oracle.main([str(tmp_path), "--pairs", str(pairs)]) == 2
    assert "no git repository" in capsys.readouterr().err
