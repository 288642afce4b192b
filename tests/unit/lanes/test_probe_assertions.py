import tomllib
from pathlib import Path

import pytest

from invertgate.lanes.probe import ProbeLimits, ReasonKind, probe
from support.probe_facts import facts_of

CASES = sorted(Path(__file__).parents[3].joinpath("fixtures", "assertions").glob("*.toml"))
REMOVED = {ReasonKind.ASSERTION, ReasonKind.PROPERTY}


def removed(case: Path) -> tuple[list[str], list[str]]:
    """Give what a case says is gone, and what the probe says."""
    told = tomllib.loads(case.read_text(encoding="utf-8"))
    facts = facts_of(told["base"], told["head"], told.get("renames"))
    reasons = probe(facts, ProbeLimits(line_cap=400)).reasons
    return told["gone"], [str(reason) for reason in reasons if reason.kind in REMOVED]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_assertions_are_gone_where_the_case_says_so(case: Path) -> None:
    gone, found = removed(case)

    assert len(found) == len(gone), found
    assert [text for text in gone if not any(text in said for said in found)] == []


def test_there_are_cases_of_both_kinds() -> None:
    kept = [case for case in CASES if case.stem.startswith("kept_")]

    assert len(CASES) >= 40
    assert len(kept) >= 15
    assert all(removed(case)[0] == [] for case in kept)
