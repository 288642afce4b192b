import os
from pathlib import Path

import pytest

from invertgate.nightly.archive import digest_of, pack, unpack


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    top = tmp_path / "one" / "shop"
    (top / "sub" / "empty").mkdir(parents=True)
    (top / ".git").mkdir()
    (top / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (top / "sub" / "tool.sh").write_bytes(b"#!/bin/sh\r\n")
    (top / "sub" / "tool.sh").chmod(0o755)
    os.utime(top / "sub" / "tool.sh", ns=(1_500_000_000_250_000_000,) * 2)
    (top / "ä.txt").write_bytes(b"\xff\0")
    (top / "near").symlink_to("sub/tool.sh")
    (top / "whole").symlink_to(top / "sub" / "tool.sh")
    (top / "far").symlink_to("/etc/hostname")
    os.link(top / "ä.txt", top / "same.txt")
    return top


def test_a_tree_comes_back_with_modes_times_links_and_empty_folders(
    tree: Path, tmp_path: Path
) -> None:
    pack(tree, tmp_path / "tree.tar.gz")
    new = tmp_path / "two" / "store"

    unpack(tmp_path / "tree.tar.gz", new)

    assert (new / "ä.txt").read_bytes() == b"\xff\0"
    assert (new / "sub" / "empty").is_dir()
    assert (new / "sub" / "tool.sh").stat().st_mode & 0o777 == 0o755
    assert (new / "sub" / "tool.sh").stat().st_mtime == 1_500_000_000.25
    assert (new / ".git" / "HEAD").read_text() == "ref: refs/heads/main\n"
    assert (new / "near").readlink() == Path("sub/tool.sh")
    assert (new / "far").readlink() == Path("/etc/hostname")


def test_a_link_to_the_tree_itself_leads_to_where_the_tree_is_now(
    tree: Path, tmp_path: Path
) -> None:
    pack(tree, tmp_path / "tree.tar.gz")
    new = tmp_path / "two" / "store"

    unpack(tmp_path / "tree.tar.gz", new)

    assert (new / "whole").readlink() == new / "sub" / "tool.sh"


def test_two_names_of_one_file_are_two_files(tree: Path, tmp_path: Path) -> None:
    pack(tree, tmp_path / "tree.tar.gz")
    new = tmp_path / "two"

    unpack(tmp_path / "tree.tar.gz", new)

    (new / "same.txt").write_bytes(b"other")
    assert (new / "ä.txt").read_bytes() == b"\xff\0"


def test_the_same_tree_makes_the_same_archive_wherever_it_lies(tree: Path, tmp_path: Path) -> None:
    first = pack(tree, tmp_path / "a.tar.gz")
    unpack(tmp_path / "a.tar.gz", tmp_path / "copy")
    os.utime(tmp_path / "copy" / "sub", (1, 1))
    os.utime(tmp_path / "copy" / ".git" / "HEAD", (1, 1))

    second = pack(tmp_path / "copy", tmp_path / "b.tar.gz")

    assert first == second == digest_of(tmp_path / "b.tar.gz")


def test_another_content_mode_or_time_makes_another_archive(tree: Path, tmp_path: Path) -> None:
    digests = {pack(tree, tmp_path / "a.tar.gz")}

    (tree / "sub" / "tool.sh").chmod(0o700)
    digests.add(pack(tree, tmp_path / "a.tar.gz"))
    os.utime(tree / "sub" / "tool.sh", (5, 5))
    digests.add(pack(tree, tmp_path / "a.tar.gz"))
    (tree / "near").unlink()
    digests.add(pack(tree, tmp_path / "a.tar.gz"))

    assert len(digests) == 4
