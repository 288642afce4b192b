"""Functions of one decision each, with all that is known of one of its outcomes by construction."""

import random
import sys
from dataclasses import dataclass
from hashlib import sha256
from string import Template
from typing import Final


@dataclass(frozen=True, slots=True)
class Shape:
    """A function with one decision; ``$n`` makes its texts unique in a file."""

    kind: str
    predicate: str
    side: str
    source: str
    takes: str
    """An argument with which the outcome is taken."""
    gives: str
    """What the function returns then; inverted, it returns another value or raises KeyError."""
    avoids: str
    """An argument with which it is not taken."""
    otherwise: str
    """What the function returns then."""


@dataclass(frozen=True, slots=True)
class Decision:
    """One such function: the row that asks for a test, and calls that a test can make."""

    id: str
    kind: str
    predicate: str
    side: str
    source: str
    taking: str
    """A call that takes the outcome."""
    gives: str
    avoiding: str
    """A call that does not."""
    otherwise: str


_IF: Final = """
def step_$n(x):
    if x > $n:
        return "above"
    return "below"
"""
_EXCEPT: Final = """
class Missing$n(Exception):
    pass


def step_$n(x):
    try:
        return {$n: "there"}[x]
    except (KeyError, Missing$n):
        return "missing"
"""
_TRY_ELSE: Final = """
class Absent$n(Exception):
    pass


def step_$n(x):
    found = "unknown"
    try:
        {$n: "there"}[x]
    except (KeyError, Absent$n):
        pass
    else:
        found = "there"
    return found
"""
_FOR_ELSE: Final = """
def step_$n(x):
    found = "some"
    for each_$n in x:
        break
    else:
        found = "none"
    return found
"""
_MATCH: Final = """
def step_$n(x):
    match x:
        case $n:
            return "hit"
    return "miss"
"""
SHAPES: Final = (
    Shape("if", "x > $n", "true", _IF, "$n + 1", '"above"', "$n", '"below"'),
    Shape("if", "x > $n", "false", _IF, "$n", '"below"', "$n + 1", '"above"'),
    Shape(
        "except",
        "except (KeyError, Missing$n)",
        "handler",
        _EXCEPT,
        "-1",
        '"missing"',
        "$n",
        '"there"',
    ),
    Shape(
        "try_else",
        "try except (KeyError, Absent$n)",
        "else",
        _TRY_ELSE,
        "$n",
        '"there"',
        "-1",
        '"unknown"',
    ),
    Shape("for_else", "for each_$n in x", "else", _FOR_ELSE, "[]", '"none"', "[1]", '"some"'),
    Shape("match", "match x case $n", "case", _MATCH, "$n", '"hit"', "-1", '"miss"'),
)


def decision(number: int, chance: random.Random) -> Decision:
    """Make a function of some shape.

    Args:
        number: Tells it from the others in its file.
        chance: Chooses the shape.
    """
    shape = chance.choice(SHAPES)

    def filled(text: str) -> str:
        return Template(text).substitute(n=number)

    predicate = filled(shape.predicate)
    key = f"{shape.kind}|{predicate}|{shape.side}"
    return Decision(
        id=sha256(key.encode()).hexdigest()[:12],
        kind=shape.kind,
        predicate=predicate,
        side=shape.side,
        source=filled(shape.source),
        taking=filled(f"steps.step_$n({shape.takes})"),
        gives=shape.gives,
        avoiding=filled(f"steps.step_$n({shape.avoids})"),
        otherwise=shape.otherwise,
    )


if __name__ == "__main__":
    sys.exit("this is a part of truth.py")
