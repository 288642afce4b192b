from dataclasses import fields
from pathlib import Path

import pytest

from invertgate.config import (
    OPTIONS,
    Config,
    Inversion,
    Kill,
    OnTimeout,
    load,
    read,
    source_of,
)
from invertgate.errors import ExitCode, UsageError
from invertgate.model import Kind

EVERYTHING = b"""
[tool.invertgate]
base = "origin/dev"
include = ["src/**/*.py"]
exclude = ["src/**/*_pb2.py"]
extra_kinds = ["while", "ifexp", "comprehension"]
table = "ci/rows.yaml"
project = ["svc/a", "."]
workers = 4
confirm = 3
operator = "negate"
kill = "assertion"
timeout = "kill"
timeout_factor = 20
timeout_floor = 1.5
wall_floor = 60
memory_limit = 512
external = ["tests/live/*"]
tests = ["tests/unit"]
pytest_args = ["-m", ""]
tries = 50
coverage = "measure"
copy_exclude = ["data/**"]
copy_include = ["build/gen.py"]
"""


def ours(line: str) -> bytes:
    return f"[tool.invertgate]\n{line}\n".encode()


def test_no_file_means_the_defaults() -> None:
    assert load(b"") == Config()


def test_a_file_of_other_tools_means_the_defaults() -> None:
    assert load(b'[tool.ruff]\nline-length = 100\n[project]\nname = "x"\n') == Config()


def test_tool_that_is_no_table_means_the_defaults() -> None:
    assert load(b"tool = 5\n") == Config()


def test_every_option_can_be_set_in_the_file() -> None:
    assert load(EVERYTHING) == Config(
        base="origin/dev",
        include=("src/**/*.py",),
        exclude=("src/**/*_pb2.py",),
        extra_kinds=(Kind.WHILE, Kind.IFEXP, Kind.COMPREHENSION),
        table="ci/rows.yaml",
        project=("svc/a", "."),
        workers=4,
        confirm=3,
        operator=Inversion.NEGATE,
        kill=Kill.ASSERTION,
        timeout=OnTimeout.KILL,
        timeout_factor=20.0,
        timeout_floor=1.5,
        wall_floor=60.0,
        memory_limit=512,
        external=("tests/live/*",),
        tests=("tests/unit",),
        pytest_args=("-m", ""),
        tries=50,
        coverage="measure",
        copy_exclude=("data/**",),
        copy_include=("build/gen.py",),
    )


def test_values_have_the_types_of_the_dataclass() -> None:
    config = load(EVERYTHING)

    assert {of.name: type(getattr(config, of.name)) for of in fields(Config)} == {
        of.name: type(getattr(Config(), of.name)) for of in fields(Config)
    }
    assert all(type(kind) is Kind for kind in config.extra_kinds)


