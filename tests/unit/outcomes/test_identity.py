from dataclasses import replace

from invertgate.model import Kind, OutcomeList, Side
from invertgate.outcomes.identity import new_outcomes
from support.changed_files import changed

GUARD = "    if x is None:\n        return 0\n"
A = f"def a(x):\n{GUARD}    return x\n"
B = "def b(x):\n    if x is None:\n        raise ValueError\n    return x\n"
HANDLER = "    try:\n        return d[k]\n    except KeyError:\n        return None\n"


def test_every_outcome_of_a_new_file_is_new() -> None:
    listed = new_outcomes([changed(None, A + B)])

    assert [outcome.scope for outcome in listed.outcomes] == ["a", "a", "b", "b"]
    assert (listed.files_examined, listed.outcomes_examined) == (1, 4)


def test_unchanged_outcomes_are_examined_and_not_new() -> None:
    listed = new_outcomes([changed(A, A.replace("return x", "return x + 1"))])

    assert listed.outcomes == ()
    assert listed.outcomes_examined == 2


def test_duplicate_predicate_in_a_function_above_is_the_new_one() -> None:
    listed = new_outcomes([changed(A, f"{B}\n{A}")])

    assert _told(listed) == [("b", 2, False), ("b", 2, False)]


def test_duplicate_predicate_above_in_the_same_function_is_the_one_on_added_lines() -> None:
    head = f"def a(x):\n    if x is None:\n        raise ValueError\n{GUARD}    return x\n"

    listed = new_outcomes([replace(changed(A, head), added=frozenset({2, 3}))])

    assert _told(listed) == [("a", 2, False), ("a", 2, False)]


def test_duplicates_are_ambiguous_if_git_calls_the_one_with_the_old_body_added() -> None:
    head = f"def a(x):\n    if x is None:\n        raise ValueError\n{GUARD}    return x\n"

    listed = new_outcomes([replace(changed(A, head), added=frozenset({3, 4}))])

    assert _told(listed) == [("a", line, True) for line in (2, 2, 4, 4)]
    assert len({outcome.id for outcome in listed.outcomes}) == 4


def test_duplicates_that_are_all_on_added_lines_are_ambiguous() -> None:
    head = "def a(x):\n    with y:\n        if x is None: z = 1\n        if x is None: z = 2\n"

    listed = new_outcomes([replace(changed(A, head), added=frozenset({2, 3, 4}))])

    assert _told(listed) == [("a", line, True) for line in (3, 3, 4, 4)]


def test_duplicates_that_are_all_on_unchanged_lines_are_ambiguous() -> None:
    base = f"def a(x):\n{GUARD}\ndef b(x):\n{GUARD}"
    head = f"def a(x):\n{GUARD}{GUARD}"

    listed = new_outcomes([replace(changed(base, head), added=frozenset())])

    assert _told(listed) == [("a", line, True) for line in (2, 2, 4, 4)]


def test_handler_is_new_although_an_equal_one_was_deleted_elsewhere() -> None:
    plain = "    return d[k]\n"
    base = f"def a(d, k):\n{HANDLER}\ndef b(d, k):\n{plain}"
    head = f"def a(d, k):\n{plain}\ndef b(d, k):\n{HANDLER}"

    listed = new_outcomes([changed(base, head)])

    assert _told(listed) == [("b", 7, False)]
    assert listed.outcomes[0].hint == "same as a.py:4"


def test_handler_in_a_new_function_is_new_although_an_equal_one_was_deleted_elsewhere() -> None:
    base = f"def a(d, k):\n{HANDLER}"
    head = f"def a(d, k):\n    return d[k]\n\ndef b(d, k):\n{HANDLER}"

    assert _told(new_outcomes([changed(base, head)])) == [("b", 7, False)]


def test_renamed_function_brings_nothing_new() -> None:
    assert new_outcomes([changed(A, A.replace("def a", "def z"))]).outcomes == ()


