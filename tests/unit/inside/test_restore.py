import mmap
import os
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryFile

import pytest

from invertgate.inside.restore import Folders, Tree


@pytest.fixture
def place(tmp_path: Path) -> Path:
    for folder in ("pristine/project/data", "0/project/data", "0/home", "0/tmp"):
        (tmp_path / folder).mkdir(parents=True)
    for top in ("pristine", "0"):
        file = tmp_path / top / "project" / "data" / "a.txt"
        file.write_text("first\n")
        os.utime(file, (1_000_000_000, 1_000_000_000))
    (tmp_path / "0/home/.gitconfig").write_text("[user]\n")
    return tmp_path / "0"


def folders(place: Path) -> Folders:
    pristine = str(place.parent / "pristine" / "project")
    trees = [Tree(str(place / "project"), str(place / "settled-tree"), pristine)]
    trees += [Tree(str(place / name), str(place / f"settled-{name}")) for name in ("home", "tmp")]
    return Folders(str(place), trees, ("answer.json",))


def _overwrite(place: Path) -> None:
    (place / "project/data/a.txt").write_text("other\n")


def _overwrite_through_memory(place: Path) -> None:
    with (place / "project/data/a.txt").open("r+b") as file, mmap.mmap(file.fileno(), 0) as memory:
        memory[0] = ord("F")
        memory.flush()


def _delete_a_folder(place: Path) -> None:
    (place / "project/data/a.txt").unlink()
    (place / "project/data").rmdir()


def _put_a_file_in_the_way(place: Path) -> None:
    _delete_a_folder(place)
    (place / "project/data").write_text("no folder")


def _put_a_folder_in_the_way(place: Path) -> None:
    (place / "project/data/a.txt").unlink()
    (place / "project/data/a.txt").mkdir()


def _put_a_link_in_the_way(place: Path) -> None:
    (place / "project/data/a.txt").rename(place / "tmp/a.txt")
    (place / "project/data/a.txt").symlink_to(place / "tmp/a.txt")


def _add_files(place: Path) -> None:
    (place / "project/new/deep").mkdir(parents=True)
    (place / "project/new/deep/b.txt").touch()
    (place / "project/link").symlink_to("data")


def _write_beside(place: Path) -> None:
    (place / "lock").touch()


def _change_home(place: Path) -> None:
    (place / "home/.gitconfig").write_text("[alias]\n")
    (place / "home/.cache").mkdir()


def _fill_tmp(place: Path) -> None:
    (place / "tmp/x").touch()


CHANGES = [
    _overwrite,
    _overwrite_through_memory,
    _delete_a_folder,
    _put_a_file_in_the_way,
    _put_a_folder_in_the_way,
    _put_a_link_in_the_way,
    _add_files,
    _write_beside,
    _change_home,
    _fill_tmp,
]


def content(place: Path) -> dict[str, str]:
    found = {}
    for path in sorted(place.rglob("*")):
        name = path.relative_to(place).as_posix()
        if not name.startswith("settled"):
            found[name] = path.read_text() if path.is_file() else "(folder)"
    return found


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__[1:])
def test_what_a_run_changes_is_put_back(place: Path, change: Callable[[Path], None]) -> None:
    before = content(place)
    ours = folders(place)

    for _ in range(2):
        change(place)
        ours.restore()

        assert content(place) == before


def test_folder_that_was_deleted_comes_back_with_its_mode(place: Path) -> None:
    for top in (place.parent / "pristine", place):
        (top / "project/data").chmod(0o750)
    ours = folders(place)
    _delete_a_folder(place)

    ours.restore()

    assert (place / "project/data").stat().st_mode & 0o777 == 0o750


def test_what_was_there_when_it_was_settled_stays(place: Path) -> None:
    ours = folders(place)
    (place / "project/made_at_import.txt").write_text("x")
    (place / "tmp/made_at_import").mkdir()
    ours.settle()
    before = content(place)
    _overwrite(place)
    _add_files(place)

    ours.restore()

    assert content(place) == before


def test_files_without_a_name_are_no_change(place: Path) -> None:
    ours = folders(place)

    with TemporaryFile(dir=place / "tmp") as file:
        file.write(b"captured output")
        file.flush()

        assert ours._has_changed() is False  # noqa: SLF001


def test_restoring_anyway_does_not_rely_on_what_was_heard(place: Path) -> None:
    before = content(place)
    ours = folders(place)
    _overwrite(place)
    ours.settle()
    other = folders(place)
    del other
    (place / "project/extra").touch()
    ours._has_changed()  # noqa: SLF001  # another process hears it

    ours.restore(anyway=True)

    assert "project/extra" not in content(place)
    assert before.keys() == content(place).keys()
