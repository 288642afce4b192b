from dataclasses import replace

import pytest

from invertgate.model import Kind, Side
from invertgate.table.document import Entry, Table, read, write
from invertgate.table.lock import Held, changes_since, lock_of, trouble_with

PARTS = {"its body": "a", "its parameters": "b", "fixture db in conftest.py": "c"}
ENTRY = Entry("0" * 12, "a.py", Kind.IF, "x", Side.TRUE, "t.py::test_a", lock_of(PARTS))


def unchanged(_test: str, _lock: str) -> str:
    return ""


def changed(_test: str, _lock: str) -> str:
    return "the claimed test changed"


def test_a_lock_is_one_line_that_names_each_part() -> None:
    lock = lock_of(dict(reversed(PARTS.items())))

    assert lock == lock_of(PARTS)
    assert lock.startswith("1 ")
    assert "its body=ca978112; its parameters=3e23e816" in lock


def test_nothing_has_changed_where_the_parts_are_the_same() -> None:
    assert changes_since(lock_of(PARTS), PARTS) == ""


def test_what_changed_and_came_is_named_and_the_test_itself_first() -> None:
    now = {"its body": "z", "its parameters": "b", "fixture other in conftest.py": "c"}

    assert changes_since(lock_of(PARTS), now) == (
        "the claimed test changed since it was locked: its body, fixture other in conftest.py (new)"
    )


def test_what_went_is_named_where_nothing_else_changed() -> None:
    now = {"its body": "a", "its parameters": "b"}

    assert changes_since(lock_of(PARTS), now).endswith(": fixture db in conftest.py (gone)")


def test_the_whole_digest_decides_and_not_the_short_ones() -> None:
    forged = lock_of(PARTS).replace(lock_of(PARTS)[2:34], "0" * 32)

    assert changes_since(forged, PARTS) == (
        "the claimed test changed since it was locked: what it is made of"
    )


@pytest.mark.parametrize("lock", ["", "9 " + "0" * 32, "abc"])
def test_a_lock_of_another_version_says_how_to_lock_anew(lock: str) -> None:
    assert "`invertgate bind --lock` locks it anew" in changes_since(lock, PARTS)


@pytest.mark.parametrize("suffix", [".json", ".yaml"])
def test_a_table_keeps_locks_as_they_are(suffix: str) -> None:
    table = Table((ENTRY,))

    written = write(table, suffix)

    assert read(written, f"rows{suffix}") == table
    assert write(read(written, f"rows{suffix}"), suffix) == written


@pytest.mark.parametrize(
    ("held", "why"),
    [
        (Held(ENTRY, ENTRY), ""),
        (Held(ENTRY), ""),
        (Held(None), ""),
        (Held(replace(ENTRY, lock=None), replace(ENTRY, lock=None)), ""),
        (Held(replace(ENTRY, test=None, lock=None)), ""),
        (Held(ENTRY, replace(ENTRY, test=None, lock=None)), ""),
        (Held(ENTRY, replace(ENTRY, lock=None)), ""),
        (
            Held(replace(ENTRY, test="x"), ENTRY),
            "the merge base's table holds this row for t.py::test_a; the patch points it at x",
        ),
        (
            Held(None, replace(ENTRY, lock=None)),
            "the merge base's table holds this row for t.py::test_a; the patch takes its test away",
        ),
        (
            Held(replace(ENTRY, lock=None), ENTRY),
            "the patch unlocks a row that the merge base's table has locked",
        ),
        (
            Held(replace(ENTRY, lock="1 other"), ENTRY),
            "the patch locks a row anew that the merge base has locked",
        ),
    ],
)
def test_a_row_that_the_merge_base_holds_is_not_pointed_elsewhere_or_unlocked(
    held: Held, why: str
) -> None:
    assert trouble_with(held, unchanged) == why


def test_a_row_whose_locked_test_changed_is_locked_out() -> None:
    assert trouble_with(Held(ENTRY), changed) == "the claimed test changed"


def test_a_row_that_is_not_locked_is_not_looked_at() -> None:
    assert trouble_with(Held(replace(ENTRY, lock=None)), changed) == ""


def test_the_lock_of_the_merge_base_counts_where_the_patch_takes_it_away() -> None:
    assert trouble_with(Held(replace(ENTRY, lock=None), ENTRY), changed) == (
        "the patch unlocks a row that the merge base's table has locked; the claimed test changed"
    )
