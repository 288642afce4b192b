"""Whether both sides of a test end alike, as far as the text of its function tells."""

import ast
from collections.abc import Sequence
from functools import lru_cache
from typing import TypeAlias

from invertgate.model import Kind, NotParsed, Outcome
from invertgate.outcomes.source import Source, parse, room_for_deep_trees, span

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef

_BLOCKS = ("body", "orelse", "finalbody")
_LEAVING = (ast.Return, ast.Raise, ast.Break, ast.Continue)


def ends_alike(outcome: Outcome, source: bytes) -> bool:
    """Tell whether nothing differs after an ``if``, whichever side is taken.

    So it is for ``if x: return y`` before ``return y``, and for ``if x: return`` at the end of a
    function. No test can tell the sides apart: the mutant is the same program.

    Args:
        outcome: One side of the test.
        source: The file it stands in.
    """
    parsed = _parsed(outcome.path, source)
    if outcome.kind is not Kind.IF or isinstance(parsed, NotParsed):
        return False
    with room_for_deep_trees():
        pending: list[tuple[Sequence[ast.stmt], list[ast.stmt] | None]] = [(parsed.tree.body, None)]
        while pending:
            block, after = pending.pop()
            for place, statement in enumerate(block):
                rest = None if after is None else [*block[place + 1 :], *after]
                if isinstance(statement, ast.If) and span(statement.test) == outcome.anchor:
                    return rest is not None and _is_alike(statement, rest)
                pending += _within(statement, rest)
    return False


@lru_cache(maxsize=2)
def _parsed(path: str, source: bytes) -> Source | NotParsed:
    """Parse a file, about many of whose outcomes is asked one after another."""
    return parse(path, source)


def _within(
    statement: ast.stmt, rest: list[ast.stmt] | None
) -> list[tuple[Sequence[ast.stmt], list[ast.stmt] | None]]:
    """Return the blocks of a statement, each with what runs after it if that can be told."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
        return [(statement.body, [])]
    if isinstance(statement, ast.If):
        return [(statement.body, rest), (statement.orelse, rest)]
    owners = [
        statement,
        *getattr(statement, "handlers", ()),
        *getattr(statement, "cases", ()),
    ]
    blocks = (getattr(owner, name, ()) for owner in owners for name in _BLOCKS)
    return [(block, None) for block in blocks if isinstance(block, list)]


def _is_alike(statement: ast.If, rest: Sequence[ast.stmt]) -> bool:
    taken, otherwise = (_path([*side, *rest]) for side in (statement.body, statement.orelse))
    return taken == otherwise


def _path(statements: Sequence[ast.stmt]) -> list[str]:
    """Write what runs up to the end of the function."""
    path: list[str] = []
    for statement in statements:
        if isinstance(statement, ast.Return) and _is_none(statement.value):
            return path
        if _does_something(statement):
            path.append(ast.dump(statement))
        if isinstance(statement, _LEAVING):
            return path
    return path


def _is_none(value: ast.expr | None) -> bool:
    return value is None or (isinstance(value, ast.Constant) and value.value is None)


def _does_something(statement: ast.stmt) -> bool:
    is_bare = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    return not (is_bare or isinstance(statement, ast.Pass))
