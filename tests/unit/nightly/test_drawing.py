import xml.etree.ElementTree as ET

import pytest

from invertgate.model import Verdict
from invertgate.nightly.drawing import svg
from invertgate.trend_model import Night, Trend

SVG = "{http://www.w3.org/2000/svg}"


def drawn(*counts: dict[Verdict, int]) -> ET.Element:
    nights = [
        Night(f"2026-01-{day:02}T03:00:00+00:00", "4f0c2d1", each)
        for day, each in enumerate(counts, 1)
    ]
    return ET.fromstring(svg(Trend("sweep", "linux", tuple(nights))))  # noqa: S314 (our own)


def bars(picture: ET.Element) -> list[float]:
    return [float(rect.attrib["height"]) for rect in picture.iterfind(f"{SVG}g/{SVG}rect")]


def test_the_picture_has_a_title_and_says_what_it_shows() -> None:
    picture = drawn({Verdict.BOUND: 3}, {Verdict.BOUND: 1, Verdict.WEAK: 2})

    ids = [picture[0].attrib["id"], picture[1].attrib["id"]]
    assert (picture.attrib["role"], picture.attrib["aria-labelledby"].split()) == ("img", ids)
    assert picture[0].text == "Verdicts of the last 2 reports"
    assert str(picture[1].text).endswith("to 2026-01-02 03:00: 1 bound, 2 weak or red.")


def test_bars_are_as_high_as_their_numbers() -> None:
    first, second, third = bars(drawn({Verdict.BOUND: 4}, {Verdict.BOUND: 1, Verdict.WEAK: 2}))

    assert (first, second, third) == (172.0, 43.0, 86.0)


def test_every_verdict_that_is_not_left_out_on_purpose_is_drawn() -> None:
    undrawn = [each for each in Verdict if not bars(drawn({each: 1}))]

    assert undrawn == [Verdict.LEFTOVER, Verdict.INHERITED, Verdict.EXEMPT]


@pytest.mark.parametrize("nights", [0, 1, 100])
def test_any_number_of_reports_can_be_drawn(nights: int) -> None:
    assert len(bars(drawn(*[{Verdict.WEAK: 1}] * nights))) == nights


def test_nothing_is_fetched_and_no_script_runs() -> None:
    text = svg(Trend("sweep", "linux", (Night("</svg><script>", "b", {Verdict.BOUND: 1}),)))

    assert "<script" not in text
    assert text.count("http") == 1  # the name space
    assert "prefers-color-scheme:dark" in text
