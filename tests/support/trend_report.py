"""A trend of which reports are made."""

from typing import Final

from invertgate.model import Verdict
from invertgate.trend_model import FlakyRow, Moved, Night, RankedTest, SlowTest, Trend

TREND: Final = Trend(
    "sweep",
    "linux, Python 3.11",
    nights=(
        Night("2026-01-01T02:00:00Z", "aa", {Verdict.BOUND: 3, Verdict.WEAK: 1}),
        Night("2026-01-02T02:00:00Z", "bb", {Verdict.BOUND: 1, Verdict.EXEMPT: 1}),
    ),
    weak_tests=(RankedTest("tests/t.py::test_a", ("src/retry.py:000000000002",), 3),),
    newly_weak=(Moved("src/retry.py:000000000002", "t.py::<b>", Verdict.BOUND, Verdict.WEAK),),
    fixed=(Moved("src/gone.py:00", "t.py::c", None, Verdict.BOUND),),
    flaky=(FlakyRow("src/gone.py:01", "t.py::d", "bound, then weak"),),
    slowest=(SlowTest("t.py::e", 1.234),),
)
