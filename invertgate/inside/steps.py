"""The order of the runs of an experiment: controls, inverted runs, and again.

The runs of the rows of one test share their controls. With two pairs the order is *control,
inverted …, inverted …, control*: a test that fails every second time, or from the second time on,
cannot look like one that notices. The last run is a control with any number of pairs.

Forks of one process share what chance gave it: the order of sets, random numbers drawn at import.
So every second pair is forked from *another* process, which was started anew.

A test that a fork and a fresh process do not see alike is tried in fresh ones, from the start and
with a pair more: a test that fails by chance gets a second try by this, and must not gain by it.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from .budget import Options
from .limits import Limits
from .record import NO_KILL, Record
from .runs import Order

_MORE_PAIRS: Final = 5
"""Pairs that are added when runs disagree."""
_ENDLESS: Final = 3
"""When a row is searched for a test: how many may use up their time before it is given up."""
_USED_UP: Final = ("cpu time used up", "wall time used up")
_NO_REPORT: Final = "ended without a report"
_FORKED_AWAY: Final = (_NO_REPORT, "killed by a signal", "wall time used up")
"""How an inverted run may end because it was forked: with its descriptors, its memory or a thread
gone. What a control passes by is not all there is: a failure takes ways of its own."""
_BY_CHANCE: Final = ("failed", "error")
"""How a control ends that may pass the next time; the others do not live in a fork."""


@dataclass(slots=True)
class RowAtWork:
    """A row, and what was run for it so far."""

    number: int
    slot: int
    inverted: tuple[int, ...]
    file: int
    runs: list[Record] = field(default_factory=list)


def fits(record: Record, row: RowAtWork) -> bool:
    """Tell whether a control passed and took the row's outcome."""
    return record["ending"] == "passed" and row.slot in record["taken"]


def kills(record: Record, row: RowAtWork) -> bool:
    """Tell whether an inverted run noticed: failed in its call phase, with the point passed."""
    return (
        record["ending"] == "failed"
        and row.slot in record["taken"]
        and record.get("exception") not in NO_KILL
    )


def holds(row: RowAtWork) -> bool:
    """Tell whether all runs that count agree that the test notices."""
    counted = [run for run in row.runs if run.get("counted", True)]
    return any(run["inverted"] for run in counted) and _agree(row)


def asserts(row: RowAtWork) -> bool:
    """Tell whether an assertion of the test made all inverted runs fail."""
    counted = [run for run in row.runs if run.get("counted", True) and run["inverted"]]
    return all(run.get("killer") == "assertion" for run in counted)


@dataclass(slots=True)
class Quest:
    """The search for a test that kills: tells when it is over."""

    beyond: int
    """How many more are tried where the first that kills fails by an exception."""
    endless: int = 0
    left: int | None = None

    def is_over(self, rows: Sequence[RowAtWork]) -> bool:
        """Tell whether no other test is to be tried.

        Args:
            rows: What came of the test that was tried last.
        """
        if all(map(holds, rows)) and all(map(asserts, rows)):
            return True
        self.endless += any(map(never_ended, rows))
        if self.left is not None:
            self.left -= 1
        elif all(map(holds, rows)):
            self.left = self.beyond
        return self.left == 0 or self.endless >= _ENDLESS


def look(test: str, options: Options, carry_out: Callable[[Order], Record]) -> Record:
    """Run a test alone, nothing inverted, to see what it takes."""
    limits = Limits(options.control_fork, options.control_fork, options.memory)
    return carry_out(Order(test, (), not options.fork, limits))


def never_ended(row: RowAtWork) -> bool:
    """Tell whether a run used up its time."""
    return any(run["ending"] in _USED_UP for run in row.runs)


