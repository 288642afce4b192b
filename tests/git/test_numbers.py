"""Lines that are added and deleted, counted by git and never guessed."""

from pathlib import Path

import pytest

from invertgate.patch.git import SUBMODULE, SYMLINK, open_repository
from invertgate.patch.numbers import Numbers, count, removed_lines
from invertgate.patch.worktree import listing
from support.repo import Repo

THIRTY = "".join(f"line_{number} = {number}\n" for number in range(30))


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo(tmp_path / "repo")


def counted(repo: Repo, base: str, head: str = "HEAD") -> list[Numbers]:
    repository = open_repository(repo.path, repo.environment)
    untracked = () if head else listing(repository).untracked
    return count(repository, base, head, untracked)


def sizes(repo: Repo, base: str, head: str = "HEAD") -> dict[str, tuple[int | None, int | None]]:
    return {one.entry.path: (one.added, one.deleted) for one in counted(repo, base, head)}


def removed(repo: Repo, base: str, head: str = "HEAD") -> dict[str, tuple[bytes, ...]]:
    repository = open_repository(repo.path, repo.environment)
    untracked = () if head else listing(repository).untracked
    return removed_lines(repository, base, head, untracked)


def test_rename_counts_only_the_lines_that_changed(repo: Repo) -> None:
    base = repo.commit("base", {"old.py": THIRTY})
    repo.commit("head", {"old.py": None, "new.py": THIRTY + "x = 1\ny = 2\n"})

    [one] = counted(repo, base)

    assert (one.entry.old_path, one.entry.path) == ("old.py", "new.py")
    assert (one.added, one.deleted) == (2, 0)


def test_rename_is_seen_whatever_the_user_has_configured(repo: Repo) -> None:
    base = repo.commit("base", {"old.py": THIRTY})
    repo.commit("head", {"old.py": None, "new.py": THIRTY + "x = 1\n"})
    for setting in ("diff.renames=false", "diff.noprefix=true", "diff.external=true"):
        repo.git("config", *setting.split("="))

    assert sizes(repo, base) == {"new.py": (1, 0)}


@pytest.mark.parametrize(
    "name",
    ["a => b.py", "a{b => c}/d.py", "docs/naïve.md", 'q"uote.py', "tab\tname.py", "line\nbreak.py"],
)
def test_path_is_exact(repo: Repo, name: str) -> None:
    base = repo.commit("base", {name: "one\ntwo\n"})
    repo.commit("head", {name: "one\n2\n"})

    assert sizes(repo, base) == {name: (1, 1)}
    assert removed(repo, base) == {name: (b"two",)}


def test_rename_between_odd_names_is_exact(repo: Repo) -> None:
    base = repo.commit("base", {"a => b": THIRTY})
    repo.commit("head", {"a => b": None, "c\t{d": THIRTY + "x\n"})

    [one] = counted(repo, base)

    assert (one.entry.old_path, one.entry.path, one.added) == ("a => b", "c\t{d", 1)


def test_binary_file_is_not_counted(repo: Repo) -> None:
    base = repo.commit("base", {"logo.png": b"\0\1\2"})
    repo.commit("head", {"logo.png": b"\0\1\3"})

    assert sizes(repo, base) == {"logo.png": (None, None)}


def test_file_that_an_attribute_calls_binary_is_not_counted(repo: Repo) -> None:
    base = repo.commit("base", {".gitattributes": "gen.py -diff\n", "gen.py": "x = 1\n"})
    repo.commit("head", {"gen.py": "x = 1\n" * 500})

    assert sizes(repo, base) == {"gen.py": (None, None)}


def test_empty_new_file_counts_nothing_and_is_there(repo: Repo) -> None:
    base = repo.commit("base", {"a.py": "x = 1\n"})
    repo.commit("head", {"pkg/__init__.py": ""})

    assert sizes(repo, base) == {"pkg/__init__.py": (0, 0)}


def test_last_line_without_an_end_is_a_line(repo: Repo) -> None:
    base = repo.commit("base", {"a.txt": "one\ntwo"})
    repo.commit("head", {"a.txt": "one\n2"})

    assert sizes(repo, base) == {"a.txt": (1, 1)}
    assert removed(repo, base) == {"a.txt": (b"two",)}


def test_removed_line_that_looks_like_a_header_is_a_line(repo: Repo) -> None:
    base = repo.commit("base", {"a.sql": "-- a/assert.sql\n++ b/x\nkept\n"})
    repo.commit("head", {"a.sql": "kept\n"})

    assert removed(repo, base) == {"a.sql": (b"-- a/assert.sql", b"++ b/x")}


def test_deleted_file_removes_all_its_lines(repo: Repo) -> None:
    base = repo.commit("base", {"a.txt": "one\ntwo\n", "b.txt": ""})
    repo.commit("head", {"a.txt": None})

    assert removed(repo, base) == {"a.txt": (b"one", b"two")}


def test_changed_mode_counts_nothing(repo: Repo) -> None:
    base = repo.commit("base", {"run.sh": "echo\n"})
    (repo.path / "run.sh").chmod(0o755)
    repo.commit("head")

    assert sizes(repo, base) == {"run.sh": (0, 0)}


def test_submodule_is_a_path_of_its_own(repo: Repo, tmp_path: Path) -> None:
    other = Repo(tmp_path / "other")
    other.commit("one", {"x.py": "x = 1\n"})
    base = repo.commit("base", {"a.py": "x = 1\n"})
    repo.git("submodule", "--quiet", "add", other.path.as_uri(), "vendored")
    repo.commit("head")

    by_path = {one.entry.path: one for one in counted(repo, base)}

    assert by_path["vendored"].entry.mode == SUBMODULE
    assert by_path["vendored"].added == 1


def test_working_tree_counts_untracked_files_and_renames_to_them(repo: Repo) -> None:
    base = repo.commit("base", {"old.py": THIRTY, "kept.py": "x = 1\n", ".gitignore": "*.log\n"})
    repo.write({"old.py": None, "new.py": THIRTY + "x = 1\n", "note.txt": "a\nb\n", "a.log": "x\n"})

    assert sizes(repo, base, "") == {"new.py": (1, 0), "note.txt": (2, 0)}


def test_untracked_link_is_a_link(repo: Repo) -> None:
    base = repo.commit("base", {"a.py": "x = 1\n"})
    (repo.path / "link.py").symlink_to("a.py")

    [one] = counted(repo, base, "")

    assert (one.entry.path, one.entry.mode) == ("link.py", SYMLINK)


def test_file_that_was_only_touched_is_not_changed(repo: Repo) -> None:
    base = repo.commit("base", {"a.txt": "one\n", "b.bin": b"\0\1"})
    repo.write({"a.txt": "one\n", "b.bin": b"\0\1"})

    assert sizes(repo, base, "") == {}


def test_user_index_is_not_written(repo: Repo) -> None:
    base = repo.commit("base", {"a.txt": "one\n"})
    repo.write({"a.txt": "two\n", "new.txt": "x\n"})
    index = (repo.path / ".git" / "index").read_bytes()

    counted(repo, base, "")

    assert (repo.path / ".git" / "index").read_bytes() == index
