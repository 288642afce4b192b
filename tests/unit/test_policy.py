from dataclasses import replace

import pytest

from invertgate.config import Config, Inversion, Kill
from invertgate.errors import UsageError
from invertgate.model import PolicySource
from invertgate.policy import load_under_policy, policy_changes

FIRST = (
    "the merge base has no [tool.invertgate]: what this patch sets there of policies counts once "
    "it is merged, or with `--policy head`; until then the defaults count"
)


def ours(text: str) -> bytes:
    return f"[tool.invertgate]\n{text}\n".encode()


def test_policy_comes_from_the_merge_base_and_the_rest_from_the_patch() -> None:
    head = ours('kill = "any"\nexclude = ["**"]\nworkers = 7')
    base = ours('kill = "assertion"\nworkers = 3')

    config, notes = load_under_policy(head, base)

    assert config == Config(kill=Kill.ASSERTION, workers=7)
    assert notes == (
        '`exclude` was widened by this patch, from [] to ["**"]; judged under the old value',
        '`kill` was changed by this patch, from "assertion" to "any"; judged under the old value',
    )


def test_reviewed_policy_of_the_patch_counts_and_is_told() -> None:
    head = ours('exclude = ["gen/**"]\nworkers = 7')

    config, notes = load_under_policy(head, ours("confirm = 3"), policy=PolicySource.HEAD)

    assert config == Config(exclude=("gen/**",), workers=7)
    assert notes == (
        (
            '`exclude` was widened by this patch, from [] to ["gen/**"]; '
            "judged under the new value, by `--policy head`"
        ),
        (
            "`confirm` was lowered by this patch, from 3 to 2; "
            "judged under the new value, by `--policy head`"
        ),
    )


@pytest.mark.parametrize(
    ("before", "after", "word"),
    [
        ({"exclude": ("a",)}, {"exclude": ("a", "b")}, "widened"),
        ({"exclude": ("a", "b")}, {"exclude": ("b",)}, "narrowed"),
        ({"exclude": ("a",)}, {"exclude": ("b",)}, "changed"),
        ({"exclude": ("a", "b")}, {"exclude": ("b", "a")}, "changed"),
        ({"confirm": 2}, {"confirm": 3}, "raised"),
        ({"timeout_factor": 10.0}, {"timeout_factor": 2.5}, "lowered"),
        ({"locked": True}, {"locked": False}, "switched off"),
        ({"locked": False}, {"locked": True}, "switched on"),
        ({"kill": Kill.ANY}, {"kill": Kill.ASSERTION}, "changed"),
        ({"property_command": ("a",)}, {"property_command": ("a", "b")}, "changed"),
    ],
)
def test_what_became_of_a_policy_is_said_truly(
    before: dict[str, object], after: dict[str, object], word: str
) -> None:
    [note] = policy_changes(_with(before), _with(after))

    assert f" was {word} by this patch" in note


def _with(values: dict[str, object]) -> Config:
    return replace(Config(), **values)  # type: ignore[arg-type]


def test_first_adoption_is_told_and_the_defaults_are_policy() -> None:
    config, notes = load_under_policy(ours("confirm = 1"), b"[project]\nname = 'shop'\n")

    assert config.confirm == 2
    lowered = "`confirm` was lowered by this patch, from 2 to 1; judged under the old value"
    assert notes == (FIRST, lowered)


def test_first_adoption_without_policies_has_nothing_to_tell() -> None:
    assert load_under_policy(ours("workers = 1"), b"") == (Config(workers=1), ())


def test_policy_that_the_patch_removes_still_counts() -> None:
    config, notes = load_under_policy(b"", ours("confirm = 4"))

    assert config.confirm == 4
    assert notes == (
        "`confirm` was lowered by this patch, from 4 to 2; judged under the old value",
    )


def test_policy_on_the_command_line_counts() -> None:
    config, notes = load_under_policy(ours("confirm = 3"), ours(""), {"confirm": 1})

    assert config.confirm == 1
    assert notes == ("`confirm` was raised by this patch, from 2 to 3; the command line decides",)


def test_a_flag_that_was_not_given_decides_nothing() -> None:
    config, notes = load_under_policy(b"", b"", {"operator": "negate", "locked": None})

    assert (config.operator, config.locked, notes) == (Inversion.NEGATE, False, ())


def test_a_wrong_file_at_the_merge_base_does_not_stop_the_patch_that_mends_it() -> None:
    config, notes = load_under_policy(ours("confirm = 3"), ours("confirm = 99"))

    assert config.confirm == 2
    wrong = "pyproject.toml: tool.invertgate.confirm must be from 1 to 10, not 99"
    assert notes == (
        f"at the merge base, {wrong}; the defaults decide instead",
        "`confirm` was raised by this patch, from 2 to 3; judged under the old value",
    )


def test_a_wrong_file_in_the_patch_is_refused_whatever_the_merge_base_says() -> None:
    with pytest.raises(UsageError, match="confirm must be from 1 to 10"):
        load_under_policy(ours("confirm = 99"), b"")


def test_options_that_are_no_policy_are_no_policy_change() -> None:
    assert policy_changes(Config(), replace(Config(), workers=9, tests=("t",))) == ()


def test_arguments_of_pytest_are_no_policy_and_told_all_the_same() -> None:
    head = ours('pytest_args = ["-p", "cheat"]')

    config, notes = load_under_policy(head, ours(""))

    assert config.pytest_args == ("-p", "cheat")
    assert notes == (
        (
            '`pytest_args` was changed by this patch, from [] to ["-p", "cheat"]; '
            "judged under the new value, as it is no policy"
        ),
    )
