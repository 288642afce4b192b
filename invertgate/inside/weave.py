"""Weave probes into a module's syntax tree; every outcome of it can then be inverted by the switch.

An operator is one small function a kind of decision; its example shows the source before and
after, where ``test(0, …)`` and the like stand for the probes.
"""

import ast
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from .switch import (
    EVERYTHING,
    PROBE_BODY,
    PROBE_GUARD,
    PROBE_HANDLER,
    PROBE_STAR_HANDLER,
    PROBE_TEST,
)

DEEP: Final = 20_000
"""Recursion limit while a module is parsed and compiled: long chains of ``elif`` nest."""

Anchor = tuple[str, int, int]
"""Kind of a decision, and line and UTF-8 column of its anchor: unique in a file."""


class WeavingError(Exception):
    """A decision is not where it was said to be."""


@dataclass(frozen=True, slots=True)
class Operator:
    """How the decisions of one kind are woven."""

    kind: str
    weave: Callable[[ast.AST, int], None]
    example: tuple[str, str]


def _call(name: str, slot: int, arguments: list[ast.expr], like: ast.AST) -> ast.Call:
    """Call a probe; every new node stands where the old one stood, so tracebacks stay the same."""
    function = ast.copy_location(ast.Name(name, ast.Load()), like)
    constant = ast.copy_location(ast.Constant(slot), like)
    return ast.copy_location(ast.Call(function, [constant, *arguments], []), like)


def _truth(test: ast.expr) -> ast.expr:
    """Ask a test for its truth where it stands, and each of its operands once, as ``if`` does."""
    yes, no = (ast.copy_location(ast.Constant(value), test) for value in (True, False))
    return ast.copy_location(ast.IfExp(test, yes, no), test)


def _weave_test(node: ast.AST, slot: int) -> None:
    assert isinstance(node, ast.If | ast.While | ast.IfExp)  # noqa: S101
    node.test = _call(PROBE_TEST, slot, [_truth(node.test)], node.test)


def _weave_body(node: ast.AST, slot: int) -> None:
    assert isinstance(node, ast.For | ast.AsyncFor | ast.While | ast.Try | ast.TryStar)  # noqa: S101
    first = node.orelse[0]
    entered = ast.If(_call(PROBE_BODY, slot, [], first), node.orelse, [])
    node.orelse = [ast.copy_location(entered, first)]


def _weave_handler(node: ast.AST, slot: int) -> None:
    assert isinstance(node, ast.ExceptHandler)  # noqa: S101
    if node.type is None:
        everything = ast.copy_location(ast.Name(EVERYTHING, ast.Load()), node)
        node.type = _call(PROBE_HANDLER, slot, [everything], node)
    else:
        node.type = _call(PROBE_HANDLER, slot, [node.type], node.type)


def _weave_case(node: ast.AST, slot: int) -> None:
    assert isinstance(node, ast.match_case)  # noqa: S101
    if node.guard is None:
        node.guard = _call(PROBE_BODY, slot, [], node.pattern)
    else:
        node.guard = _call(PROBE_GUARD, slot, [_truth(node.guard)], node.guard)


OPERATORS: Final = (
    Operator("if", _weave_test, ("if a: b()", "if test(0, True if a else False): b()")),
    Operator("while", _weave_test, ("while a: b()", "while test(0, True if a else False): b()")),
    Operator(
        "ifexp", _weave_test, ("x = a if b else c", "x = a if test(0, True if b else False) else c")
    ),
    Operator(
        "except",
        _weave_handler,
        ("try: a()\nexcept E: b()", "try: a()\nexcept handler(0, E): b()"),
    ),
    Operator(
        "match",
        _weave_case,
        ("match a:\n case 1 if b: c()", "match a:\n case 1 if guard(0, True if b else False): c()"),
    ),
    Operator(
        "try_else",
        _weave_body,
        (
            "try: a()\nexcept E: b()\nelse: c()",
            "try: a()\nexcept E: b()\nelse:\n if body(0): c()",
        ),
    ),
    Operator(
        "for_else",
        _weave_body,
        ("for a in b: c()\nelse: d()", "for a in b: c()\nelse:\n if body(0): d()"),
    ),
    Operator(
        "while_else",
        _weave_body,
        ("while a: b()\nelse: c()", "while a: b()\nelse:\n if body(0): c()"),
    ),
)
"""One operator a kind; a comprehension's filters are woven where they stand, in their list."""

_BY_KIND: Final = {operator.kind: operator.weave for operator in OPERATORS}


def weave(tree: ast.Module, slots: Mapping[Anchor, int]) -> None:
    """Weave the decisions that have slots into a tree, in place.

    Raises:
        WeavingError: a decision is not there.
    """
    missing = dict(slots)
    for node in ast.walk(tree):
        for anchor in list(_anchors(node)):
            slot = missing.pop(anchor, None)
            if slot is not None:
                _BY_KIND[anchor[0]](node, slot)
        if isinstance(node, ast.comprehension):
            _weave_filters(node, missing)
        elif isinstance(node, ast.TryStar):
            _weave_star_handlers(node, missing)
    if missing:
        kind, line, column = min(missing, key=lambda anchor: anchor[1:])
        raise WeavingError(f"no {kind} at line {line}, column {column}")


def _anchors(node: ast.AST) -> Iterator[Anchor]:
    """Name the decisions that a node makes; filters are named by their comprehension."""
    match node:
        case ast.If():
            yield "if", node.test.lineno, node.test.col_offset
        case ast.IfExp():
            yield "ifexp", node.test.lineno, node.test.col_offset
        case ast.ExceptHandler():
            yield "except", node.lineno, node.col_offset
        case ast.match_case():
            yield "match", node.pattern.lineno, node.pattern.col_offset
        case ast.While():
            yield "while", node.test.lineno, node.test.col_offset
            yield "while_else", node.lineno, node.col_offset
        case ast.For() | ast.AsyncFor():
            yield "for_else", node.lineno, node.col_offset
        case ast.Try() | ast.TryStar():
            yield "try_else", node.lineno, node.col_offset
        case _:
            return


def _weave_filters(node: ast.comprehension, missing: dict[Anchor, int]) -> None:
    for index, test in enumerate(node.ifs):
        slot = missing.pop(("comprehension", test.lineno, test.col_offset), None)
        if slot is not None:
            node.ifs[index] = _call(PROBE_TEST, slot, [_truth(test)], test)


def _weave_star_handlers(node: ast.TryStar, missing: dict[Anchor, int]) -> None:
    anchors: list[Anchor] = [("except", each.lineno, each.col_offset) for each in node.handlers]
    if not any(anchor in missing for anchor in anchors):
        return
    for order, (anchor, handler) in enumerate(zip(anchors, node.handlers, strict=True)):
        slot = missing.pop(anchor, -1)
        expected = handler.type
        assert expected is not None  # noqa: S101  # there is no bare `except*`
        numbers: list[ast.expr] = [
            ast.copy_location(ast.Constant(number), expected) for number in (order, node.lineno)
        ]
        handler.type = _call(PROBE_STAR_HANDLER, slot, [*numbers, expected], expected)


@contextmanager
def deep_recursion() -> Iterator[None]:
    """Raise the recursion limit for a while."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, DEEP))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


def slots_of(decisions: Iterable[tuple[str, int, int, int]]) -> dict[Anchor, int]:
    """Return the slots of decisions given as (kind, line, column, slot)."""
    return {(kind, line, column): slot for kind, line, column, slot in decisions}