def test_function_that_moves_into_a_class_brings_nothing_new() -> None:
    head = "class C:\n" + "".join(f"    {line}\n" for line in A.splitlines())

    assert new_outcomes([changed(A, head)]).outcomes == ()


def test_renamed_class_brings_nothing_new() -> None:
    methods = "".join(f"    {line}\n" for line in (A + B).splitlines())

    assert new_outcomes([changed(f"class C:\n{methods}", f"class D:\n{methods}")]).outcomes == ()


def test_renamed_function_with_an_edit_brings_the_edit() -> None:
    head = A.replace("def a", "def z") + "    if x > 1:\n        return 2\n"

    listed = new_outcomes([changed(A, head)])

    assert {outcome.predicate for outcome in listed.outcomes} == {"x > 1"}


def test_function_replaced_by_another_is_no_rename() -> None:
    head = "def z(x):\n    if x is None:\n        raise LookupError(f'{x} is not to be had')\n"

    assert len(new_outcomes([changed(A, head)]).outcomes) == 2


def test_second_equal_one_beside_a_rename_is_new() -> None:
    renamed = A.replace("def a", "def z")

    listed = new_outcomes([changed(A, f"{B}\n{renamed}")])

    assert {outcome.scope for outcome in listed.outcomes} == {"b"}


def test_copy_beside_a_rename_is_the_one_on_added_lines() -> None:
    renamed, copied = A.replace("def a", "def z"), A.replace("def a", "def y")

    listed = new_outcomes([replace(changed(A, renamed + copied), added=frozenset({1, 5, 6, 7, 8}))])

    assert _told(listed) == [("y", 6, False), ("y", 6, False)]


def test_copy_beside_a_rename_is_ambiguous_if_nothing_tells_them_apart() -> None:
    renamed, copied = A.replace("def a", "def z"), A.replace("def a", "def y")
    file = changed(A, renamed + copied)

    listed = new_outcomes([replace(file, added=frozenset(range(1, 9)))])

    assert _told(listed) == [("z", 2, True)] * 2 + [("y", 6, True)] * 2


def test_two_renamed_functions_with_equal_bodies_are_not_ambiguous() -> None:
    base = A + A.replace("def a", "def b")
    head = base.replace("def a", "def y").replace("def b", "def z")

    assert new_outcomes([changed(base, head)]).outcomes == ()


def test_both_sides_of_an_if_are_new_together() -> None:
    head = A.replace(GUARD, f"{GUARD}    elif x > 1:\n        return 5\n")

    listed = new_outcomes([changed(A, head)])

    assert [(o.predicate, o.side) for o in listed.outcomes] == [
        ("x > 1", Side.TRUE),
        ("x > 1", Side.FALSE),
    ]


def test_swapped_sides_bring_nothing_new() -> None:
    base = "def f(x):\n    if x:\n        a()\n    else:\n        b()\n"
    head = "def f(x):\n    if x:\n        b()\n    else:\n        a()\n"

    assert new_outcomes([changed(base, head)]).outcomes == ()


def test_reformatting_brings_nothing_new() -> None:
    base = 'def f(x):\n    if not (x == u"a" and x in (1_000, 2)):\n        y = 1\n'
    head = "def f(x):\n if not (\n  x == 'a'  # why\n  and x in (1000, 2,)\n ): y = 1\n"

    assert new_outcomes([changed(base, head)]).outcomes == ()


def test_other_line_ends_bring_nothing_new() -> None:
    head = A.replace("\n", "\r\n")

    assert new_outcomes([changed(A, head)]).outcomes == ()


def test_lone_carriage_returns_do_not_shift_the_added_lines() -> None:
    base = f"y = 1\rz = 2\r{A}"
    head = f"y = 1\rz = 2\rdef a(x):\n    if x is None: raise ValueError\n{GUARD}    return x\n"

    listed = new_outcomes([replace(changed(base, head), added=frozenset({2}))])

    assert _told(listed) == [("a", 4, False), ("a", 4, False)]


