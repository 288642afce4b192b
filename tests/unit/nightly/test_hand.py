import os
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from invertgate.nightly import hand

CONTENT = b"an archive" * 1000
DIGEST = sha256(CONTENT).hexdigest()


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path) -> Iterator[Path]:
    """Let the folder for temporary files be another one."""
    before, tempfile.tempdir = tempfile.tempdir, str(tmp_path)
    yield tmp_path
    tempfile.tempdir = before


def send(content: bytes, digest: str) -> bool:
    for offset in range(0, len(content), 4096):
        hand.take(digest, "t", offset, content[offset : offset + 4096])
    return hand.keep(digest, "t")


def test_a_machine_does_not_differ_from_itself() -> None:
    assert hand.stance().differs(hand.stance()) == ""
    assert any(each.startswith("pytest ") for each in hand.stance().installed)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"python": "cpython 3.9.0"}, "it runs Python cpython 3.9.0, and this machine cpython 3."),
        ({"platform": "win32"}, "its platform is win32"),
        ({"installed": ("a 2", "b 1")}, "what is installed differs: a 2 only there; a 1 only here"),
        ({"sources": "other"}, "its invertgate is another one"),
    ],
)
def test_another_machine_is_told_by_what_differs(change: dict[str, str], said: str) -> None:
    here = replace(hand.stance(), installed=("a 1", "b 1"))

    assert said in here.differs(replace(here, **change))  # type: ignore[arg-type]


def test_an_archive_that_arrived_in_pieces_is_held() -> None:
    assert not hand.holds(DIGEST)

    assert send(CONTENT, DIGEST)

    assert hand.holds(DIGEST)


def test_an_archive_that_arrived_otherwise_than_it_was_sent_is_not_held(temporary: Path) -> None:
    assert not send(CONTENT + b"!", DIGEST)

    assert not hand.holds(DIGEST)
    assert not list(temporary.rglob("*.part"))


def test_old_archives_make_room_for_new_ones(temporary: Path) -> None:
    contents = [b"%d" % number for number in range(5)]
    for age, content in zip(range(50, 0, -10), contents, strict=True):
        digest = sha256(content).hexdigest()
        assert send(content, digest)
        [path] = temporary.rglob(f"{digest}.tar.gz")
        os.utime(path, (1_000_000 - age, 1_000_000 - age))

    send(CONTENT, DIGEST)

    held = [hand.holds(sha256(content).hexdigest()) for content in contents]
    assert held == [False, False, False, True, True]


def test_the_cache_is_nobody_elses(temporary: Path) -> None:
    send(CONTENT, DIGEST)
    [folder] = temporary.iterdir()

    assert folder.stat().st_mode & 0o077 == 0
    folder.chmod(0o777)
    with pytest.raises(PermissionError, match="open to others"):
        hand.holds(DIGEST)


def test_a_run_that_was_stopped_judges_nothing_more() -> None:
    hand.stop("gone")

    answer = hand.judge(DIGEST, "shop", "gone", "{}")

    assert (answer.code, answer.report) == (-1, "")
