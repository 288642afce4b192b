"""Show on a terminal what several reports say together."""

from collections.abc import Callable, Sequence
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from invertgate.model import Verdict
from invertgate.report.words import counted, visible
from invertgate.trend_model import Moved, Night, Trend

_BARS: Final = "▁▂▃▄▅▆▇█"
_SHOWN: Final = 20
_OPEN: Final = (
    Verdict.WEAK,
    Verdict.RED,
    Verdict.UNREACHED,
    Verdict.UNBOUND,
    Verdict.UNCOLLECTED,
    Verdict.UNPROVEN,
    Verdict.LOCKED_OUT,
)


def show_trend(trend: Trend, console: Console) -> None:
    """Show a line of bars for each kind of verdict, and what changed.

    Args:
        trend: At least one report.
        console: Where to.
    """
    nights = trend.nights
    console.print(
        Text(f"{counted(len(nights), 'report')} of {trend.series}, {trend.machine}", "bold"),
        Text(f"{_when(nights[0])} to {_when(nights[-1])}", "dim"),
        sep="  ",
    )
    lines: tuple[tuple[str, Callable[[Night], int]], ...] = (
        ("bound", lambda night: night.counts.get(Verdict.BOUND, 0)),
        ("weak", lambda night: night.counts.get(Verdict.WEAK, 0)),
        ("not bound", lambda night: sum(night.counts.get(each, 0) for each in _OPEN)),
    )
    for name, number in lines:
        numbers = [number(night) for night in nights]
        console.print(Text(f"  {name:10} {sparkline(numbers)}  {numbers[0]} → {numbers[-1]}"))
    weak = [(each.test, str(len(each.rows)), str(each.nights)) for each in trend.weak_tests]
    _show(console, "weak tests", ("test", "outcomes it lets pass", "reports on end"), weak)
    _show(console, "newly weak", ("row", "test", "before"), _moved(trend.newly_weak))
    _show(console, "fixed", ("row", "test", "before"), _moved(trend.fixed))
    flaky = [(each.row, each.test, each.why) for each in trend.flaky]
    _show(console, "flaky", ("row", "test", "why"), flaky)
    slow = [(each.test, f"{each.seconds:.2f}") for each in trend.slowest]
    _show(console, "slowest tests", ("test", "seconds"), slow)


def sparkline(numbers: Sequence[int]) -> str:
    """Return a bar for each number, the highest for the largest; no bar is below zero."""
    most = max((*numbers, 1))
    return "".join(_BARS[round(number * (len(_BARS) - 1) / most)] for number in numbers)


def _show(
    console: Console, title: str, columns: Sequence[str], rows: Sequence[tuple[str, ...]]
) -> None:
    if not rows:
        return
    console.print(Text(f"\n{title} ({len(rows)})", "bold"))
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0))
    for column in columns:
        table.add_column(column, overflow="fold", header_style="dim")
    for row in rows[:_SHOWN]:
        table.add_row(*(Text(visible(cell)) for cell in row))
    console.print(table)
    if len(rows) > _SHOWN:
        console.print(Text(f"and {len(rows) - _SHOWN} more: --json lists all"))


def _moved(rows: Sequence[Moved]) -> list[tuple[str, ...]]:
    return [(each.row, each.test, each.was or "not seen") for each in rows]


def _when(night: Night) -> str:
    return visible(night.started[:16].replace("T", " "))
