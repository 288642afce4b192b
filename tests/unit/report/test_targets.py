import os
import threading
from pathlib import Path

import pytest

from invertgate.errors import UsageError
from invertgate.report.formats import FORMATS, Format
from invertgate.report.targets import Target, check, clear, write
from support.reports import nothing_new

FORMAT = Format("sarif", "a format", lambda report: f"{report.found} \udc80\n")
OTHER = Format("junit", "another", lambda _: "other\n")


def test_file_is_written_as_a_whole_and_nothing_stays_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "out.sarif"

    printed = write(nothing_new(), [Target(FORMAT, str(path)), Target(OTHER, "-")])

    assert path.read_bytes() == b"0 \\udc80\n"
    assert list(path.parent.iterdir()) == [path]
    assert printed == [(Target(OTHER, "-"), "other\n")]


def test_clear_removes_what_an_earlier_run_wrote_and_makes_the_folder(tmp_path: Path) -> None:
    stale, new = tmp_path / "stale", tmp_path / "a" / "b" / "new"
    stale.write_text("old")

    clear([Target(FORMAT, str(stale)), Target(OTHER, str(new)), Target(FORMAT, "-")])

    assert not stale.exists()
    assert new.parent.is_dir()


def test_link_stays_one(tmp_path: Path) -> None:
    link, behind = tmp_path / "link", tmp_path / "behind"
    behind.write_text("old")
    link.symlink_to(behind)

    clear([Target(FORMAT, str(link))])
    write(nothing_new(), [Target(OTHER, str(link))])

    assert link.is_symlink()
    assert behind.read_text() == "other\n"


def test_device_is_written_and_not_replaced() -> None:
    target = Target(OTHER, os.devnull)

    clear([target])
    write(nothing_new(), [target])

    assert not Path(os.devnull).is_file()


def test_pipe_gets_the_report(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got: list[str] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_text()))
    reader.start()

    clear([Target(OTHER, str(pipe))])
    write(nothing_new(), [Target(OTHER, str(pipe))])

    reader.join(timeout=10)
    assert got == ["other\n"]


@pytest.mark.parametrize(
    ("paths", "words"),
    [
        (("", "x"), "--sarif needs the name of a file"),
        (("-", "-"), "--sarif and --junit both write to -"),
        (("x", "./x"), "--sarif and --junit both write to ./x"),
        ((".", "x"), "--sarif .: this is a folder; name a file in it"),
    ],
)
def test_places_that_cannot_be(paths: tuple[str, str], words: str) -> None:
    with pytest.raises(UsageError) as raised:
        check([Target(FORMAT, paths[0]), Target(OTHER, paths[1])])

    assert str(raised.value) == words


def test_file_that_cannot_be_written_is_named_and_the_others_are_written(tmp_path: Path) -> None:
    tmp_path.joinpath("file").write_text("")
    bad, good = tmp_path / "file" / "x", tmp_path / "good"

    with pytest.raises(UsageError, match=r"--sarif .*cannot be written: "):
        write(nothing_new(), [Target(FORMAT, str(bad)), Target(OTHER, str(good))])
    with pytest.raises(UsageError, match=r"--sarif .*cannot be written: "):
        clear([Target(FORMAT, str(bad))])

    assert good.read_text() == "other\n"


def test_table_of_formats_has_each_once_with_its_flag() -> None:
    assert [each.flag for each in FORMATS] == [
        "--html",
        "--sarif",
        "--junit",
        "--gitlab",
        "--stryker",
        "--markdown",
    ]
