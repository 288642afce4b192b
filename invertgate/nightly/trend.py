"""What reports say together: weak tests, what became weak, what was mended, what is flaky."""

import json
import sqlite3
from collections.abc import Iterator
from typing import Final

from invertgate.model import Verdict
from invertgate.trend_model import FlakyRow, Moved, Night, RankedTest, SlowTest, Trend

SERIES: Final = ("sweep", "run")
"""Which reports are compared with one another; the first that there are any of is shown."""

_SLOWEST: Final = 10


def trend(connection: sqlite3.Connection, series: str = "", last: int = 30) -> Trend | None:
    """Compare the last report of a series with those before it on the same machine.

    Args:
        connection: A history.
        series: One of ``SERIES``; by default the first that there are reports of.
        last: How many reports are told of at most.

    Returns:
        None if there is no report.
    """
    for each in (series,) if series else SERIES:
        newest = connection.execute(
            "SELECT id, machine FROM reports WHERE series = ?"
            " ORDER BY started DESC, id DESC LIMIT 1",
            (each,),
        ).fetchone()
        if newest is not None:
            return _Comparison(connection, each, newest[1], last).trend()
    return None


class _Comparison:
    """One comparison; its reports are those of a series and a machine, the newest first."""

    def __init__(
        self, connection: sqlite3.Connection, series: str, machine: str, last: int
    ) -> None:
        self._connection = connection
        self._series = series
        self._machine = machine
        self._last = last
        self._ids = [
            number
            for (number,) in connection.execute(
                "SELECT id FROM reports WHERE series = ? AND machine = ?"
                " ORDER BY started DESC, id DESC",
                (series, machine),
            )
        ]
        self._newest = self._ids[0]

    def trend(self) -> Trend:
        """Put everything together."""
        moved = list(self._moved())
        return Trend(
            self._series,
            self._machine,
            nights=tuple(self._nights()),
            weak_tests=tuple(self._weak_tests()),
            newly_weak=tuple(each for each in moved if each.now is Verdict.WEAK),
            fixed=tuple(
                each for each in moved if each.now is Verdict.BOUND and each.was is not None
            ),
            flaky=tuple(self._flaky()),
            slowest=tuple(self._slowest()),
        )

    def _nights(self) -> Iterator[Night]:
        for number in reversed(self._ids[: self._last]):
            started, base, counts, cpu = self._connection.execute(
                "SELECT started, base, counts, cpu FROM reports WHERE id = ?", (number,)
            ).fetchone()
            told = json.loads(counts)
            yield Night(started, base, {v: told[v] for v in Verdict if told.get(v)}, cpu)

    def _weak_tests(self) -> Iterator[RankedTest]:
        rows: dict[str, list[str]] = {}
        found = self._connection.execute(
            "SELECT t.name, r.name FROM weak JOIN names t ON t.id = test JOIN names r ON r.id = row"
            " WHERE report = ? ORDER BY t.name, r.name",
            (self._newest,),
        )
        for test, row in found:
            rows.setdefault(test, []).append(row)
        for test in sorted(rows, key=lambda each: (-len(rows[each]), each)):
            yield RankedTest(test, tuple(rows[test]), self._nights_on_end(test))

    def _nights_on_end(self, test: str) -> int:
        nights = {
            number
            for (number,) in self._connection.execute(
                "SELECT DISTINCT report FROM weak JOIN names n ON n.id = test WHERE n.name = ?",
                (test,),
            )
        }
        first_without = (place for place, each in enumerate(self._ids) if each not in nights)
        return next(first_without, len(self._ids))

    def _moved(self) -> Iterator[Moved]:
        """Yield rows that are not what they were when they were last judged, new ones too."""
        if len(self._ids) == 1:
            return
        before = self._before()
        found = self._connection.execute(
            "SELECT r.name, t.name, verdict FROM verdicts JOIN names r ON r.id = row"
            " JOIN names t ON t.id = test WHERE report = ? ORDER BY r.name",
            (self._newest,),
        )
        for row, test, verdict in found:
            was = before.get(row)
            if was != verdict:
                yield Moved(row, test, Verdict(was) if was else None, Verdict(verdict))

    def _before(self) -> dict[str, str]:
        """Return what was last said of each row before the newest report."""
        place = {number: -place for place, number in enumerate(self._ids)}
        latest: dict[str, tuple[int, str]] = {}
        found = self._connection.execute(
            "SELECT r.name, report, verdict FROM verdicts JOIN names r ON r.id = row"
            " WHERE row IN (SELECT row FROM verdicts WHERE report = ?)",
            (self._newest,),
        )
        for row, report, verdict in found:
            if report == self._newest or report not in place:
                continue
            latest[row] = max(latest.get(row, (place[report], verdict)), (place[report], verdict))
        return {row: verdict for row, (_, verdict) in latest.items()}

    def _flaky(self) -> Iterator[FlakyRow]:
        """Yield rows whose runs disagreed, and those judged differently on the same files."""
        found = self._connection.execute(
            "SELECT r.name, t.name, unstable FROM verdicts JOIN names r ON r.id = row"
            " JOIN names t ON t.id = test WHERE report = ? AND unstable != '' ORDER BY r.name",
            (self._newest,),
        ).fetchall()
        yield from (FlakyRow(*each) for each in found)
        unstable = {row for row, *_ in found}
        flips = self._connection.execute(
            "SELECT r.name, t.name, group_concat(DISTINCT v.verdict) FROM verdicts v"
            " JOIN reports ON reports.id = v.report JOIN names r ON r.id = v.row"
            " JOIN verdicts n ON n.row = v.row AND n.report = ? JOIN names t ON t.id = n.test"
            " WHERE tree != '' AND series = ? AND machine = ?"
            " GROUP BY v.row, tree HAVING count(DISTINCT v.verdict) > 1 ORDER BY r.name",
            (self._newest, self._series, self._machine),
        )
        for row, test, verdicts in flips:
            if row not in unstable:
                unstable.add(row)
                said = " and ".join(sorted(verdicts.split(",")))
                yield FlakyRow(row, test, f"{said}, of the same files")

    def _slowest(self) -> Iterator[SlowTest]:
        found = self._connection.execute(
            "SELECT name, seconds FROM slow JOIN names ON names.id = test WHERE report = ?"
            " ORDER BY seconds DESC, name LIMIT ?",
            (self._newest, _SLOWEST),
        )
        yield from (SlowTest(*each) for each in found)
