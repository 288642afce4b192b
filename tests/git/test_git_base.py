"""How the base is found, and what is said when it cannot be."""

from collections.abc import Callable
from pathlib import Path

import pytest

from invertgate.errors import ExitCode, NoBaseError
from invertgate.model import Patch
from invertgate.patch.changes import read
from support.repo import Repo, two_commits

IF = "def f(x):\n    if x:\n        return 1\n    return 2\n"


def judge(
    repo: Repo, *, base: str | None = None, head: str | None = None, **variables: str
) -> Patch:
    return read(repo.path, base=base, head=head, environment=repo.environment | variables)


def refused(call: Callable[[], Patch]) -> str:
    with pytest.raises(NoBaseError) as caught:
        call()
    assert caught.value.exit_code is ExitCode.NO_BASE
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.fixture
def feature(tmp_path: Path) -> Repo:
    """A branch with one change, and origin/main at its base."""
    return two_commits(tmp_path / "repo", {"a.py": "x = 1\n"}, {"a.py": "x = 1\n", "f.py": IF})


def paths(patch: Patch) -> list[str]:
    return [file.path for file in patch.files]


def test_origin_main_is_the_base_without_a_word_of_anyone(feature: Repo) -> None:
    patch = judge(feature)

    assert patch.base == feature.git("rev-parse", "main")
    assert patch.base_name == "merge base with origin/main"
    assert patch.head == ""
    assert paths(patch) == ["f.py"]
    assert patch.notes == ()


def test_origin_head_comes_before_origin_main(feature: Repo) -> None:
    feature.git("update-ref", "refs/remotes/origin/trunk", "HEAD")
    feature.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk")

    patch = judge(feature)

    assert patch.base_name == "merge base with origin/HEAD"
    assert patch.files == ()


def test_dangling_origin_head_is_passed_over(feature: Repo) -> None:
    feature.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/gone")

    assert judge(feature).base_name == "merge base with origin/main"


def test_origin_master_is_the_last_of_origin(feature: Repo) -> None:
    feature.git("update-ref", "refs/remotes/origin/master", "main")
    feature.git("update-ref", "-d", "refs/remotes/origin/main")

    assert judge(feature).base_name == "merge base with origin/master"


def test_base_given_comes_before_the_ci_host(feature: Repo) -> None:
    patch = judge(feature, base="HEAD", GITHUB_BASE_REF="main")

    assert patch.base_name == "merge base with HEAD"
    assert patch.files == ()


def test_base_given_by_branch_name_is_looked_up_at_origin_too(feature: Repo) -> None:
    feature.git("branch", "-D", "main")

    assert judge(feature, base="main").base_name == "merge base with origin/main"


