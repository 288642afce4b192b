from dataclasses import replace
from pathlib import Path

import pytest

from invertgate import merge, trends
from invertgate.errors import UsageError
from invertgate.model import Verdict
from invertgate.report import store
from support.parts import shards_of, whole_report, written

GOOD = whole_report([Verdict.BOUND, Verdict.BOUND])
BAD = replace(whole_report([Verdict.BOUND, Verdict.WEAK]), started="2026-01-03T03:04:05Z")


def test_a_report_that_is_kept_knows_what_changed(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"
    trends.recorded(GOOD, path, "sweep")

    told = trends.recorded(BAD, path, "sweep")

    assert told.trend is not None
    assert [each.row for each in told.trend.newly_weak] == [BAD.rows[1].name]


def test_a_report_with_a_trend_is_read_as_it_was_written(tmp_path: Path) -> None:
    told = trends.recorded(BAD, tmp_path / "history.sqlite", "sweep")

    store.write(told, tmp_path)

    assert store.read(tmp_path / "report.json") == told


def test_a_broken_history_is_put_aside_and_a_new_one_begun(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"
    path.write_text("no history" * 100)

    told = trends.recorded(GOOD, path, "sweep")

    assert told.notes[-1].endswith("it is history.sqlite.broken-1 now, and a new one was begun")
    assert len(trends.read(path, "", 30).nights) == 1


@pytest.mark.parametrize("name", ["missing/history.sqlite", "history.txt"])
def test_a_history_that_cannot_be_used_changes_nothing_but_is_told(
    name: str, tmp_path: Path
) -> None:
    (tmp_path / "history.txt").write_text("mine" * 100)

    told = trends.recorded(GOOD, tmp_path / name, "sweep")

    assert replace(told, notes=GOOD.notes) == GOOD
    assert told.notes[-1].startswith("the history was not written: ")
    assert (tmp_path / "history.txt").read_text() == "mine" * 100


def test_looking_at_no_history_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no history to compare: there is no"):
        trends.read(tmp_path / "history.sqlite", "", 30)


def test_a_history_without_the_reports_asked_for_says_so(tmp_path: Path) -> None:
    trends.recorded(GOOD, tmp_path / "history.sqlite", "run")

    with pytest.raises(UsageError, match="holds no report of sweep yet"):
        trends.read(tmp_path / "history.sqlite", "sweep", 30)


def test_a_drawing_that_cannot_be_written_is_a_usage_error(tmp_path: Path) -> None:
    trends.recorded(GOOD, tmp_path / "history.sqlite", "run")
    found = trends.read(tmp_path / "history.sqlite", "", 30)

    with pytest.raises(UsageError, match="cannot be written"):
        trends.draw(found, tmp_path)


def test_a_merged_sweep_is_compared_and_a_merged_run_only_kept(tmp_path: Path) -> None:
    joined = {}
    for series in ("sweep", "run"):
        whole = replace(GOOD, command=f"invertgate {series} --all")
        for place, part in enumerate(shards_of(whole, 2)):
            written(part, tmp_path / series / str(place))
        out = tmp_path / f"{series}-out"
        joined[series] = merge.run([tmp_path / series], out, "invertgate merge", matrix=False)

    assert joined["sweep"].trend is not None
    assert joined["run"].trend is None
    assert trends.read(tmp_path / "run-out" / "history.sqlite", "run", 30).machine.endswith("3.11")
