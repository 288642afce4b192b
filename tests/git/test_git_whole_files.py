"""Files that are judged as if all in them were new."""

from pathlib import Path

import pytest

from invertgate.errors import ExitCode, NoBaseError, UsageError
from invertgate.model import Patch
from invertgate.patch.whole import whole_files
from support.repo import Repo

IF = "def f(x):\n    if x:\n        return 1\n    return 2\n"


@pytest.fixture
def place(tmp_path: Path) -> Repo:
    repo = Repo(tmp_path / "repo")
    files = {"a.py": IF, "pkg/b.py": IF, "pkg/test_b.py": IF, "pkg/c.txt": "", "doc/x.md": ""}
    repo.commit("base", files | {".gitignore": "ignored.py\n"})
    repo.write({"pkg/new.py": IF, "pkg/ignored.py": IF})
    return repo


def judge(repo: Repo, *paths: str, head: str = "", below: str = "") -> Patch:
    wanted = [Path(path) for path in paths]
    return whole_files(repo.path / below, wanted, head=head, environment=repo.environment)


def judged(patch: Patch) -> list[str]:
    return [file.path for file in patch.files]


def test_file_is_new_from_its_first_line_to_its_last(place: Repo) -> None:
    patch = judge(place, "a.py")

    [file] = patch.files
    assert (file.base, file.base_path, file.head) == (None, None, IF.encode())
    assert file.added == {1, 2, 3, 4}
    assert patch.base == ""


def test_folder_means_the_python_files_that_git_does_not_ignore(place: Repo) -> None:
    patch = judge(place, "pkg")

    assert judged(patch) == ["pkg/b.py", "pkg/new.py"]
    assert [left.path for left in patch.left_out] == ["pkg/test_b.py"]


def test_top_folder_means_the_whole_repository(place: Repo) -> None:
    assert judged(judge(place, ".")) == ["a.py", "pkg/b.py", "pkg/new.py"]


def test_ignored_file_is_judged_if_it_is_named(place: Repo) -> None:
    assert judged(judge(place, "pkg/ignored.py")) == ["pkg/ignored.py"]


def test_paths_start_at_the_folder_that_is_given(place: Repo) -> None:
    assert judged(judge(place, "b.py", "../a.py", below="pkg")) == ["a.py", "pkg/b.py"]


def test_absolute_path_is_understood(place: Repo) -> None:
    assert judged(judge(place, str(place.path / "a.py"))) == ["a.py"]


def test_file_named_twice_is_judged_once(place: Repo) -> None:
    assert judged(judge(place, "pkg/b.py", "pkg")) == ["pkg/b.py", "pkg/new.py"]


def test_deleted_file_of_a_folder_is_not_there(place: Repo) -> None:
    place.write({"pkg/b.py": None})

    assert judged(judge(place, "pkg")) == ["pkg/new.py"]


def test_files_of_a_commit_are_read_from_it(place: Repo) -> None:
    place.write({"a.py": "broken("})

    patch = judge(place, "a.py", "pkg", head="HEAD")

    assert patch.head == place.head
    assert judged(patch) == ["a.py", "pkg/b.py"]
    assert {file.head for file in patch.files} == {IF.encode()}


@pytest.mark.parametrize(
    ("path", "head", "message"),
    [
        ("nothing.py", "", "nothing.py does not exist"),
        ("pkg/new.py", "HEAD", "pkg/new.py does not exist at "),
        ("doc", "", "doc holds no Python file that git knows or does not ignore"),
        ("pkg/c.txt", "", "pkg/c.txt holds no Python file that git knows or does not ignore"),
        ("../repo2/a.py", "", "../repo2/a.py lies outside the repository "),
        ("/etc/passwd", "", "/etc/passwd lies outside the repository "),
    ],
)
def test_path_that_cannot_be_judged_is_a_mistake_of_usage(
    place: Repo, path: str, head: str, message: str
) -> None:
    with pytest.raises(UsageError) as caught:
        judge(place, path, head=head)

    assert str(caught.value).startswith(message)
    assert caught.value.exit_code is ExitCode.USAGE


def test_folder_without_files_holds_no_python(place: Repo) -> None:
    (place.path / "empty").mkdir()

    with pytest.raises(UsageError, match="empty holds no Python file"):
        judge(place, "empty")


def test_head_that_does_not_exist_is_refused(place: Repo) -> None:
    with pytest.raises(NoBaseError, match="--head v9 names no commit here"):
        judge(place, "a.py", head="v9")


def test_file_that_a_sparse_checkout_leaves_out_is_not_skipped(place: Repo) -> None:
    place.write({"pkg/new.py": None, "pkg/ignored.py": None})
    place.git("sparse-checkout", "set", "--no-cone", "/a.py", "/pkg/c.txt")

    with pytest.raises(NoBaseError, match="git sparse-checkout disable"):
        judge(place, "pkg")
