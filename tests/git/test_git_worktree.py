"""Lists of files, contents and trees, taken from git without leaving a trace."""

from pathlib import Path

import pytest

from invertgate.errors import NoBaseError
from invertgate.patch.git import open_repository
from invertgate.patch.worktree import checkout_to, files_of_worktree, object_folder
from support.repo import Repo


def snapshot(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture
def place(tmp_path: Path) -> Repo:
    repo = Repo(tmp_path / "repo")
    repo.commit(
        "base",
        {
            "a.py": "x = 1\n",
            "naïve dir/b.py": "y = 1\n",
            "docs/only.txt": "kept\n",
            ".gitattributes": "docs export-ignore\n*.bat text eol=crlf\n",
            ".gitignore": "build/\n*.so\n",
            "run.bat": "echo\n",
        },
    )
    return repo


def test_files_of_a_work_tree_are_sorted_as_git_sorts_them(place: Repo) -> None:
    place.write({"new.py": "", "build/deep/x": "", "pkg/fast.so": "", "pkg/new.py": ""})

    files = files_of_worktree(open_repository(place.path, place.environment))

    assert set(files.tracked) == {
        "a.py",
        "naïve dir/b.py",
        "docs/only.txt",
        ".gitattributes",
        ".gitignore",
        "run.bat",
    }
    assert set(files.untracked) == {"new.py", "pkg/new.py"}
    assert set(files.ignored) == {"build/", "pkg/fast.so"}


def test_top_is_found_from_any_folder_below(place: Repo) -> None:
    repository = open_repository(place.path / "naïve dir", place.environment)

    assert repository.top == place.path
    assert not repository.shallow


def test_contents_are_read_as_a_commit_has_them(place: Repo) -> None:
    place.write({"a.py": "changed\n"})
    (place.path / "link.py").symlink_to("a.py")
    place.git("add", "link.py")
    place.commit("link")
    repository = open_repository(place.path, place.environment)

    assert repository.blob_at("HEAD~1", "a.py") == b"x = 1\n"
    assert repository.blob_at("HEAD", "naïve dir/b.py") == b"y = 1\n"
    assert repository.blob_at("HEAD", "docs") is None
    assert repository.blob_at("HEAD", "nothing.py") is None
    assert repository.blob_at("HEAD", "link.py") is None
    assert repository.files_at("HEAD", ["a.py", "nothing.py"]) == {"a.py": b"changed\n"}


def test_contents_of_a_commit_that_does_not_exist_are_an_error(place: Repo) -> None:
    repository = open_repository(place.path, place.environment)

    with pytest.raises(NoBaseError, match="git ls-tree failed"):
        repository.blob_at("v9", "a.py")


def test_tree_of_a_commit_is_written_whole_and_nothing_else_is(place: Repo, tmp_path: Path) -> None:
    first = place.head
    place.commit("second", {"a.py": "x = 2\n", "docs/only.txt": None})
    place.git("sparse-checkout", "set", "--no-cone", "/a.py")
    before = snapshot(place.path)
    copy = tmp_path / "copy"
    copy.mkdir()

    checkout_to(open_repository(place.path, place.environment), first, copy)

    written = snapshot(copy)
    assert written["a.py"] == b"x = 1\n"
    assert written["docs/only.txt"] == b"kept\n"
    assert written["naïve dir/b.py"] == b"y = 1\n"
    assert written["run.bat"] == b"echo\r\n"
    assert len(written) == 6
    assert snapshot(place.path) == before


def test_tree_is_written_from_a_linked_worktree(place: Repo, tmp_path: Path) -> None:
    place.git("worktree", "add", "--quiet", str(tmp_path / "linked"))
    copy = tmp_path / "copy"
    copy.mkdir()
    linked = open_repository(tmp_path / "linked", place.environment)

    checkout_to(linked, "HEAD", copy)

    assert (copy / "a.py").read_bytes() == b"x = 1\n"
    assert object_folder(linked) == (place.path / ".git/objects").resolve()


def test_tree_of_a_commit_that_does_not_exist_is_an_error(place: Repo, tmp_path: Path) -> None:
    with pytest.raises(NoBaseError, match="git read-tree failed"):
        checkout_to(open_repository(place.path, place.environment), "v9", tmp_path)
