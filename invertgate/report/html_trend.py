"""The bars of the page's trend: how many rows of each report were good, open and bad."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from invertgate.model import Verdict
from invertgate.report.html_rows import tone_of
from invertgate.trend_model import Night, Trend

TONES: Final = ("good", "quiet", "open", "bad")
"""From the foot of a bar to its head."""

HEIGHT: Final = 96
"""Of the highest bar, in pixels."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a bar: ``x`` and ``width`` in percent, the others in pixels from the top left."""

    tone: str
    x: float
    width: float
    y: float
    height: float


@dataclass(frozen=True, slots=True)
class TrendNight:
    """What one report of the trend counts."""

    started: str
    numbers: tuple[tuple[str, int], ...]
    """Of each tone, in the order of ``TONES``."""
    pieces: tuple[Piece, ...]


def trend_nights(trend: Trend) -> list[TrendNight]:
    """Return the reports of a trend, the oldest first, each with the pieces of its bar."""
    counted = [(night, _by_tone(night)) for night in trend.nights]
    most = max((sum(numbers.values()) for _, numbers in counted), default=0) or 1
    step = 100 / max(len(counted), 1)
    return [
        TrendNight(
            night.started,
            tuple(numbers.items()),
            tuple(_pieces(numbers, at * step, step * 0.8, HEIGHT / most)),
        )
        for at, (night, numbers) in enumerate(counted)
    ]


def _by_tone(night: Night) -> dict[str, int]:
    numbers = dict.fromkeys(TONES, 0)
    for verdict, number in night.counts.items():
        if verdict is not Verdict.INHERITED:  # rows of other patches
            numbers[tone_of(verdict)] += number
    return numbers


def _pieces(numbers: dict[str, int], x: float, width: float, scale: float) -> Iterator[Piece]:
    top = float(HEIGHT)
    for tone, number in numbers.items():
        height = number * scale
        top -= height
        if number:
            yield Piece(tone, round(x, 3), round(width, 3), round(top, 2), round(height, 2))
