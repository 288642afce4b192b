"""Draw verdicts over time: one self-contained picture, for light and dark pages."""

from collections.abc import Iterator, Sequence
from html import escape
from typing import Final

from invertgate.model import Verdict
from invertgate.trend_model import Night, Trend

_WIDTH: Final = 720
_HEIGHT: Final = 260
_LEFT: Final = 48
_TOP: Final = 44
_BOTTOM: Final = 216
_RIGHT: Final = 712

_BANDS: Final = (
    ("bound", "#2e7d4f", "#5fbf86", (Verdict.BOUND,)),
    (
        "waived or on hold",
        "#5b6b8c",
        "#93a4c9",
        (
            Verdict.WAIVED,
            Verdict.QUARANTINED,
            Verdict.EXTERNAL,
        ),
    ),
    ("unproven", "#b7860b", "#e3b94a", (Verdict.UNPROVEN,)),
    (
        "unreached or without a test",
        "#c2571a",
        "#f0924f",
        (
            Verdict.UNREACHED,
            Verdict.UNBOUND,
            Verdict.UNCOLLECTED,
            Verdict.LOCKED_OUT,
        ),
    ),
    ("weak or red", "#b3261e", "#f2726a", (Verdict.WEAK, Verdict.RED)),
)
"""Name, colour on light and on dark pages, and verdicts of each band, from below."""


_ABOUT: Final = (
    'xmlns="http://www.w3.org/2000/svg" width="100%" role="img" class="ig-trend" '
    'aria-labelledby="ig-trend-title ig-trend-desc"'
)


def svg(trend: Trend) -> str:
    """Draw one bar a report, the oldest at the left, divided by verdict.

    Args:
        trend: At least one report.

    Returns:
        An ``svg`` element without scripts and without anything from elsewhere, to be put into a
        page or into a file of its own. A reader of screens finds a title and a description.
    """
    nights = trend.nights
    most = max((_height(night) for night in nights), default=0) or 1
    parts = [
        f'<svg {_ABOUT} viewBox="0 0 {_WIDTH} {_HEIGHT}" style="max-width:{_WIDTH}px">',
        f'<title id="ig-trend-title">Verdicts of the last {len(nights)} reports</title>',
        f'<desc id="ig-trend-desc">{escape(_description(nights))}</desc>',
        f"<style>{_style()}</style>",
        *_legend(),
        *_axes(nights, most),
        *(line for place, night in enumerate(nights) for line in _bar(place, night, nights, most)),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _style() -> str:
    light = "".join(f".ig-trend .b{n}{{fill:{band[1]}}}" for n, band in enumerate(_BANDS))
    dark = "".join(f".ig-trend .b{n}{{fill:{band[2]}}}" for n, band in enumerate(_BANDS))
    return (
        ".ig-trend text{font:11px system-ui,sans-serif;fill:#333}"
        ".ig-trend .axis{stroke:#999;stroke-width:1}" + light + "@media (prefers-color-scheme:dark)"
        "{.ig-trend text{fill:#ddd}.ig-trend .axis{stroke:#777}" + dark + "}"
    )


def _legend() -> Iterator[str]:
    x = float(_LEFT)
    for number, (name, *_) in enumerate(_BANDS):
        yield f'<rect class="b{number}" x="{x:g}" y="12" width="11" height="11"/>'
        yield f'<text x="{x + 15:g}" y="22">{name}</text>'
        x += 32 + 5.9 * len(name)


def _axes(nights: Sequence[Night], most: int) -> Iterator[str]:
    yield f'<path class="axis" fill="none" d="M{_LEFT} {_TOP}V{_BOTTOM}H{_RIGHT}"/>'
    yield f'<text x="{_LEFT - 6}" y="{_TOP + 4}" text-anchor="end">{most}</text>'
    yield f'<text x="{_LEFT - 6}" y="{_BOTTOM + 4}" text-anchor="end">0</text>'
    if nights:
        first, last = _day(nights[0]), _day(nights[-1])
        yield f'<text x="{_LEFT}" y="{_BOTTOM + 18}">{first}</text>'
        if last != first:
            yield f'<text x="{_RIGHT}" y="{_BOTTOM + 18}" text-anchor="end">{last}</text>'


def _bar(place: int, night: Night, nights: Sequence[Night], most: int) -> Iterator[str]:
    step = (_RIGHT - _LEFT) / len(nights)
    x, width = _LEFT + place * step + 0.1 * step, min(0.8 * step, 40.0)
    y = float(_BOTTOM)
    yield f"<g><title>{escape(_words(night))}</title>"
    for number, count in enumerate(_counts(night)):
        height = count * (_BOTTOM - _TOP) / most
        y -= height
        if count:
            yield (
                f'<rect class="b{number}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" '
                f'height="{height:.1f}"/>'
            )
    yield "</g>"


def _counts(night: Night) -> list[int]:
    return [sum(night.counts.get(each, 0) for each in verdicts) for *_, verdicts in _BANDS]


def _height(night: Night) -> int:
    return sum(_counts(night))


def _day(night: Night) -> str:
    return escape(night.started[:10])


def _words(night: Night) -> str:
    counts = zip(_BANDS, _counts(night), strict=True)
    said = ", ".join(f"{count} {name}" for (name, *_), count in counts if count)
    return f"{night.started[:16].replace('T', ' ')}: {said or 'no rows'}"


def _description(nights: Sequence[Night]) -> str:
    if not nights:
        return "There is no report yet."
    first, last = nights[0], nights[-1]
    if first is last:
        return f"One bar. {_words(last)}."
    return f"One bar a report, the oldest first. From {_words(first)}, to {_words(last)}."
