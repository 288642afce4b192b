import os
from pathlib import Path
from socket import AF_UNIX, socket

import pytest

from invertgate.isolation.trees import Selection, Trees, environments_in, missing_in, private_trees


@pytest.fixture
def project(tmp_path: Path) -> Path:
    top = tmp_path / "project"
    for folder in ("src/pkg", "empty", ".git", "src/pkg/__pycache__", ".venv/lib", "data"):
        (top / folder).mkdir(parents=True)
    (top / "src/pkg/a.py").write_text("x = 1\n")
    (top / "src/pkg/__pycache__/a.pyc").write_bytes(b"stale")
    (top / ".venv/pyvenv.cfg").touch()
    (top / "data/big.bin").write_bytes(b"x")
    (top / "absolute").symlink_to(top / "src")
    (top / "relative").symlink_to("src/pkg")
    (top / "broken").symlink_to("nowhere")
    os.utime(top / "src/pkg/a.py", (1_000_000_000, 1_000_000_000))
    return top


def files(trees: Trees, number: int) -> set[str]:
    top = trees.top(number)
    return {path.relative_to(top).as_posix() for path in top.rglob("*")}


def test_copy_has_all_but_caches_and_environments(project: Path) -> None:
    with private_trees(project, 2, Selection()) as trees:
        found = files(trees, 1)

    assert {"src/pkg/a.py", "empty", "data/big.bin", "relative", "broken"} <= found
    assert not {name for name in found if name.startswith((".git", ".venv"))}
    assert not {name for name in found if "__pycache__" in name}


def test_copy_keeps_name_and_times(project: Path) -> None:
    with private_trees(project, 1, Selection()) as trees:
        assert trees.top(0).name == "project"
        assert (trees.top(0) / "src/pkg/a.py").stat().st_mtime == 1_000_000_000


def test_copy_keeps_rights_and_waits_for_no_pipe(project: Path) -> None:
    (project / "tool.sh").write_text("#!/bin/sh\n")
    (project / "tool.sh").chmod(0o755)
    os.mkfifo(project / "pipe")

    with socket(AF_UNIX) as server:
        server.bind(str(project / "sock"))
    with private_trees(project, 1, Selection()) as trees:
        assert (trees.top(0) / "tool.sh").stat().st_mode & 0o777 == 0o755
        assert files(trees, 0).isdisjoint({"pipe", "sock"})


def test_files_that_share_their_bytes_are_two_in_the_copy(project: Path) -> None:
    (project / "twin.py").hardlink_to(project / "src/pkg/a.py")

    with private_trees(project, 1, Selection()) as trees:
        (trees.top(0) / "twin.py").write_text("x = 2\n")
        assert (trees.top(0) / "src/pkg/a.py").read_text() == "x = 1\n"

    assert (project / "twin.py").read_text() == "x = 1\n"


def test_link_into_the_tree_leads_into_the_copy(project: Path) -> None:
    with private_trees(project, 1, Selection()) as trees:
        assert (trees.top(0) / "absolute").resolve() == (trees.top(0) / "src").resolve()


def test_globs_choose_what_is_copied(project: Path) -> None:
    selection = Selection(exclude=("data/*",), include=("src/pkg/__pycache__",))

    with private_trees(project, 1, selection) as trees:
        found = files(trees, 0)

    assert "data/big.bin" not in found
    assert "src/pkg/__pycache__/a.pyc" in found


def test_files_of_another_tree_are_put_beside(project: Path, tmp_path: Path) -> None:
    commit = tmp_path / "head" / "project"
    commit.mkdir(parents=True)

    with private_trees(commit, 1, Selection(), None, (project, ["data/", "src/pkg/a.py"])) as trees:
        assert files(trees, 0) == {"data", "data/big.bin", "src", "src/pkg", "src/pkg/a.py"}


def test_nothing_is_left(project: Path) -> None:
    with private_trees(project, 1, Selection()) as trees:
        scratch = trees.scratch
        (trees.top(0) / "src").chmod(0o500)

    assert not scratch.exists()


def test_remains_of_a_run_that_was_killed_are_removed(project: Path) -> None:
    with private_trees(project, 1, Selection()) as trees:
        dead = trees.scratch.parent / "ig-999999999-abc"
        dead.mkdir()

    with private_trees(project, 1, Selection()) as trees:
        assert not dead.exists()
        assert trees.scratch.exists()


def test_environments_are_found(project: Path) -> None:
    assert environments_in(project) == (project / ".venv",)


def test_missing_files_are_told(project: Path) -> None:
    assert missing_in(project, ["src/pkg/a.py", "gone.py"]) == ["gone.py"]
