"""Which rows of a file own which of its lines: predicates and bodies, the innermost first. Pure."""

import ast
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from invertgate.model import Kind, Outcome, Side

Position = tuple[int, int]
"""Line from 1, UTF-8 column from 0."""

_ELSE: Final = (Kind.TRY_ELSE, Kind.FOR_ELSE, Kind.WHILE_ELSE)


@dataclass(frozen=True, slots=True)
class Region:
    """A part of a source file that belongs to a row."""

    start: Position
    end: Position
    """Exclusive."""
    outcome: Outcome
    is_predicate: bool
    """It decides; otherwise it runs only if the outcome is taken."""


class Regions:
    """Regions of a file, which lie within one another or beside."""

    def __init__(self, regions: Iterable[Region]) -> None:
        self._regions = sorted(regions, key=lambda each: (each.start, (-each.end[0], -each.end[1])))
        self._starts = [region.start for region in self._regions]
        self._around: list[int] = []
        open_ones: list[int] = []
        for number, region in enumerate(self._regions):
            while open_ones and self._regions[open_ones[-1]].end <= region.start:
                open_ones.pop()
            self._around.append(open_ones[-1] if open_ones else -1)
            open_ones.append(number)

    def innermost(self, position: Position) -> Region | None:
        """Return the smallest region around a place."""
        number = bisect_right(self._starts, position) - 1
        while number >= 0:
            if position < self._regions[number].end:
                return self._regions[number]
            number = self._around[number]
        return None


def regions_of(tree: ast.Module, outcomes: Sequence[Outcome]) -> Regions:
    """Find what belongs to the rows of a file.

    A predicate belongs to the first of the rows of its decision.

    Args:
        tree: The file's.
        outcomes: Its rows'.
    """
    by_anchor: dict[tuple[Kind, int, int], list[Outcome]] = {}
    for one in outcomes:
        by_anchor.setdefault((one.kind, one.anchor.line, one.anchor.column), []).append(one)
    return Regions(
        region
        for node in ast.walk(tree)
        for kind, anchor in _anchors(node)
        for region in _of_decision(node, kind, anchor, by_anchor)
    )


def _anchors(node: ast.AST) -> Iterator[tuple[Kind, ast.AST]]:
    """Yield the decisions of a node, each with the node that its anchor is the place of."""
    match node:
        case ast.If():
            yield Kind.IF, node.test
        case ast.IfExp():
            yield Kind.IFEXP, node.test
        case ast.While():
            yield Kind.WHILE, node.test
            yield Kind.WHILE_ELSE, node
        case ast.For() | ast.AsyncFor():
            yield Kind.FOR_ELSE, node
        case ast.Try() | ast.TryStar():
            yield Kind.TRY_ELSE, node
        case ast.ExceptHandler():
            yield Kind.EXCEPT, node
        case ast.match_case():
            yield Kind.MATCH, node.pattern
        case ast.comprehension():
            for test in node.ifs:
                yield Kind.COMPREHENSION, test
        case _:
            return


def _of_decision(
    node: ast.AST,
    kind: Kind,
    anchor: ast.AST,
    by_anchor: dict[tuple[Kind, int, int], list[Outcome]],
) -> Iterator[Region]:
    start, _ = _span((anchor,))
    rows = by_anchor.get((kind, *start), [])
    predicate = node.guard if isinstance(node, ast.match_case) else anchor
    if rows and isinstance(predicate, ast.expr):
        yield Region(*_span((predicate,)), rows[0], is_predicate=True)
    for outcome in rows:
        if taken := _taken(node, kind, outcome.side):
            yield Region(*_span(taken), outcome, is_predicate=False)


def _taken(node: ast.AST, kind: Kind, side: Side) -> Sequence[ast.AST]:
    """Return what runs only if an outcome is taken."""
    match node:
        case ast.IfExp():
            return (node.body if side is Side.TRUE else node.orelse,)
        case ast.If() | ast.While() | ast.For() | ast.AsyncFor() | ast.Try() | ast.TryStar():
            return node.orelse if kind in _ELSE or side is Side.FALSE else node.body
        case ast.ExceptHandler() | ast.match_case():
            return node.body
        case _:
            return ()


def _span(nodes: Sequence[ast.AST]) -> tuple[Position, Position]:
    first, last = nodes[0], nodes[-1]
    assert isinstance(first, ast.stmt | ast.expr | ast.excepthandler | ast.pattern)  # noqa: S101
    assert isinstance(last, ast.stmt | ast.expr | ast.excepthandler | ast.pattern)  # noqa: S101
    end = (last.end_lineno or last.lineno, last.end_col_offset or last.col_offset)
    return (first.lineno, first.col_offset), end
