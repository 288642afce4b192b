"""Tell how far a run is while it runs: a bar on a terminal, plain lines in a log, or nothing."""

import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Final, Protocol, TextIO

from invertgate.model import Result, Verdict
from invertgate.report.words import inert, visible

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress

SECONDS_BETWEEN_LINES: Final = 5.0
SECONDS_BETWEEN_FRAMES: Final = 0.1
BAR_WIDTH: Final = 24
NARROWEST_WITH_BAR: Final = 60
"""Columns of a terminal below which the words need the room more than a bar does."""


class Progress(Protocol):
    """What is told of a run while it runs."""

    def stage(self, text: str) -> None:
        """Say what begins now."""

    def total(self, count: int) -> None:
        """Say how many steps the stage has."""

    def advance(self, result: Result | None, text: str) -> None:
        """Say that a step is done, with its result if it has one."""

    def close(self) -> None:
        """End; nothing of ours stays on the terminal."""


class Silent:
    """Tells nothing."""

    def stage(self, text: str) -> None:
        """Say what begins now."""

    def total(self, count: int) -> None:
        """Say how many steps the stage has."""

    def advance(self, result: Result | None, text: str) -> None:
        """Say that a step is done, with its result if it has one."""

    def close(self) -> None:
        """End."""


class PlainLines:
    """A line for each stage with steps, and one every few seconds within it."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._clock = clock
        self._tally = _Tally()
        self._last = clock()

    def stage(self, text: str) -> None:
        """Say what begins now, once it is known to have steps."""
        self._tally = _Tally(text)

    def total(self, count: int) -> None:
        """Say how many steps the stage has."""
        self._tally.count = count
        self._write(f"{self._tally.name}: {count}")

    def advance(self, result: Result | None, text: str) -> None:
        """Say that a step is done, unless a line was written just now."""
        self._tally.add(result)
        if self._clock() - self._last >= SECONDS_BETWEEN_LINES:
            self._write(f"{self._tally}  {visible(text)}".rstrip())

    def close(self) -> None:
        """End."""

    def _write(self, line: str) -> None:
        self._last = self._clock()
        # A reader who left, or a full disk behind the log, must not end the run.
        with suppress(OSError):
            self._stream.write(inert(f"invertgate: {line}\n"))
            self._stream.flush()


class Bar:
    """A bar that is redrawn as steps are done; without a thread, as the run forks."""

    def __init__(
        self,
        stream: TextIO,
        environment: Mapping[str, str],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stream = stream
        self._environment = environment
        self._clock = clock
        self._tally = _Tally()
        self._width = 0
        self._drawn = float("-inf")
        self._bar: RichProgress | None = None

    def stage(self, text: str) -> None:
        """Say what begins now, once it is known to have steps."""
        self.close()
        self._tally = _Tally(text)

    def total(self, count: int) -> None:
        """Say how many steps the stage has."""
        self.close()
        self._tally.count = count
        self._bar = self._new_bar()
        self._bar.add_task(self._fitted(self._tally.name), total=count)
        self._bar.start()

    def advance(self, result: Result | None, text: str) -> None:
        """Say that a step is done."""
        self._tally.add(result)
        if self._bar is None:
            return
        words = f"{self._tally.name}{self._tally.verdicts}  {visible(text)}".rstrip()
        task = self._bar.task_ids[0]
        self._bar.update(task, completed=self._tally.done, description=self._fitted(words))
        if self._clock() - self._drawn >= SECONDS_BETWEEN_FRAMES:
            self._drawn = self._clock()
            self._bar.refresh()

    def close(self) -> None:
        """End; the bar is gone and the cursor back."""
        if self._bar is not None:
            with suppress(OSError):
                self._bar.stop()
        self._bar = None

    def _fitted(self, words: str) -> str:
        """Return as many letters as there is room for beside bar and numbers, on one line."""
        from rich.cells import set_cell_size  # noqa: PLC0415 - see below

        bar = BAR_WIDTH + 1 if self._has_bar() else 0
        room = self._width - bar - 2 * len(str(self._tally.count)) - 3
        return set_cell_size(words, max(room, 0)).rstrip()

    def _has_bar(self) -> bool:
        return self._width >= NARROWEST_WITH_BAR

    def _new_bar(self) -> "RichProgress":
        # Here, because a patch with nothing new gets no bar and shall not wait for one.
        from rich.console import Console  # noqa: PLC0415
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn  # noqa: PLC0415
        from rich.progress import Progress as RichProgress  # noqa: PLC0415
        from rich.table import Column  # noqa: PLC0415

        console = Console(
            file=self._stream,
            no_color=bool(self._environment.get("NO_COLOR")),
            _environ=self._environment,
        )
        self._width = console.width
        whole = Column(no_wrap=True, overflow="crop")
        return RichProgress(
            *([BarColumn(bar_width=BAR_WIDTH)] if self._has_bar() else []),
            MofNCompleteColumn(table_column=whole),
            TextColumn("{task.description}", markup=False, table_column=whole),
            console=console,
            auto_refresh=False,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )


class _Tally:
    """How many steps of a stage are done, and with what verdicts."""

    def __init__(self, name: str = "") -> None:
        self.name = name
        self.count = 0
        self.done = 0
        self._verdicts: Counter[Verdict] = Counter()

    def add(self, result: Result | None) -> None:
        """Count a step."""
        self.done += 1
        if result is not None:
            self._verdicts[result.verdict] += 1

    @property
    def verdicts(self) -> str:
        """Return the verdicts so far in words, or nothing."""
        parts = [
            f"{self._verdicts[verdict]} {verdict}" for verdict in Verdict if self._verdicts[verdict]
        ]
        return f": {', '.join(parts)}" if parts else ""

    def __str__(self) -> str:
        return f"{self.name} {self.done}/{self.count}{self.verdicts}"


def progress_for(stream: TextIO, environment: Mapping[str, str]) -> Progress:
    """Choose how to tell: a bar if somebody watches, plain lines if a log does."""
    watched = stream.isatty() and environment.get("TERM", "") != "dumb"
    if watched and not environment.get("CI"):
        return Bar(stream, environment)
    return PlainLines(stream)
