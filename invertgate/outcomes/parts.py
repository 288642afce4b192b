"""What the writers of expressions and patterns hand over: texts, and nodes yet to be written."""

import ast
from collections.abc import Iterable, Sequence
from typing import TypeAlias

# How tightly an expression binds; one that binds less than its place asks is parenthesised.
# Plain numbers, as they are compared for every node.
NAMED, TUPLE, YIELD, TEST, OR, AND, NOT, COMPARE, BIT_OR, BIT_XOR = range(1, 11)
BIT_AND, SHIFT, SUM, TERM, FACTOR, POWER, AWAIT, ATOM = range(11, 19)
FILTER = TEST + 1
OPERAND = COMPARE + 1

Written: TypeAlias = ast.expr | ast.pattern | ast.comprehension | ast.keyword
Hole: TypeAlias = tuple[Written, int]
"""A node, and how tightly its place binds."""
Part: TypeAlias = str | Hole
Predicate: TypeAlias = tuple[str | tuple[ast.expr | ast.pattern, int], ...]
"""What describes a decision: texts, and holes that stand somewhere in its file."""


def within(level: int, own: int, parts: Sequence[Part]) -> Sequence[Part]:
    """Put parentheses around what binds less (``own``) than its place asks (``level``)."""
    return ("(", *parts, ")") if level > own else parts


def listed(nodes: Iterable[Written], level: int = TEST, comma: str = ", ") -> list[Part]:
    """Put commas, or what else separates them, between nodes."""
    parts: list[Part] = []
    for node in nodes:
        parts += (comma, (node, level))
    return parts[1:]


def paired(pairs: Iterable[Sequence[Part]]) -> list[Part]:
    """Put commas between groups of parts."""
    parts: list[Part] = []
    for pair in pairs:
        parts += (", ", *pair)
    return parts[1:]
