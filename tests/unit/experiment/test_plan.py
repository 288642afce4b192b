import pytest

from invertgate.experiment.plan import by_test, files_of, in_groups, subjects_of
from invertgate.model import Kind, Outcome, Side, Span


def outcome(line: int, side: Side, kind: Kind = Kind.IF, path: str = "a.py") -> Outcome:
    anchor = Span(line, 3, line, 9)
    return Outcome(path, f"{line:011}{side[0]}", kind, "x", side, "", line, anchor, (line, line))


def test_both_sides_of_a_decision_stand_beside_each_other() -> None:
    some = [outcome(1, Side.TRUE), outcome(1, Side.FALSE), outcome(5, Side.FALSE)]

    files, subjects, slots = subjects_of(some, {"a.py": b"source"}, negate=False)

    assert [subject.slot for subject in subjects] == [0, 1, 3]
    assert [subject.inverted for subject in subjects] == [(0,), (1,), (3,)]
    assert slots == 4
    assert files[0].decisions == (("if", 1, 3, 0), ("if", 5, 3, 2))


def test_negation_inverts_both_sides_of_a_test_and_only_of_a_test() -> None:
    some = [outcome(1, Side.FALSE), outcome(5, Side.HANDLER, Kind.EXCEPT)]

    _, subjects, _ = subjects_of(some, {"a.py": b""}, negate=True)

    assert [subject.inverted for subject in subjects] == [(0, 1), (2,)]


def test_rows_of_one_test_are_one_experiment() -> None:
    some = [outcome(line, Side.TRUE) for line in range(1, 4)]
    _, subjects, _ = subjects_of(some, {"a.py": b""}, negate=False)

    experiments = by_test([(subjects[0], "t::a"), (subjects[1], "t::b"), (subjects[2], "t::a")])

    assert [(each.tests, len(each.subjects)) for each in experiments] == [
        (("t::a",), 2),
        (("t::b",), 1),
    ]


def test_tests_of_one_file_follow_one_another() -> None:
    some = [outcome(line, Side.TRUE) for line in range(1, 4)]
    _, subjects, _ = subjects_of(some, {"a.py": b""}, negate=False)

    experiments = by_test(zip(subjects, ["b.py::x", "a.py::y", "b.py::z"], strict=True))

    assert [each.tests[0] for each in experiments] == ["a.py::y", "b.py::x", "b.py::z"]
    assert [each.number for each in experiments] == [0, 1, 2]


@pytest.mark.parametrize(("rows", "parts"), [(20, 1), (21, 2), (60, 3)])
def test_many_rows_of_one_test_are_spread(rows: int, parts: int) -> None:
    some = [outcome(line, Side.TRUE) for line in range(1, rows + 1)]
    _, subjects, _ = subjects_of(some, {"a.py": b""}, negate=False)

    experiments = by_test([(subject, "t::a") for subject in subjects])

    assert len(experiments) == parts
    assert sum(len(each.subjects) for each in experiments) == rows


def test_files_are_named_once() -> None:
    assert files_of(["a.py::x", "b.py::C::y", "a.py::z[b::c]"]) == ["a.py", "b.py"]


def test_every_test_is_in_one_group() -> None:
    tests = [f"t::{number}" for number in range(60)]

    groups = in_groups(tests)

    assert [test for group in groups for test in group.tests] == tests


def test_groups_hold_tests_of_one_file_each() -> None:
    tests = [f"{file}.py::{number}" for number in range(30) for file in "ab"]

    groups = [group.tests for group in in_groups(tests)]

    assert [files_of(group) for group in groups] == [["a.py"], ["a.py"], ["b.py"], ["b.py"]]
    assert sorted(test for group in groups for test in group) == sorted(tests)
