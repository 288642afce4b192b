import pytest

from invertgate.errors import UsageError
from invertgate.table.selection import find, find_begun

A, B, C = ("src/a.py", "a" * 12), ("src/b.py", "a" * 12), ("odd:name.py", "0123456789ab")
KEYS = [A, B, C]
CHOICES = "src/a.py:aaaaaaaaaaaa, src/b.py:aaaaaaaaaaaa"
NO_ID = "is no id; write the 12 lower-case hex digits, or PATH:ID"


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("0123456789ab", C),
        ("odd:name.py:0123456789ab", C),
        ("./odd:name.py:0123456789ab", C),
        ("src/a.py:aaaaaaaaaaaa", A),
        ("src/b.py:aaaaaaaaaaaa", B),
    ],
)
def test_selection_finds_its_outcome(text: str, key: tuple[str, str]) -> None:
    assert find(text, KEYS) == key


def test_key_that_is_given_twice_is_one_outcome() -> None:
    assert find("0123456789ab", [C, C]) == C


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "aaaaaaaaaaaa",
            f"aaaaaaaaaaaa is the id of several outcomes; write one of {CHOICES}",
        ),
        (
            "bbbbbbbbbbbb",
            "no new outcome is bbbbbbbbbbbb; `invertgate run --list` shows what there is",
        ),
        (
            "src/c.py:0123456789ab",
            "no new outcome is src/c.py:0123456789ab; did you mean odd:name.py:0123456789ab?",
        ),
        (
            "0123456789AB",
            f"'0123456789AB' {NO_ID}; did you mean odd:name.py:0123456789ab?",
        ),
        (
            "aaaa",
            f"'aaaa' {NO_ID}; did you mean src/a.py:aaaaaaaaaaaa or src/b.py:aaaaaaaaaaaa?",
        ),
        ("src/a.py", f"'src/a.py' {NO_ID}"),
        ("", f"'' {NO_ID}"),
    ],
)
def test_selection_that_does_not_mean_one_outcome_is_refused(text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        find(text, KEYS)

    assert str(caught.value) == message


def test_nothing_can_be_found_where_there_is_nothing() -> None:
    with pytest.raises(UsageError, match="no new outcome is aaaaaaaaaaaa"):
        find("a" * 12, [])


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("0123", C),
        ("0123456789AB", C),
        ("odd:name.py:01234", C),
        ("src/a.py:aaaa", A),
        ("./src/b.py:aaaaaaaaaaaa", B),
    ],
)
def test_first_digits_of_an_id_are_enough(text: str, key: tuple[str, str]) -> None:
    assert find_begun(text, KEYS) == key


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("aaaa", f"the ids of several outcomes begin with aaaa: {CHOICES}"),
        ("a" * 12, f"{'a' * 12} is the id of several outcomes; write one of {CHOICES}"),
        ("bbbb", "no new outcome is bbbb; `invertgate run --list`"),
        ("src/c.py:aaaa", "no new outcome is src/c.py:aaaa"),
        ("012", "'012' is no id; write the first 4 of its 12 hex digits or more"),
        ("wrong!", "is no id"),
        ("0" * 13, "is no id"),
        ("", "is no id"),
    ],
)
def test_beginning_that_means_none_or_several_is_refused(text: str, said: str) -> None:
    with pytest.raises(UsageError) as refused:
        find_begun(text, KEYS)

    assert said in str(refused.value)