def test_renamed_file_brings_only_its_edit() -> None:
    listed = new_outcomes([changed(A, A + B, "new.py", "old.py")])

    assert {(outcome.path, outcome.scope) for outcome in listed.outcomes} == {("new.py", "b")}


def test_function_moved_to_another_file_is_new_and_says_where_it_was() -> None:
    files = [changed(None, A, "new.py"), changed(A, "", "old.py")]

    assert {outcome.hint for outcome in new_outcomes(files).outcomes} == {"same as old.py:2"}


def test_deleted_and_test_files_lend_hints_and_make_no_rows() -> None:
    head = f"{A}def f(y):\n    if y > 1:\n        y = 2\n"
    files = [
        changed(A, None, "gone.py"),
        changed("if y > 1:\n    y = 2\n", "if z: z = 1\n", "test_x.py", is_row_source=False),
        changed(None, head, "new.py"),
    ]

    listed = new_outcomes(files)

    assert [o.hint for o in listed.outcomes[::2]] == ["same as gone.py:2", "same as test_x.py:1"]
    assert {outcome.path for outcome in listed.outcomes} == {"new.py"}
    assert listed.files_examined == 1


def test_hint_prefers_the_same_file_and_is_given_once() -> None:
    head = "def b(x):\n    if x is None:\n        return 'quite another thing'\n"
    files = [changed(A, "", "other.py"), changed(A, head + head.replace("def b", "def c"))]

    hints = [outcome.hint for outcome in new_outcomes(files).outcomes[::2]]

    assert hints == ["same as a.py:2", "same as other.py:2"]


def test_other_spelling_of_not_in_is_new_and_says_what_it_was() -> None:
    head = "if a not in b: c()\n"

    listed = new_outcomes([changed("if not a in b: c()\n", head)])

    assert listed.outcomes[0].hint == "same as a.py:1, but for how `not` is written"


def test_second_equal_new_outcome_has_another_id() -> None:
    listed = new_outcomes([changed(None, A + B)])

    assert len({outcome.id for outcome in listed.outcomes}) == 4


def test_id_does_not_depend_on_equal_outcomes_that_are_old() -> None:
    alone = new_outcomes([changed(None, B)])
    beside = new_outcomes([changed(A, A + B)])

    assert [outcome.id for outcome in alone.outcomes] == [outcome.id for outcome in beside.outcomes]


def test_file_that_does_not_parse_is_told_and_the_others_are_listed() -> None:
    listed = new_outcomes([changed(A, "def (", "bad.py"), changed(None, A)])

    assert [(found.path, found.line) for found in listed.not_parsed] == [("bad.py", 1)]
    assert len(listed.outcomes) == 2
    assert listed.files_examined == 1


def test_base_that_does_not_parse_counts_as_empty_and_is_told() -> None:
    listed = new_outcomes([changed("def (", A)])

    assert len(listed.outcomes) == 2
    assert "a.py does not parse at base" in listed.notes[0]


def test_nothing_changed_is_nothing_new() -> None:
    assert new_outcomes([]) == OutcomeList((), 0, 0)


def test_extra_kinds_are_paired_like_the_others() -> None:
    base, head = "x = a if b else c\n", "y = 1\nx = a if b else c\nz = a if b else d\n"

    listed = new_outcomes([changed(base, head)], [Kind.IFEXP])

    assert [outcome.line for outcome in listed.outcomes] == [3, 3]


def test_exempt_outcomes_are_listed_with_their_reason() -> None:
    listed = new_outcomes([changed(None, "if 0: x = 1\n")])

    assert {outcome.exempt for outcome in listed.outcomes} == {
        "its test is constant at compile time"
    }


def _told(listed: OutcomeList) -> list[tuple[str, int, bool]]:
    return [(outcome.scope, outcome.line, outcome.ambiguous) for outcome in listed.outcomes]
