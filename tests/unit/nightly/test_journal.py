import os
import stat
import time
from dataclasses import replace
from pathlib import Path

import pytest

from invertgate.model import Claim, Result, Row, Span, Verdict
from invertgate.nightly import journal
from invertgate.nightly.journal import KEPT, Journal
from support.reports import CONTROL, KILL, outcome

KEY = "a" * 64
TAG = "tag"
TEST = "tests/t.py::test_a"


def row(number: int = 1) -> Row:
    return Row(outcome(number), (Claim(TEST),))


def result(number: int = 1, verdict: Verdict = Verdict.BOUND) -> Result:
    return Result(*row(number).outcome.key, verdict, "so it is", TEST, (CONTROL, KILL))


def noted(folder: Path, *results: Result, key: str = KEY) -> Path:
    """Write a journal, and return its path."""
    with journal.opened(folder, TAG, key) as opened:
        for number, each in enumerate(results, 1):
            opened.add(row(number), each)
    [path] = folder.iterdir()
    return path


def read(folder: Path, number: int = 1, key: str = KEY) -> Result | None:
    with journal.opened(folder, TAG, key) as opened:
        return opened.result_for(row(number))


def test_what_was_noted_is_there_again(tmp_path: Path) -> None:
    noted(tmp_path, result(1), result(2, Verdict.WEAK))

    assert [read(tmp_path, number) for number in (1, 2, 3)] == [
        result(1),
        result(2, Verdict.WEAK),
        None,
    ]


@pytest.mark.parametrize("verdict", sorted(set(Verdict) - KEPT))
def test_what_may_come_from_the_end_of_the_run_is_not_kept(
    verdict: Verdict, tmp_path: Path
) -> None:
    noted(tmp_path, result(1, verdict))

    assert read(tmp_path) is None


def test_a_journal_of_other_things_is_not_read(tmp_path: Path) -> None:
    noted(tmp_path, result())
    other = KEY[:16] + "b" * 48  # the same file

    assert read(tmp_path, key=other) is None
    assert read(tmp_path) is None  # and it is the journal of those now


def test_a_row_that_other_tests_claim_is_judged_again(tmp_path: Path) -> None:
    noted(tmp_path, result())

    with journal.opened(tmp_path, TAG, KEY) as opened:
        other = replace(row(), claims=(Claim(TEST), Claim("tests/t.py::test_b")))
        assert opened.result_for(other) is None


def test_an_id_that_means_another_decision_is_judged_again(tmp_path: Path) -> None:
    noted(tmp_path, result())

    with journal.opened(tmp_path, TAG, KEY) as opened:
        elsewhere = replace(row().outcome, anchor=Span(99, 0, 99, 5))
        assert opened.result_for(replace(row(), outcome=elsewhere)) is None


def test_whatever_is_torn_off_the_end_the_lines_before_it_count(tmp_path: Path) -> None:
    path = noted(tmp_path, result(1), result(2))
    whole = path.read_bytes()
    ends = [place for place, byte in enumerate(whole) if byte == ord("\n")]

    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        held = [read(tmp_path, number) is not None for number in (1, 2)]
        assert held == [size >= ends[1], size >= ends[2]]


def test_a_journal_goes_on_after_a_torn_line(tmp_path: Path) -> None:
    path = noted(tmp_path, result(1), result(2))
    path.write_bytes(path.read_bytes()[:-20])

    with journal.opened(tmp_path, TAG, KEY) as opened:
        opened.add(row(3), result(3))

    assert [read(tmp_path, number) is None for number in (1, 2, 3)] == [False, True, False]


def test_a_line_that_was_changed_does_not_count(tmp_path: Path) -> None:
    path = noted(tmp_path, result(1, Verdict.WEAK))
    path.write_bytes(path.read_bytes().replace(b'"weak"', b'"bound"'))

    assert read(tmp_path) is None


def test_a_journal_that_others_can_write_does_not_count(tmp_path: Path) -> None:
    path = noted(tmp_path, result())
    path.chmod(stat.S_IMODE(path.stat().st_mode) | stat.S_IWOTH)

    assert read(tmp_path) is None


def test_a_journal_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    path = noted(tmp_path, result())
    elsewhere = tmp_path.with_name("elsewhere")
    path.rename(elsewhere)
    path.symlink_to(elsewhere)

    assert read(tmp_path) is None


def test_a_journal_of_yesterday_does_not_count(tmp_path: Path) -> None:
    path = noted(tmp_path, result())
    yesterday = time.time() - 25 * 3600
    os.utime(path, (yesterday, yesterday))

    assert read(tmp_path) is None


def test_a_folder_that_cannot_be_written_costs_only_the_resuming(tmp_path: Path) -> None:
    with journal.opened(tmp_path / "missing", TAG, KEY) as opened:
        opened.add(row(), result())

        assert opened.result_for(row()) is None


def test_a_disk_that_is_full_costs_only_the_resuming() -> None:
    stream = os.open("/dev/full", os.O_WRONLY)

    Journal(stream, ()).add(row(), result())

    os.close(stream)


def test_removing_leaves_the_journals_of_other_runs(tmp_path: Path) -> None:
    noted(tmp_path, result())
    with journal.opened(tmp_path, "other", KEY) as opened:
        opened.add(row(), result())

    journal.remove(tmp_path, TAG)

    assert [journal.is_there(tmp_path, tag) for tag in (TAG, "other")] == [False, True]


def test_removing_removes_what_nobody_came_back_to(tmp_path: Path) -> None:
    path = noted(tmp_path, result())
    os.utime(path, (0, 0))

    journal.remove(tmp_path, "other")

    assert not path.exists()
