import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from invertgate.model import Ending, Kind, Outcome, Result, Run, Side, Span, Verdict
from invertgate.nightly.cache import Cache, trim, usable

OUTCOME = Outcome(
    "shop.py", "0123456789ab", Kind.IF, "n", Side.TRUE, "", 1, Span(1, 3, 1, 4), (2, 2)
)
SOURCE = b"if n:\n    m()\n"
RUN = Run("test_a", inverted=True, ending=Ending.FAILED)
BOUND = Result("shop.py", "0123456789ab", Verdict.BOUND, "killed", "test_a", (RUN,))
OPENED = ("shop.py", "test_shop.py", "gone.txt")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    top = tmp_path / "tree"
    top.mkdir()
    (top / "shop.py").write_bytes(SOURCE)
    (top / "test_shop.py").write_text("def test_a(): ...\n")
    return top


def night(tree: Path, context: str = "context") -> Cache:
    folder = tree.parent / "cache"
    return Cache(folder, context, tree, "2026-03-14", time.time())


def kept(tree: Path, result: Result = BOUND, opened: tuple[str, ...] | None = OPENED) -> None:
    cache = night(tree)
    cache.keep(OUTCOME, SOURCE, result, opened)
    cache.save()


def known(tree: Path) -> dict[str, Result]:
    return dict(night(tree).known(OUTCOME, SOURCE))


def test_a_verdict_is_taken_over_with_its_day(tree: Path) -> None:
    kept(tree)

    assert known(tree) == {"test_a": replace(BOUND, cached_since="2026-03-14")}


CHANGES: dict[str, Callable[[Path], object]] = {
    "a file that was opened": lambda tree: (tree / "test_shop.py").write_text("pass\n"),
    "a file that is gone": lambda tree: (tree / "test_shop.py").unlink(),
    "a file that was looked for and is there now": lambda tree: (tree / "gone.txt").touch(),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_it_is_not_where_what_it_hangs_on_changed(
    change: Callable[[Path], object], tree: Path
) -> None:
    kept(tree)

    change(tree)

    assert known(tree) == {}


def test_it_is_where_another_file_changed(tree: Path) -> None:
    kept(tree)

    (tree / "other.py").write_text("")

    assert "test_a" in known(tree)


def test_other_surroundings_another_decision_and_other_source_are_other_rows(tree: Path) -> None:
    kept(tree)

    assert night(tree, "other").known(OUTCOME, SOURCE) == {}
    assert night(tree).known(replace(OUTCOME, id="ba9876543210"), SOURCE) == {}
    assert night(tree).known(OUTCOME, SOURCE + b"\n") == {}


@pytest.mark.parametrize("verdict", [each for each in Verdict if each not in ("bound", "weak")])
def test_only_bound_and_weak_are_kept(verdict: Verdict, tree: Path) -> None:
    kept(tree, replace(BOUND, verdict=verdict))

    assert known(tree) == {}


def test_nothing_is_kept_of_runs_that_could_not_be_followed(tree: Path) -> None:
    kept(tree, opened=None)
    kept(tree, replace(BOUND, runs=(replace(RUN, notes=("child without the switch",)),)))

    assert known(tree) == {}


def test_nothing_is_kept_if_a_file_outside_was_written_since(tree: Path) -> None:
    outside = tree.parent / "outside.txt"
    outside.write_text("now")

    kept(tree, opened=(*OPENED, str(outside)))

    assert known(tree) == {}


def test_torn_strange_and_unreadable_files_are_as_good_as_none(tree: Path) -> None:
    for content in (b"", b"{}", b"00000000 {}", b"\xff" * 40, b"[" * 100_000):
        kept(tree)
        for path in (tree.parent / "cache").rglob("*.json"):
            path.write_bytes(content)

        assert known(tree) == {}


def test_a_list_of_files_that_was_exchanged_is_not_believed(tree: Path) -> None:
    kept(tree)
    kept(tree, replace(BOUND, test="test_b"), ("shop.py",))
    files = sorted(
        (tree.parent / "cache" / "files").rglob("*.json"), key=lambda p: p.stat().st_size
    )
    (tree / "test_shop.py").write_text("changed\n")

    files[1].write_bytes(files[0].read_bytes())

    assert set(known(tree)) == {"test_b"}


def test_two_sweeps_at_once_leave_valid_files(tree: Path) -> None:
    one, other = night(tree), night(tree)
    one.keep(OUTCOME, SOURCE, BOUND, OPENED)
    other.keep(OUTCOME, SOURCE, replace(BOUND, test="test_b"), OPENED)

    one.save()
    other.save()

    assert set(known(tree)) == {"test_a", "test_b"}


def test_a_folder_that_cannot_be_written_costs_only_the_hits(tree: Path) -> None:
    (tree.parent / "cache").write_text("in the way")

    kept(tree)

    assert known(tree) == {}
    assert usable(tree.parent / "cache")


def test_a_folder_that_others_may_write_is_not_believed(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    folder.mkdir()
    folder.chmod(0o777)

    assert "others may write" in usable(folder)


def test_trimming_keeps_what_is_young_and_fits(tree: Path) -> None:
    kept(tree)
    files = sorted((tree.parent / "cache").rglob("*.json"))
    os.utime(files[0], (0, 0))

    trim(tree.parent / "cache")

    assert not files[0].exists()
    assert files[1].exists()
    trim(tree.parent / "cache", most=1)
    assert not files[1].exists()
