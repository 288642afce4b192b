"""Which tests may bind a row, the likeliest and cheapest first. Pure."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

_ADDRESS: Final = re.compile(r"0x[0-9a-fA-F]{6,}")


@dataclass(frozen=True, slots=True)
class Sighting:
    """A test that passes and takes an outcome, and what it costs."""

    test: str
    seconds: float


def in_order(sightings: Iterable[Sighting], source: str) -> list[str]:
    """Order the tests that may bind a row.

    A test without parameters comes before one with, as its id lasts longer; a test whose file is
    named after the source comes before others; then the cheaper one. Ids that hold an address are
    left out: they are others in every process.

    Args:
        sightings: Tests that take the outcome.
        source: Path of the outcome's file.
    """
    stem = source.rsplit("/", 1)[-1].removesuffix(".py").strip("_")

    def cost(sighting: Sighting) -> tuple[bool, bool, float, str]:
        file = sighting.test.split("::", 1)[0]
        return (
            "[" in sighting.test,
            not stem or stem not in file,
            round(sighting.seconds, 2),
            sighting.test,
        )

    usable = [each for each in sightings if not _ADDRESS.search(each.test)]
    return [each.test for each in sorted(usable, key=cost)]


def by_slot(taken: Iterable[tuple[Sighting, Iterable[int]]]) -> dict[int, list[Sighting]]:
    """Return the tests that take each outcome, by its slot."""
    found: dict[int, list[Sighting]] = {}
    for sighting, slots in taken:
        for slot in slots:
            found.setdefault(slot, []).append(sighting)
    return found
