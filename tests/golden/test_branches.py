"""The outcomes of sample files are those that stand in their margins."""

from pathlib import Path

import pytest

from invertgate.model import ChangedFile, Outcome
from invertgate.outcomes.identity import new_outcomes

BRANCHES = sorted(Path(__file__).parents[2].joinpath("fixtures/branches").glob("*.py"))


@pytest.mark.parametrize("path", BRANCHES, ids=lambda path: path.stem)
def test_outcomes_are_those_in_the_margin(path: Path) -> None:
    source = path.read_bytes()

    listed = new_outcomes([ChangedFile(path.name, None, None, source, frozenset())])

    assert not listed.not_parsed
    assert {(outcome.line, _label(outcome)) for outcome in listed.outcomes} == _margin(source)


def test_there_are_samples() -> None:
    assert len(BRANCHES) >= 4


def _label(outcome: Outcome) -> str:
    return f"{'exempt:' if outcome.exempt else ''}{outcome.kind}-{outcome.side}"


def _margin(source: bytes) -> set[tuple[int, str]]:
    lines = source.decode().split("\n")
    return {
        (number, label)
        for number, line in enumerate(lines, start=1)
        for label in line.partition("#>")[2].split()
    }