@pytest.mark.parametrize(
    "variables",
    [
        {"GITHUB_BASE_REF": "dev"},
        {"CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "dev"},
        {"CI_EXTERNAL_PULL_REQUEST_TARGET_BRANCH_NAME": "dev"},
        {"BITBUCKET_PR_DESTINATION_BRANCH": "dev"},
        {"SYSTEM_PULLREQUEST_TARGETBRANCH": "refs/heads/dev"},
        {"BUILDKITE_PULL_REQUEST_BASE_BRANCH": "dev", "BUILDKITE_PULL_REQUEST": "7"},
        {"CHANGE_TARGET": "dev"},
        {"TRAVIS_BRANCH": "dev", "TRAVIS_PULL_REQUEST": "7"},
        {"DRONE_TARGET_BRANCH": "dev", "DRONE_PULL_REQUEST": "7"},
        {"CI_COMMIT_TARGET_BRANCH": "dev"},
        {"APPVEYOR_REPO_BRANCH": "dev", "APPVEYOR_PULL_REQUEST_NUMBER": "7"},
        {"SEMAPHORE_GIT_BRANCH": "dev", "SEMAPHORE_GIT_PR_NUMBER": "7"},
        {"CIRRUS_BASE_BRANCH": "dev"},
        {"CODEBUILD_WEBHOOK_BASE_REF": "refs/heads/dev"},
        {"CF_PULL_REQUEST_TARGET": "dev"},
        {"BITRISEIO_GIT_BRANCH_DEST": "dev"},
        {"PULL_BASE_REF": "dev", "PULL_NUMBER": "7"},
    ],
    ids=lambda variables: next(iter(variables)),
)
def test_target_branch_that_a_ci_host_names_is_the_base(
    feature: Repo, variables: dict[str, str]
) -> None:
    feature.remote_branch("dev", "HEAD")

    patch = judge(feature, **variables)

    assert patch.base_name == f"merge base with origin/dev ({next(iter(variables))})"


@pytest.mark.parametrize(
    "variables",
    [
        {"GITHUB_BASE_REF": ""},
        {"TRAVIS_BRANCH": "patch", "TRAVIS_PULL_REQUEST": "false"},
        {"DRONE_TARGET_BRANCH": "patch"},
        {"APPVEYOR_REPO_BRANCH": "patch"},
    ],
)
def test_ci_variables_of_a_push_are_not_a_target(feature: Repo, variables: dict[str, str]) -> None:
    assert judge(feature, **variables).base_name == "merge base with origin/main"


def test_gitlab_commit_that_was_not_fetched_gives_way_to_its_branch(feature: Repo) -> None:
    patch = judge(
        feature,
        CI_MERGE_REQUEST_DIFF_BASE_SHA="1" * 40,
        CI_MERGE_REQUEST_TARGET_BRANCH_NAME="main",
    )

    assert patch.base_name == "merge base with origin/main (CI_MERGE_REQUEST_TARGET_BRANCH_NAME)"


def test_ci_target_falls_back_on_a_local_branch(feature: Repo) -> None:
    feature.git("update-ref", "-d", "refs/remotes/origin/main")

    patch = judge(feature, GITHUB_BASE_REF="main")

    assert patch.base_name == "merge base with main (GITHUB_BASE_REF)"
    assert paths(patch) == ["f.py"]


def test_ci_target_that_is_not_in_the_clone_is_no_base(feature: Repo) -> None:
    message = refused(lambda: judge(feature, GITHUB_BASE_REF="release"))

    assert "GITHUB_BASE_REF names origin/release" in message
    assert "fetch-depth: 0" in message


def test_base_given_that_does_not_exist_is_no_base(feature: Repo) -> None:
    message = refused(lambda: judge(feature, base="origin/nothing"))

    assert message.startswith("the base origin/nothing names no commit here")
    assert "git fetch" in message


@pytest.mark.parametrize("name", ["-x", "--all", "HEAD\nHEAD", "a b", "HEAD^{tree}", "HEAD:a.py"])
def test_odd_base_is_no_base(feature: Repo, name: str) -> None:
    refused(lambda: judge(feature, base=name))


def test_head_that_does_not_exist_is_refused(feature: Repo) -> None:
    message = refused(lambda: judge(feature, head="v9"))

    assert message.startswith("--head v9 names no commit here")


def test_local_main_is_the_base_where_there_is_no_origin(feature: Repo) -> None:
    feature.git("update-ref", "-d", "refs/remotes/origin/main")

    patch = judge(feature)

    assert patch.base_name == "merge base with main (local)"
    assert patch.notes == (
        "there is no origin to compare with; compared with the local branch main",
    )
    assert paths(patch) == ["f.py"]


def test_fresh_local_branch_has_nothing_new(feature: Repo) -> None:
    feature.git("update-ref", "-d", "refs/remotes/origin/main")
    feature.branch("fresh", "main")

    assert judge(feature).files == ()


@pytest.mark.parametrize("revision", ["main", "main~0"])
def test_local_main_is_not_compared_with_itself(feature: Repo, revision: str) -> None:
    feature.git("update-ref", "-d", "refs/remotes/origin/main")
    feature.switch(revision)

    message = refused(lambda: judge(feature))

    assert message.startswith("nothing to compare with")
    assert "--base REV" in message


def test_shallow_clone_without_the_merge_base_says_how_to_deepen(
    feature: Repo, tmp_path: Path
) -> None:
    clone = feature.clone(tmp_path / "clone", "--depth", "1", "--no-single-branch")

    message = refused(lambda: judge(clone, base="origin/main"))

    assert "git fetch --unshallow" in message
    assert "fetch-depth: 0" in message


def test_shallow_clone_of_one_branch_says_how_to_deepen(feature: Repo, tmp_path: Path) -> None:
    clone = feature.clone(tmp_path / "clone", "--depth", "1", "--branch", "patch")
    clone.git("update-ref", "-d", "refs/remotes/origin/HEAD")

    message = refused(lambda: judge(clone, GITHUB_BASE_REF="main"))

    assert "GITHUB_BASE_REF names origin/main" in message
    assert "git fetch --unshallow" in message


def test_orphan_branch_shares_no_commit(feature: Repo) -> None:
    feature.git("checkout", "--quiet", "--orphan", "alone")
    feature.commit("alone")

    assert refused(lambda: judge(feature)).startswith("HEAD and origin/main share no commit")


def test_repository_without_a_commit_has_no_base(tmp_path: Path) -> None:
    message = refused(lambda: judge(Repo(tmp_path / "repo")))

    assert message == "the repository has no commit yet; commit something first"


def test_folder_outside_any_repository_has_no_base(tmp_path: Path, feature: Repo) -> None:
    message = refused(lambda: read(tmp_path, environment=feature.environment))

    assert message.startswith(f"{tmp_path} is not in a git repository")


def test_folder_that_does_not_exist_has_no_base(feature: Repo) -> None:
    assert "nowhere" in refused(lambda: read(feature.path / "nowhere"))


def test_bare_repository_has_no_work_tree(tmp_path: Path, feature: Repo) -> None:
    feature.git("clone", "--quiet", "--bare", str(feature.path), str(tmp_path / "bare"))

    message = refused(lambda: read(tmp_path / "bare", environment=feature.environment))

    assert "has no work tree" in message


def test_repository_of_another_user_is_refused_with_the_command_that_trusts_it(
    feature: Repo,
) -> None:
    message = refused(lambda: judge(feature, GIT_TEST_ASSUME_DIFFERENT_OWNER="1"))

    assert f"git config --global --add safe.directory {feature.path}" in message


def test_machine_without_git_is_told_to_install_it(feature: Repo, tmp_path: Path) -> None:
    message = refused(lambda: judge(feature, PATH=str(tmp_path)))

    assert message.startswith("git cannot be started")
    assert "install git" in message


def test_head_that_is_the_base_is_an_empty_patch(feature: Repo) -> None:
    feature.remote_branch("main", "HEAD")

    patch = judge(feature)

    assert patch.base == feature.head
    assert patch.files == ()
    assert patch.left_out == ()


def test_patch_of_documents_only_names_what_was_left_out(feature: Repo) -> None:
    feature.branch("docs", "main")
    feature.commit("docs", {"README.md": "# Hello\n"})

    patch = judge(feature)

    assert patch.files == ()
    assert [(left.path, left.reason) for left in patch.left_out] == [("README.md", "not Python")]


def diverged(tmp_path: Path) -> Repo:
    """Main brings other.py while the branch brings f.py."""
    repo = two_commits(tmp_path / "repo", {"a.py": "x = 1\n"}, {"a.py": "x = 1\n", "f.py": IF})
    repo.switch("main")
    repo.commit("main goes on", {"other.py": IF})
    repo.remote_branch("main")
    return repo


def test_merge_commit_of_a_pull_request_brings_only_its_own_file(tmp_path: Path) -> None:
    repo = diverged(tmp_path)
    repo.switch("main~0")
    repo.merge("patch")

    assert paths(judge(repo, GITHUB_BASE_REF="main")) == ["f.py"]


def test_branch_that_merged_main_brings_only_its_own_file(tmp_path: Path) -> None:
    repo = diverged(tmp_path)
    repo.switch("patch")
    repo.merge("main")

    assert paths(judge(repo)) == ["f.py"]


def test_branch_behind_main_is_compared_with_the_merge_base(tmp_path: Path) -> None:
    repo = diverged(tmp_path)
    repo.switch("patch")

    patch = judge(repo)

    assert patch.base == repo.git("rev-parse", "main~1")
    assert paths(patch) == ["f.py"]


def test_stale_commit_of_an_event_is_used_and_called_old(tmp_path: Path) -> None:
    repo = diverged(tmp_path)
    stale = repo.git("rev-parse", "main~1")
    repo.switch("main~0")
    repo.merge("patch")

    patch = judge(repo, base=stale)

    assert paths(patch) == ["f.py", "other.py"]
    assert patch.base == stale
    assert patch.notes[0].startswith(f"{stale} is older than the merge base with origin/main")


def test_criss_cross_merge_says_which_base_was_picked(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "repo")
    repo.commit("root", {"a.py": "x = 1\n"})
    repo.branch("patch")
    ours = repo.commit("ours", {"f.py": IF})
    repo.switch("main")
    theirs = repo.commit("theirs", {"other.py": IF})
    repo.merge(ours)
    repo.switch("patch")
    repo.merge(theirs)
    repo.remote_branch("main", "main")

    patch = judge(repo)

    assert patch.base in {ours, theirs}
    assert patch.notes[0].startswith("2 merge bases with origin/main; compared with")
    assert patch.base[:12] in patch.notes[0]
