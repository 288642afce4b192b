from dataclasses import replace

import pytest

from invertgate.model import Excerpt, Span, Verdict
from invertgate.report.regions import Region, region
from support.reports import full_report, one_row

[ROW] = one_row(Verdict.WEAK).rows


@pytest.mark.parametrize(
    ("anchor", "lines", "found"),
    [
        (Span(10, 3, 10, 8), ("if a < b:",), Region(10, "if a < b:", 3, 8)),
        (Span(10, 5, 10, 7), ("é = é",), Region(10, "é = é", 4, 5)),
        (Span(10, 3, 11, 1), ("if (a",), Region(10, "if (a", 3, 5)),
        (Span(10, 1, 10, 2), ("é = 1",), Region(10, "é = 1")),
        (Span(10, 0, 10, 50), ("short",), Region(10, "short")),
        (Span(10, 2, 10, 2), ("short",), Region(10, "short")),
        (Span(9, 0, 12, 4), ("else:",), Region(10, "else:")),
        (None, ("else:",), Region(10, "else:")),
    ],
)
def test_region_is_the_decision_on_the_line_of_the_row(
    anchor: Span | None, lines: tuple[str, ...], found: Region
) -> None:
    assert region(replace(ROW, anchor=anchor, excerpt=Excerpt(10, lines))) == found


@pytest.mark.parametrize("excerpt", [None, Excerpt(3, ("a", "b")), Excerpt(11, ("a",))])
def test_region_without_its_text_is_a_line(excerpt: Excerpt | None) -> None:
    assert region(replace(ROW, excerpt=excerpt)) == Region(10)


def test_outcome_that_is_gone_has_no_region() -> None:
    gone = [row for row in full_report().rows if not row.line]

    assert [region(row) for row in gone] == [None, None]
