import sqlite3
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import pytest

from invertgate.model import Verdict
from invertgate.nightly import history
from invertgate.nightly.history import MOST, VERSION, HistoryError
from support.nights import compared, keep, night, write_some

BOUND = Verdict.BOUND


def reports(path: Path) -> int:
    with history.opened(path, create=False) as connection:
        return len(connection.execute("SELECT id FROM reports").fetchall())


def test_a_report_that_is_added_twice_is_there_once(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"

    keep(path, night(1, {"a": BOUND}), night(1, {"a": BOUND}))

    assert reports(path) == 1


def test_the_oldest_reports_are_forgotten_with_all_that_was_known_of_them(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"
    with history.opened(path, create=True) as connection:
        for number in range(MOST + 5):
            entry = night(number % 28 + 1, {f"row{number}": BOUND}, weak={"t": ["row"]})
            history.add(connection, replace(entry, digest=str(number)))

    with history.opened(path, create=False) as connection:
        left = [
            connection.execute(f"SELECT count(DISTINCT {column}) FROM {table}").fetchone()[0]  # noqa: S608
            for table, column in (("reports", "id"), ("verdicts", "report"), ("weak", "report"))
        ]
    assert left == [MOST, MOST, MOST]


def test_what_fails_in_between_leaves_no_trace(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"
    keep(path, night(1, {"a": BOUND}))

    def fail() -> None:
        with history.opened(path, create=True) as connection:
            history.add(connection, night(2, {"a": BOUND}))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()

    assert reports(path) == 1


def test_several_processes_may_write_at_once(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"

    with ProcessPoolExecutor(3, mp_context=get_context("spawn")) as pool:
        written = [pool.submit(write_some, path, first) for first in (1, 6, 11)]
        for each in written:
            each.result()

    assert reports(path) == 15


def junk(path: Path) -> None:
    path.write_bytes(b"this is no database at all" * 100)


def torn(path: Path) -> None:
    keep(path, *(night(day, {f"row {n}": BOUND for n in range(200)}) for day in range(1, 6)))
    path.write_bytes(path.read_bytes()[:-9000])


@pytest.mark.parametrize("damage", [junk, torn])
def test_a_broken_file_is_put_aside(damage: Callable[[Path], None], tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"
    damage(path)
    held = path.read_bytes()

    aside = history.put_aside(path)

    assert aside == tmp_path / "history.sqlite.broken-1"
    assert (aside.read_bytes(), path.exists()) == (held, False)


def test_what_was_put_aside_before_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"

    asides = []
    for _ in range(2):
        junk(path)
        asides.append(history.put_aside(path))

    assert asides == [tmp_path / f"history.sqlite.broken-{number}" for number in (1, 2)]


def newer(path: Path) -> None:
    keep(path, night(1, {"a": BOUND}))
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {VERSION + 1}")
    connection.close()


def of_somebody_else(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE theirs (id)")
    connection.close()


def link(path: Path) -> None:
    path.symlink_to("elsewhere")


@pytest.mark.parametrize(
    ("make", "words"), [(newer, "version"), (of_somebody_else, "somebody else"), (link, "link")]
)
def test_what_is_not_ours_to_write_stays_as_it_is(
    make: Callable[[Path], None], words: str, tmp_path: Path
) -> None:
    path = tmp_path / "history.sqlite"
    make(path)

    with pytest.raises(HistoryError, match=words):
        keep(path, night(2, {"a": BOUND}))

    assert history.put_aside(path) is None


def test_a_file_of_another_name_is_never_put_aside(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    junk(path)

    assert history.put_aside(path) is None


def test_a_history_that_is_not_there_is_not_made_by_looking(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"

    with pytest.raises(HistoryError, match="there is no"):
        compared(path)

    assert not path.exists()


def test_names_that_are_no_text_are_kept_in_a_form_that_is(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"

    keep(path, night(1, {"a\udcff.py:1": Verdict.WEAK}, weak={"t\udcff": ["a\udcff.py:1"]}))

    assert [each.test for each in compared(path).weak_tests] == ["t\\udcff"]