class Experiment:
    """The runs of one test for some rows."""

    def __init__(self, test: str, options: Options, carry_out: Callable[[Order], Record]) -> None:
        self._test = test
        self._options = options
        self._carry_out = carry_out
        self._budget: dict[bool, Limits] = {}
        self._differ = False
        """A fork and a fresh process did not see the test alike, which may have been chance."""
        self._unlike = False

    def run(
        self, rows: Sequence[RowAtWork], at_import: Iterable[int], *, unlike: bool = False
    ) -> None:
        """Run all that has to be run; the rows hold their runs afterwards.

        Args:
            rows: Those that claim the test.
            at_import: Outcomes that are taken before any fork.
            unlike: Forks lack something, or share it: a fresh process confirms what they say.
        """
        self._unlike = unlike
        warm, cold = self._divided(rows, set(at_import))
        if warm:
            cold += self._warm(warm)
        if cold:
            control = self._control(cold=True)
            if control["ending"] != "passed" and control["ending"] != "collection error":
                again = self._control(cold=True)
                _share(cold, control)
                _share(cold, again)
                return
            self._rounds(cold, control, cold=True)

    def _warm(self, rows: list[RowAtWork]) -> list[RowAtWork]:
        """Run forks; return the rows that a fresh process must judge."""
        control = self._control(cold=False)
        if control["ending"] == "passed":
            return self._rounds(rows, control, cold=False)
        if control["ending"] in _BY_CHANCE:
            again = self._control(cold=False)
            if again["ending"] == "passed":
                _share(rows, control)
                _share(rows, again)
                return []
            self._differ = True
        _share(rows, {**control, "counted": False})
        return rows

    def _divided(
        self, rows: Sequence[RowAtWork], at_import: set[int]
    ) -> tuple[list[RowAtWork], list[RowAtWork]]:
        """Keep outcomes that are taken at import for fresh processes."""
        if not self._options.fork:
            return [], list(rows)
        cold = [row for row in rows if at_import.intersection((row.slot, *row.inverted))]
        return [row for row in rows if row not in cold], cold

    def _rounds(self, rows: list[RowAtWork], control: Record, *, cold: bool) -> list[RowAtWork]:
        """Invert each row that the control takes; return those that a fresh process must judge."""
        _share(rows, control)
        taken = [row for row in rows if fits(control, row)]
        doubtful = [] if cold else self._doubtful_controls(rows, taken)
        for row in taken:
            self._invert(row, cold=cold)
        suspects = [row for row in taken if kills(row.runs[-1], row)]
        doubtful += self._confirm(suspects, cold=cold)
        others = [row for row in taken if row not in suspects]
        if not cold:
            doubtful += [row for row in others if self._doubts(row) or self._went_away(row)]
        for row in others:
            if self._options.doubt and row not in doubtful and _used_up(row) == 1:
                self._invert(row, cold=cold)
        return doubtful

    def _confirm(self, rows: list[RowAtWork], *, cold: bool) -> list[RowAtWork]:
        """Run the other pairs, every second one in a fork of the other process.

        Returns those that fresh processes must judge, as they do not say what forks said.

        There the rows come in the opposite order: what an inverted run may leave behind, where no
        restoring reaches, does not meet the same row twice.
        """
        unlike = self._unlike and not cold
        pairs = max(2 * unlike, self._options.confirm + (cold and self._differ))
        for pair in range(1, pairs if rows else 1):
            fresh = (
                cold
                or unlike
                or any(run.get("exception") == "RecursionError" for run in _runs(rows))
            )
            other = pair % 2 == 1 and not fresh
            if pair % 2 == 0:
                _share(rows, self._control(cold=fresh))
            for row in reversed(rows) if pair % 2 == 1 else rows:
                self._invert(row, cold=fresh, other=other)
            if pair % 2 == 1:
                _share(rows, self._control(cold=fresh, other=other))
        if rows and pairs % 2 == 1:
            _share(rows, self._control(cold=cold))
        disagree = [row for row in rows if not _agree(row)]
        if unlike:
            for row in disagree:
                _set_aside(row)
            self._differ = self._differ or bool(disagree)
            return disagree
        for row in disagree:
            self._look_closer(row, cold=cold)
        return []

    def _look_closer(self, row: RowAtWork, *, cold: bool) -> None:
        """Run more pairs of a row whose runs disagree, for the report to say how often."""
        for _ in range(_MORE_PAIRS):
            self._invert(row, cold=cold)
            row.runs.append(self._control(cold=cold))

    def _doubtful_controls(self, rows: list[RowAtWork], taken: list[RowAtWork]) -> list[RowAtWork]:
        """Ask a fresh process before a test is said not to take an outcome."""
        missed = [row for row in rows if row not in taken]
        if not missed or not self._options.doubt:
            return []
        fresh = self._control(cold=True)
        found = [row for row in missed if fits(fresh, row)]
        _share([row for row in missed if row not in found], fresh)
        for row in found:
            _set_aside(row)
        self._differ = self._differ or bool(found)
        return found

    def _doubts(self, row: RowAtWork) -> bool:
        """Ask a fresh process before a test is said to stay green; tell whether it differs."""
        if row.runs[-1]["ending"] != "passed" or not self._options.doubt:
            return False
        fresh = self._inverted(row, cold=True)
        if fresh["ending"] == "passed":
            row.runs.append(fresh)
            return False
        _set_aside(row)
        self._differ = True
        return True

    def _went_away(self, row: RowAtWork) -> bool:
        """Set aside a fork that told nothing, for a fresh process to tell."""
        ending = row.runs[-1]["ending"]
        if ending not in _FORKED_AWAY or not (self._options.doubt or ending == _NO_REPORT):
            return False
        _set_aside(row)
        return True

    def _control(self, *, cold: bool, other: bool = False) -> Record:
        known = self._budget.get(cold)
        options = self._options
        limit = options.control if cold else options.control_fork
        control = self._carry_out(
            Order(self._test, (), cold, known or Limits(limit, limit, options.memory), other)
        )
        if cold not in self._budget and control["ending"] == "passed":
            cpu = max(options.floor, options.factor * control["cpu"])
            wall = max(options.wall_floor, 3 * cpu, options.factor * control["seconds"])
            self._budget[cold] = Limits(cpu, wall, options.memory)
        return control

    def _invert(self, row: RowAtWork, *, cold: bool, other: bool = False) -> None:
        row.runs.append(self._inverted(row, cold=cold, other=other))

    def _inverted(self, row: RowAtWork, *, cold: bool, other: bool = False) -> Record:
        if cold not in self._budget:
            row.runs.append(self._control(cold=cold))
        limits = self._budget.get(cold) or next(iter(self._budget.values()))
        return self._carry_out(Order(self._test, row.inverted, cold, limits, other))


def _agree(row: RowAtWork) -> bool:
    return all(
        kills(run, row) if run["inverted"] else fits(run, row)
        for run in row.runs
        if run.get("counted", True)
    )


def _runs(rows: Iterable[RowAtWork]) -> Iterator[Record]:
    return (run for row in rows for run in row.runs)


def _used_up(row: RowAtWork) -> int:
    """Count the runs that used up their time; the last one is among them, or there are none."""
    if row.runs[-1]["ending"] not in _USED_UP:
        return 0
    return sum(run["ending"] in _USED_UP for run in row.runs)


def _share(rows: Iterable[RowAtWork], control: Record) -> None:
    for row in rows:
        row.runs.append(control)


def _set_aside(row: RowAtWork) -> None:
    row.runs = [{**run, "counted": False} for run in row.runs]
