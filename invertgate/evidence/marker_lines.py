"""The lines by which test functions claim rows, and where in their file they go. Pure."""

import ast
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from invertgate.evidence.bodies import Function, functions_of

_PYTEST: Final = "pytest"


@dataclass(frozen=True, slots=True)
class NewLine:
    """A line to be added."""

    line: int
    """The line, from 1, that it is to stand above."""
    text: str
    """With its indentation, without a line end."""


@dataclass(frozen=True, slots=True)
class Marking:
    """How the tests of a file can claim rows."""

    lines: tuple[NewLine, ...] = ()
    """The lowest first, so that the numbers of the others stay right while they are added."""
    unplaced: tuple[str, ...] = ()
    """Nodeids of tests that are no function of the file: inherited, generated, or no Python."""


def marking(source: bytes, claims: Mapping[str, Sequence[str]]) -> Marking:
    """Write the markers of one file.

    Args:
        source: The file.
        claims: By nodeid, the ids of the rows that the test is to claim (``ID`` or ``PATH:ID``).
    """
    module = _parsed(source)
    functions = dict(functions_of(module))
    ids: dict[str, dict[str, None]] = {}
    unplaced = []
    for test, wanted in claims.items():
        name = test.partition("[")[0].partition("::")[2]
        if name in functions:
            ids.setdefault(name, {}).update(dict.fromkeys(wanted))
        else:
            unplaced.append(test)
    if not ids:
        return Marking((), tuple(unplaced))
    alias = _alias(module)
    lines = [_marker(source, functions[name], alias or _PYTEST, ids[name]) for name in ids]
    lines += [] if alias else [NewLine(_first_statement(module), f"import {_PYTEST}")]
    return Marking(tuple(sorted(lines, key=lambda each: -each.line)), tuple(unplaced))


def _parsed(source: bytes) -> ast.Module:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module([], [])


def _marker(source: bytes, function: Function, pytest: str, ids: Mapping[str, None]) -> NewLine:
    line = _first_line(function)
    indent = source.splitlines()[line - 1][: function.col_offset].decode("ascii", "replace")
    words = ", ".join(f'"{each}"' for each in ids)
    return NewLine(line, f"{indent}@{pytest}.mark.branch({words})")


def _first_line(node: ast.stmt) -> int:
    decorators = node.decorator_list if isinstance(node, Function | ast.ClassDef) else []
    return min([node.lineno, *(each.lineno for each in decorators)])


def _alias(module: ast.Module) -> str:
    """Return by what name a module knows pytest; empty if by none."""
    return next(_aliases(module), "")


def _aliases(module: ast.Module) -> Iterator[str]:
    imports = (node for node in module.body if isinstance(node, ast.Import))
    return (
        alias.asname or alias.name
        for node in imports
        for alias in node.names
        if alias.name == _PYTEST
    )


def _first_statement(module: ast.Module) -> int:
    """Return the line above which an import may stand: behind docstring and future imports."""
    for place, node in enumerate(module.body):
        match node:
            case ast.Expr(value=ast.Constant(value=str())) if place == 0:
                pass
            case ast.ImportFrom(module="__future__"):
                pass
            case _:
                return _first_line(node)
    return 1
