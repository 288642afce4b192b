from dataclasses import replace

import pytest

from invertgate.config import Config
from invertgate.lanes.facts import Content, PathFacts, ProbeFacts
from invertgate.lanes.paths import PathClass
from invertgate.lanes.probe import ProbeLimits, ReasonKind, limits_of, probe
from invertgate.options import Assertions
from support.probe_facts import facts_of, path_facts

LIMITS = ProbeLimits(line_cap=400)


def sized(
    path: str, added: int | None, deleted: int | None = 0, *, generated: bool = False
) -> PathFacts:
    facts = path_facts(path, path, "", "")
    return replace(facts, added=added, deleted=deleted, is_generated=generated)


def kinds(*paths: PathFacts, limits: ProbeLimits = LIMITS) -> list[ReasonKind]:
    return [reason.kind for reason in probe(ProbeFacts("b", paths), limits).reasons]


def changed(path: str, base: str | None, head: str | None) -> list[ReasonKind]:
    return kinds(path_facts(path, path, base, head))


def test_narrow_patch_passes() -> None:
    result = probe(facts_of({"a.py": "x = 1\n"}, {"a.py": "x = 2\n"}), LIMITS)

    assert result.reasons == ()
    assert not result.rejected


def test_empty_patch_passes() -> None:
    assert not probe(ProbeFacts("b"), LIMITS).rejected


def test_missing_base_is_rejected() -> None:
    [reason] = probe(ProbeFacts(""), LIMITS).reasons

    assert reason.kind is ReasonKind.NO_BASE


def test_cap_is_the_last_size_that_passes() -> None:
    assert kinds(sized("a.py", 300), sized("b.py", 0, 100)) == []
    assert kinds(sized("a.py", 300), sized("b.py", 1, 100)) == [ReasonKind.TOO_LONG]


def test_generated_lines_are_not_counted() -> None:
    assert kinds(sized("poetry.lock", 20_000, generated=True), sized("a.py", 400)) == []


def test_file_that_git_does_not_count_is_rejected_unless_it_is_generated() -> None:
    assert kinds(sized("logo.png", None, None)) == [ReasonKind.UNCOUNTABLE]
    assert kinds(sized("logo.png", None, None, generated=True)) == []


def test_hidden_file_is_rejected() -> None:
    [reason] = probe(ProbeFacts("b", hidden=("a.py",)), LIMITS).reasons

    assert (reason.kind, reason.path) == (ReasonKind.UNCOUNTABLE, "a.py")


def test_fixture_and_test_in_one_patch_are_rejected() -> None:
    fixture, test = sized("tests/fixtures/a.json", 1), sized("tests/test_a.py", 1)

    assert kinds(fixture, test) == [ReasonKind.FIXTURE_AND_TEST]
    assert kinds(fixture, sized("src/a.py", 1)) == []
    assert kinds(test, sized("src/a.py", 1)) == []


def test_fixture_that_becomes_a_test_is_both() -> None:
    moved = path_facts("fixtures/a.json", "tests/a.json", "{}\n", "{}\n")

    assert kinds(moved) == [ReasonKind.FIXTURE_AND_TEST]


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("waivers.yaml", ReasonKind.POLICY),
        ("flaky.yaml", ReasonKind.POLICY),
        ("properties.yaml", ReasonKind.POLICY),
        (".github/workflows/ci.yml", ReasonKind.CI),
        (".gitlab-ci.yml", ReasonKind.CI),
    ],
)
def test_rules_are_changed_by_people(path: str, kind: ReasonKind) -> None:
    assert kinds(sized(path, 1)) == [kind]


def test_list_that_is_renamed_away_is_a_change_of_policy() -> None:
    moved = path_facts("flaky.yaml", "old.yaml", "x\n", "x\n")

    assert kinds(moved) == [ReasonKind.POLICY]


def test_fixture_with_the_name_of_a_list_is_a_fixture() -> None:
    assert kinds(sized("tests/fixtures/flaky.yaml", 1)) == []


