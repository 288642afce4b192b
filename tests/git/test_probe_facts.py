"""What the probe is told of real repositories."""

from dataclasses import replace
from pathlib import Path

import pytest

from invertgate.config import Config
from invertgate.lanes.facts import Content, PathFacts, ProbeFacts
from invertgate.lanes.paths import PathClass
from invertgate.lanes.probe import ReasonKind, collect_facts, limits_of, probe
from invertgate.patch.git import open_repository
from support.repo import Repo

TEST = "def test_a():\n    assert f(1) == 1\n    assert f(2) == 4\n"


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo(tmp_path / "repo")


def facts(repo: Repo, base: str, head: str = "HEAD", config: Config | None = None) -> ProbeFacts:
    repository = open_repository(repo.path, repo.environment)
    return collect_facts(repository, base, head, config or Config())


def only(facts: ProbeFacts) -> PathFacts:
    [one] = facts.paths
    return one


def kinds(facts: ProbeFacts) -> list[ReasonKind]:
    return [reason.kind for reason in probe(facts, limits_of(Config())).reasons]


def test_path_is_told_with_both_contents(repo: Repo) -> None:
    base = repo.commit("base", {"src/a.py": "x = 1\n"})
    repo.commit("head", {"src/a.py": "x = 2\n"})

    one = only(facts(repo, base))

    assert (one.path, one.kind, one.added, one.deleted) == ("src/a.py", PathClass.PRODUCTION, 1, 1)
    assert (one.base, one.head, one.removed) == (b"x = 1\n", b"x = 2\n", (b"x = 1",))


def test_working_tree_is_judged_with_its_untracked_files(repo: Repo) -> None:
    base = repo.commit("base", {"src/a.py": "x = 1\n"})
    repo.write({"src/a.py": "x = 2\n", "tests/test_new.py": TEST})

    told = facts(repo, base, "")

    assert [(one.path, one.kind) for one in told.paths] == [
        ("src/a.py", PathClass.PRODUCTION),
        ("tests/test_new.py", PathClass.TEST),
    ]
    assert kinds(told) == []


def test_assertion_that_is_gone_is_found_in_a_repository(repo: Repo) -> None:
    base = repo.commit("base", {"tests/test_a.py": TEST})
    repo.commit("head", {"tests/test_a.py": TEST.replace("    assert f(2) == 4\n", "")})

    assert kinds(facts(repo, base)) == [ReasonKind.ASSERTION]


def test_renamed_test_file_loses_nothing(repo: Repo) -> None:
    base = repo.commit("base", {"tests/test_a.py": TEST})
    repo.commit("head", {"tests/test_a.py": None, "tests/test_b.py": TEST + "\n# b\n"})

    told = facts(repo, base)

    assert (only(told).old_path, only(told).path) == ("tests/test_a.py", "tests/test_b.py")
    assert kinds(told) == []


def test_test_file_renamed_to_what_is_no_test_is_gone(repo: Repo) -> None:
    base = repo.commit("base", {"tests/test_a.py": TEST})
    repo.commit("head", {"tests/test_a.py": None, "a.py": TEST})

    assert kinds(facts(repo, base)) == [ReasonKind.ASSERTION]


def test_helper_that_the_patch_leaves_alone_is_read(repo: Repo) -> None:
    helper = "def check(got, wanted):\n    assert got == wanted\n"
    base = repo.commit("base", {"tests/test_a.py": TEST, "tests/helpers.py": helper})
    calls = "def test_a():\n    check(f(1), 1)\n    check(f(2), 4)\n"
    repo.commit("head", {"tests/test_a.py": f"from helpers import check\n\n\n{calls}"})

    told = facts(repo, base)

    assert told.unchanged == (("tests/helpers.py", helper.encode()),)
    assert kinds(told) == []


def test_globs_of_the_policy_make_files_generated_and_neutral(repo: Repo) -> None:
    base = repo.commit("base", {"a.py": "x = 1\n"})
    new = {"build/a.py": "x\n", "sub/build/b.js": "x\n", "mybuild/c.js": "x\n", "art/d.svg": "x\n"}
    repo.commit("head", new)

    told = facts(repo, base, config=Config(generated=("build/",), neutral=("*.svg",)))

    by_path = {one.path: one for one in told.paths}
    assert [path for path, one in by_path.items() if one.is_generated] == [
        "build/a.py",
        "sub/build/b.js",
    ]
    assert by_path["art/d.svg"].kind is PathClass.NEUTRAL


def test_file_renamed_into_a_generated_path_is_counted(repo: Repo) -> None:
    lines = "".join(f"x_{number} = 1\n" for number in range(30))
    base = repo.commit("base", {"a.py": lines})
    repo.commit("head", {"a.py": None, "build/a.py": lines})

    assert not only(facts(repo, base, config=Config(generated=("build/",)))).is_generated


def test_attribute_hides_no_lines(repo: Repo) -> None:
    base = repo.commit("base", {".gitattributes": "gen.py -diff\n", "gen.py": "x = 1\n"})
    repo.commit("head", {"gen.py": "x = 1\n" * 500})

    assert kinds(facts(repo, base)) == [ReasonKind.UNCOUNTABLE]


def test_link_is_not_classified(repo: Repo) -> None:
    base = repo.commit("base", {"a.py": "x = 1\n"})
    (repo.path / "b.py").symlink_to("a.py")
    repo.commit("head")

    told = facts(repo, base)

    assert only(told).content is Content.LINK
    assert kinds(told) == [ReasonKind.UNCLASSIFIED]


def test_lines_of_neutral_files_are_left_out(repo: Repo) -> None:
    base = repo.commit("base", {"README.md": "assert x\n"})
    repo.commit("head", {"README.md": "nothing\n"})

    assert only(facts(repo, base)).removed == ()
    assert kinds(facts(repo, base)) == []


def test_file_that_git_takes_for_unchanged_is_rejected(repo: Repo) -> None:
    base = repo.commit("base", {"a.py": "x = 1\n"})
    repo.git("update-index", "--assume-unchanged", "a.py")
    repo.write({"a.py": "x = 2\n"})

    told = facts(repo, base, "")

    assert told.hidden == ("a.py",)
    assert kinds(told) == [ReasonKind.UNCOUNTABLE]


def test_conflict_is_not_classified(repo: Repo) -> None:
    base = repo.commit("base", {"a.txt": "1\n"})
    repo.branch("other")
    repo.commit("other", {"a.txt": "2\n"})
    repo.branch("patch", base)
    repo.commit("patch", {"a.txt": "3\n"})
    with pytest.raises(AssertionError):
        repo.git("merge", "other")

    told = facts(repo, base, "")

    assert only(told).content is Content.CONFLICT
    assert ReasonKind.UNCLASSIFIED in kinds(told)


def test_facts_do_not_depend_on_the_folder_of_the_configuration(repo: Repo) -> None:
    base = repo.commit("base", {"svc/branch_rows.json": "[]\n"})
    repo.commit("head", {"svc/branch_rows.json": "[1]\n"})

    one = only(facts(repo, base))

    assert replace(one, removed=()).kind is PathClass.NEUTRAL
