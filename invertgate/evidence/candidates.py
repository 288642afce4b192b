"""Which tests may bind a row, the likeliest and cheapest first. Pure."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import IntEnum
from math import log2
from typing import Final

_ADDRESS: Final = re.compile(r"0x[0-9a-fA-F]{6,}")
_SET: Final = re.compile(r"\{[^{}:]*,[^{}:]*\}")
"""What ``repr`` says of a set; one of texts has another order in every process."""
_FRAGILE: Final = re.compile(
    r"\d\.\d|\de-?\d|\b(?:nan|inf)\b"  # floats
    r"|\\|[^ -~]"  # escapes, line ends, letters that are spelled in several ways
    r"|[<>{}()'\"]"  # what repr() says of an object
    r"|[A-Za-z_]\d+\b"  # numbered by pytest, in the order of the parameters
)
_LONG: Final = 60
"""Characters of parameters above which an id is sure to be edited some day."""
_QUICK: Final = 0.1
"""Seconds below which tests cost about the same as what is around them."""


class Durability(IntEnum):
    """How long the id of a test will name the same test."""

    PLAIN = 0
    """It has no parameters."""
    PARAMETRIZED = 1
    FRAGILE = 2
    """Its parameters are floats, long, what ``repr`` says of objects, or numbers of places."""
    UNSTABLE = 3
    """It is another one in every process, and never a name for a test."""


def durability(nodeid: str) -> Durability:
    """Tell how long an id will name the same test.

    Args:
        nodeid: As pytest collected it.
    """
    _, bracket, parameters = nodeid.partition("[")
    if _ADDRESS.search(nodeid) or _SET.search(parameters):
        return Durability.UNSTABLE
    if not bracket:
        return Durability.PLAIN
    if len(parameters) > _LONG or _FRAGILE.search(parameters):
        return Durability.FRAGILE
    return Durability.PARAMETRIZED


@dataclass(frozen=True, slots=True)
class Sighting:
    """A test that passes and takes an outcome, and what it costs."""

    test: str
    seconds: float


def _anything(_: str) -> bool:
    return True


def in_order(
    sightings: Iterable[Sighting], source: str, asserts: Callable[[str], bool] = _anything
) -> list[str]:
    """Order the tests that may bind a row.

    Lasting ids come before fragile ones, tests that assert before those that cannot but crash,
    cheap ones before those that take twice as long or more, and among those that cost about the
    same the ones whose file is named after the source. Ids that are others in every process are
    left out.

    Args:
        sightings: Tests that take the outcome.
        source: Path of the outcome's file.
        asserts: Tells whether a test may assert something.
    """
    stem = source.rsplit("/", 1)[-1].removesuffix(".py").strip("_")

    def cost(sighting: Sighting) -> tuple[Durability, bool, int, bool, float, str]:
        file = sighting.test.split("::", 1)[0]
        return (
            durability(sighting.test),
            not asserts(sighting.test),
            _doublings(sighting.seconds),
            not stem or stem not in file,
            round(sighting.seconds, 2),
            sighting.test,
        )

    usable = [each for each in sightings if durability(each.test) is not Durability.UNSTABLE]
    return [each.test for each in sorted(usable, key=cost)]


def _doublings(seconds: float) -> int:
    return max(0, int(log2(seconds / _QUICK)) + 1) if seconds > _QUICK else 0


def by_slot(taken: Iterable[tuple[Sighting, Iterable[int]]]) -> dict[int, list[Sighting]]:
    """Return the tests that take each outcome, by its slot."""
    found: dict[int, list[Sighting]] = {}
    for sighting, slots in taken:
        for slot in slots:
            found.setdefault(slot, []).append(sighting)
    return found