@pytest.mark.parametrize(
    ("base", "head", "expected"),
    [
        ("[tool.invertgate]\nline_cap = 4\n", "[tool.invertgate]\nline_cap = 5\n", True),
        ("[tool.invertgate]\nline_cap = 4\n", "[tool.ruff]\n", True),
        ("[project]\nversion = '1'\n", "[project]\nversion = '2'\n", False),
        ("[tool.invertgate]\nline_cap = 4\n", "# why\n[tool.invertgate]\nline_cap = 4\n", False),
        ("[project]\n", "[project\n", True),
        ("[project]\n", "[tool.pytest.ini_options]\naddopts = ['--ignore=tests']\n", True),
        (
            "[tool.pytest.ini_options]\ntestpaths = ['tests']\n",
            "[tool.pytest.ini_options]\ntestpaths = ['tests']\nfilterwarnings = ['error']\n",
            False,
        ),
    ],
)
def test_part_of_a_configuration_is_policy(base: str, head: str, *, expected: bool) -> None:
    assert changed("pyproject.toml", base, head) == [ReasonKind.POLICY] * expected


def test_new_configuration_of_pytest_is_a_change_of_policy() -> None:
    assert changed("pytest.ini", None, "[pytest]\n") == [ReasonKind.POLICY]


@pytest.mark.parametrize("content", [Content.LINK, Content.REPOSITORY, Content.CONFLICT])
def test_what_cannot_be_classified_is_rejected(content: Content) -> None:
    facts = replace(sized("vendored", 1, 1), content=content)

    assert kinds(facts) == [ReasonKind.UNCLASSIFIED]


def test_file_that_is_no_python_is_rejected() -> None:
    assert changed("a.py", "x = 1\n", "x = (\n") == [ReasonKind.UNCLASSIFIED]


def test_file_that_was_no_python_is_read_by_its_lines() -> None:
    assert changed("a.py", "print 1\n", "print(1)\n") == []
    assert changed("a.py", "assert 1\nprint 1\n", "print(1)\n") == [ReasonKind.ASSERTION]


def test_every_reason_is_given() -> None:
    paths = (
        sized("tests/fixtures/a.json", 500),
        path_facts("tests/test_a.py", "tests/test_a.py", "def test_a():\n    assert f()\n", "\n"),
        sized("logo.png", None, None),
        sized(".gitlab-ci.yml", 1),
        sized("flaky.yaml", 1),
    )

    assert set(kinds(*paths)) == {
        ReasonKind.TOO_LONG,
        ReasonKind.FIXTURE_AND_TEST,
        ReasonKind.ASSERTION,
        ReasonKind.UNCOUNTABLE,
        ReasonKind.POLICY,
        ReasonKind.CI,
    }


@pytest.mark.parametrize("line", ["assert x", "    expect(x).toBe(1)", "reassert(x)"])
def test_removed_line_of_another_language_counts(line: str) -> None:
    assert changed("web/a.ts", f"{line}\n", "\n") == [ReasonKind.ASSERTION]


def test_removed_property_id_of_another_language_counts() -> None:
    assert changed("web/a.ts", "prop_total()\n", "\n") == [ReasonKind.PROPERTY]


def test_neutral_file_holds_no_assertion() -> None:
    facts = path_facts("a.md", "a.md", "assert x\n", "\n")

    assert facts.kind is PathClass.NEUTRAL
    assert kinds(replace(facts, removed=())) == []


def test_lines_give_the_literal_rule_in_python_too() -> None:
    base, head = "def test_a():\n    assert  x\n", "def test_a():\n    assert x\n"
    facts = path_facts("tests/test_a.py", "tests/test_a.py", base, head)

    assert kinds(facts) == []
    assert kinds(facts, limits=ProbeLimits(400, Assertions.LINES)) == [ReasonKind.ASSERTION]


def test_reason_names_its_path() -> None:
    [reason] = probe(ProbeFacts("b", (sized("flaky.yaml", 1),)), LIMITS).reasons

    assert str(reason) == "flaky.yaml: holds policy, which a person must change"


def test_limits_are_those_of_the_policy() -> None:
    assert limits_of(Config()) == ProbeLimits(400, Assertions.TREE)