def test_byte_order_mark_and_crlf_are_accepted() -> None:
    assert load(b"\xef\xbb\xbf[tool.invertgate]\r\nconfirm = 3\r\n").confirm == 3


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("confirmed = 3", "tool.invertgate.confirmed is not an option; did you mean confirm?"),
        ("timeout-factor = 3", "did you mean timeout_factor?"),
        ("zzz = 3", "tool.invertgate.zzz is not an option; known are base, include"),
        ('confirm = "3"', 'tool.invertgate.confirm must be a whole number, not "3"'),
        ("confirm = 2.0", "tool.invertgate.confirm must be a whole number, not 2.0"),
        ("workers = true", "tool.invertgate.workers must be a whole number, not true"),
        ("workers = -1", "tool.invertgate.workers must be from 0 to 256, not -1"),
        ("workers = 257", "tool.invertgate.workers must be from 0 to 256, not 257"),
        ("confirm = 0", "tool.invertgate.confirm must be from 1 to 10, not 0"),
        ("confirm = 11", "tool.invertgate.confirm must be from 1 to 10, not 11"),
        ("tries = 0", "tool.invertgate.tries must be from 1 to 1000000, not 0"),
        ("timeout_factor = nan", "timeout_factor must be from 1 to 10000, not nan"),
        ("timeout_factor = inf", "timeout_factor must be from 1 to 10000, not inf"),
        ("timeout_factor = 0.5", "timeout_factor must be from 1 to 10000, not 0.5"),
        ("timeout_floor = 0", "timeout_floor must be from 0.1 to 86400, not 0"),
        ("wall_floor = [1]", "wall_floor must be a number, not [1]"),
        ("memory_limit = -5", "memory_limit must be from 0 to 1073741824, not -5"),
        ('include = "src/*.py"', 'include must be a list of strings, not "src/*.py"'),
        ("include = [5]", "include must be a string, not 5"),
        ("include = [{a = 1}]", "include must be a string, not a table"),
        ('include = [" "]', "include must not be empty"),
        (r"include = ['src\*.py']", r'written with slashes, not backslashes: "src\\*.py"'),
        ('exclude = ["/src/*"]', 'exclude must be relative and stay inside the repository: "/src'),
        ('exclude = ["../x/*"]', "exclude must be relative and stay inside the repository"),
        ('project = [".."]', "project must be relative and stay inside the repository"),
        ('extra_kinds = ["if"]', 'must be one of while, ifexp, comprehension, not "if"'),
        ("extra_kinds = [[]]", "must be one of while, ifexp, comprehension, not []"),
        ('operator = "both"', 'operator must be one of onesided, negate, not "both"'),
        ('kill = "none"', 'kill must be one of any, assertion, not "none"'),
        ("timeout = 3", "timeout must be one of unproven, kill, not 3"),
        ('table = "rows.txt"', 'table must end in .json, .yaml or .yml: "rows.txt"'),
        ('table = "/tmp/rows.json"', "table must be relative and stay inside the repository"),
        ("base = 5", "tool.invertgate.base must be a string, not 5"),
        ("base = 2026-01-01", "tool.invertgate.base must be a string, not 2026-01-01"),
        ('external = [""]', "tool.invertgate.external must not be empty"),
    ],
)
def test_a_wrong_line_is_refused_by_file_and_key(line: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        load(ours(line), name="svc/pyproject.toml")

    assert message in str(caught.value)
    assert str(caught.value).startswith("svc/pyproject.toml: tool.invertgate.")
    assert caught.value.exit_code == ExitCode.USAGE


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (b"[tool.invertgate]\nconfirm = \n", "pyproject.toml is not valid TOML: Invalid value (at"),
        (b"a = 1\na = 2\n", "(at line 2, column 6)"),
        (b"a = 1\n# \xff\n", "pyproject.toml: line 2 is not UTF-8; save the file as UTF-8"),
        (b"a = " + b"[" * 100_000, "pyproject.toml is not valid TOML: it is nested too deeply"),
        (b"tool.invertgate = 5", "pyproject.toml: tool.invertgate must be a table, not 5"),
        (
            b"[[tool.invertgate]]\nconfirm = 2",
            "pyproject.toml: tool.invertgate must be a table, not [a table]",
        ),
        (
            b"[tool.invert-gate]\nconfirm = 3",
            "pyproject.toml: [tool.invert-gate] is not read; did you mean [tool.invertgate]?",
        ),
        (b"[tool.Invertgate]", "did you mean [tool.invertgate]?"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused(source: bytes, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        load(source)

    assert message in str(caught.value)


def test_another_tool_with_a_name_that_begins_alike_is_left_alone() -> None:
    assert load(b"[tool.inventory]\nx = 1\n") == Config()


def test_the_command_line_overrides_the_file() -> None:
    assert load(ours("confirm = 3"), {"confirm": 5}).confirm == 5


def test_what_the_command_line_does_not_give_stays() -> None:
    config = load(ours('confirm = 3\ninclude = ["a.py"]'), {"confirm": None, "include": ()})

    assert (config.confirm, config.include) == (3, ("a.py",))


def test_zero_and_empty_text_on_the_command_line_are_values() -> None:
    config = load(ours('workers = 3\ncoverage = "measure"'), {"workers": 0, "coverage": ""})

    assert (config.workers, config.coverage) == (0, "")


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"workers": 9999}, "--workers must be from 0 to 256, not 9999"),
        ({"extra_kinds": ("if",)}, "--extra-kind must be one of while, ifexp, comprehension"),
        ({"table": "../rows.json"}, "--table must be relative and stay inside the repository"),
        ({"wrokers": 2}, "wrokers is not an option; did you mean workers?"),
    ],
)
def test_a_wrong_override_is_refused_by_its_flag(
    overrides: dict[str, object], message: str
) -> None:
    with pytest.raises(UsageError) as caught:
        load(b"", overrides)

    assert str(caught.value).startswith(message)


def test_read_gives_only_what_the_file_says() -> None:
    assert read(ours("confirm = 2")) == {"confirm": 2}


def test_source_of_a_folder_without_a_file_is_empty(tmp_path: Path) -> None:
    assert source_of(tmp_path) == b""


def test_source_of_a_folder_is_its_file(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_bytes(b"x = 1\r\n")

    assert source_of(tmp_path) == b"x = 1\r\n"


def test_source_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").mkdir()

    with pytest.raises(UsageError, match=r"pyproject\.toml cannot be read: Is a directory"):
        source_of(tmp_path)


def test_every_field_of_config_is_an_option() -> None:
    assert [option.name for option in OPTIONS] == [of.name for of in fields(Config)]


def test_flags_are_long_and_used_once() -> None:
    flags = [flag for option in OPTIONS for flag in option.about.flags]

    assert len(flags) == len(set(flags)) == sum(bool(option.about.flags) for option in OPTIONS)
    assert all(flag.startswith("--") for flag in flags)


def test_only_policy_has_no_flag() -> None:
    assert all(option.about.flags or option.about.policy for option in OPTIONS)


def test_help_is_a_sentence() -> None:
    assert [option.name for option in OPTIONS if not option.about.help.endswith(".")] == []


def test_what_could_loosen_the_gate_is_policy() -> None:
    assert {option.name for option in OPTIONS if option.about.policy} == {
        "assertions",
        "confirm",
        "contain",
        "exclude",
        "external",
        "extra_kinds",
        "generated",
        "include",
        "kill",
        "line_cap",
        "locked",
        "max_quarantine_days",
        "max_waiver_days",
        "neutral",
        "operator",
        "project",
        "property_command",
        "property_seconds",
        "table",
        "timeout",
        "timeout_factor",
        "timeout_floor",
        "unit_cap",
    }


def test_choices_follow_from_the_enums() -> None:
    choices = {option.name: option.about.choices for option in OPTIONS if option.about.choices}

    assert choices == {
        "extra_kinds": ("while", "ifexp", "comprehension"),
        "operator": ("onesided", "negate"),
        "kill": ("any", "assertion"),
        "timeout": ("unproven", "kill"),
        "contain": ("auto", "none", "network", "files"),
        "assertions": ("tree", "lines"),
    }
