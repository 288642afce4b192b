import os

import pytest

from invertgate.patch.git import entries, git_environment, refusal, strings


def test_environment_for_git_points_at_no_repository() -> None:
    hook = {"GIT_DIR": "x", "GIT_INDEX_FILE": "x", "GIT_WORK_TREE": "x", "GIT_PREFIX": "x"}
    settings = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "a.b", "GIT_CONFIG_VALUE_0": "c"}

    seen = git_environment(hook | settings | {"PATH": "p", "GIT_EXTERNAL_DIFF": "x"})

    own = {"GIT_OPTIONAL_LOCKS", "GIT_TERMINAL_PROMPT"}
    assert {name for name in seen if name.startswith("GIT_")} == {*settings, *own}
    assert seen["PATH"] == "p"
    assert seen["GIT_OPTIONAL_LOCKS"] == "0"


def test_names_that_are_no_text_keep_their_bytes() -> None:
    [text, other] = strings(b"a b\0\xff\0")

    assert (text, os.fsencode(other)) == ("a b", b"\xff")


def test_entries_are_split_at_the_first_tab() -> None:
    assert list(entries(b"100644 blob 1\ta\tb.py\0")) == [("100644 blob 1", "a\tb.py")]


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        (b"warning: x\nfatal: bad thing\nhint: y\n", "bad thing"),
        (b"error: no\n", "no"),
        (b"something\nelse\n", "else"),
        (b"", "it said nothing"),
        (b"fatal: \xff\n", "\ufffd"),
    ],
)
def test_refusal_is_the_sentence_that_says_why(said: bytes, sentence: str) -> None:
    assert refusal(said) == sentence
