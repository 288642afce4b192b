"""Weave other versions of statements and expressions into a module's tree, behind the switch.

``a = b < c`` becomes ``if version(7): a = b <= c`` with ``else: a = b < c``; an expression in the
head of a compound statement becomes a conditional one. Nothing of a version is evaluated while it
is switched off, and it stands in the scope of what it takes the place of.
"""

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from .switch import PROBE_VERSION
from .weave import WeavingError

STATEMENT: Final = "statement"
"""The part of a simple statement that is all of it."""

Key = tuple[int, int, str]
"""Line and UTF-8 column of a statement, and the part of it that has other versions."""


def parts_of(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Yield the expressions in the head of a compound statement, each with its name."""
    match node:
        case ast.If() | ast.While():
            yield "test", node.test
        case ast.For() | ast.AsyncFor():
            yield "iter", node.iter
        case ast.With() | ast.AsyncWith():
            for number, item in enumerate(node.items):
                yield f"item {number}", item.context_expr
        case ast.Match():
            yield "subject", node.subject
            for number, each in enumerate(node.cases):
                if each.guard is not None:
                    yield f"guard {number}", each.guard
        case _:
            return


def vary(tree: ast.Module, versions: Iterable[tuple[int, int, str, int, str]]) -> None:
    """Weave versions into a tree, in place.

    Args:
        tree: The module's.
        versions: Line, column and part as in :data:`Key`, slot, and source text.

    Raises:
        WeavingError: A part is not there.
        SyntaxError: A text is no Python.
    """
    missing: dict[Key, list[tuple[int, str]]] = {}
    for line, column, part, slot, text in versions:
        missing.setdefault((line, column, part), []).append((slot, text))
    for node in list(ast.walk(tree)) if missing else ():
        for block in _blocks(node):
            for place, statement in enumerate(block):
                found = missing.pop((statement.lineno, statement.col_offset, STATEMENT), None)
                if found is not None:
                    block[place] = _statement(statement, found)
        if isinstance(node, ast.stmt):
            for part, expression in list(parts_of(node)):
                found = missing.pop((node.lineno, node.col_offset, part), None)
                if found is not None:
                    _put(node, part, _expression(expression, found))
    if missing:
        line, column, part = min(missing)
        raise WeavingError(f"no {part} at line {line}, column {column}")


def _blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        block = getattr(node, name, None)
        if isinstance(block, list):
            yield block


def _put(node: ast.stmt, part: str, expression: ast.expr) -> None:
    name, _, number = part.partition(" ")
    match node:
        case ast.With() | ast.AsyncWith():
            node.items[int(number)].context_expr = expression
        case ast.Match() if name == "guard":
            node.cases[int(number)].guard = expression
        case _:
            setattr(node, name, expression)


def _statement(original: ast.stmt, versions: Sequence[tuple[int, str]]) -> ast.stmt:
    whole = original
    for slot, text in reversed(versions):
        body = ast.parse(text).body
        chosen = ast.If(_asked(slot), body, [whole])
        _place(chosen, original, whole)
        whole = chosen
    return whole


def _expression(original: ast.expr, versions: Sequence[tuple[int, str]]) -> ast.expr:
    whole = original
    for slot, text in reversed(versions):
        version = ast.parse(f"({text}\n)", mode="eval").body
        chosen = ast.IfExp(_asked(slot), version, whole)
        _place(chosen, original, whole)
        whole = chosen
    return whole


def _asked(slot: int) -> ast.Call:
    return ast.Call(ast.Name(PROBE_VERSION, ast.Load()), [ast.Constant(slot)], [])


def _place(new: ast.AST, like: ast.AST, kept: ast.AST) -> None:
    """Put new nodes where the old one stood, so that tracebacks stay the same."""
    waiting = [new]
    while waiting:
        node = waiting.pop()
        if node is not kept:
            ast.copy_location(node, like)
            waiting += ast.iter_child_nodes(node)
