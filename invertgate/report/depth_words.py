"""Small changes within bound rows, added up in words."""

from collections.abc import Iterable
from typing import Final

from invertgate.report.document import ReportRow

DEPTH: Final = "deep: "
"""How the note begins."""


def depth_in_words(rows: Iterable[ReportRow]) -> str:
    """Say what came of all small changes; empty if none was tried."""
    deep = [row.deep for row in rows if row.deep is not None]
    if not deep:
        return ""
    tried = sum(each.tried for each in deep)
    survivors = sum(len(each.survivors) for each in deep)
    others = sum(each.not_run + each.undecided for each in deep)
    left_out = sum(each.left_out for each in deep)
    parts = [f"{sum(each.noticed for each in deep)} noticed", f"{survivors} survive"]
    parts += [f"{others} could not be judged"] if others else []
    parts += [f"{left_out} more were left out"] if left_out else []
    told = f"{tried} small changes in {len(deep)} bound rows: {', '.join(parts)}"
    return f"{DEPTH}{told}; advice only"
