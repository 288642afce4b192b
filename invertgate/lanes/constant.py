"""What can be said of a condition without running it."""

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Final

_ORDER: Final[Mapping[type[ast.cmpop], Callable[[float, float], bool]]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


def is_constant(node: ast.expr) -> bool:
    """Tell whether a condition turns out the same in every run, whatever the product does."""
    return truth(node) is not None or is_fixed(node)


def is_fixed(node: ast.expr) -> bool:
    """Tell whether an expression has one and the same value in every run."""
    match node:
        case ast.BoolOp(op=op, values=[first, *_]) if truth(first) is isinstance(op, ast.Or):
            return True  # the others are never looked at
        case ast.Tuple(elts=elts):
            return all(map(is_fixed, elts))
        case ast.Compare(left=left, comparators=comparators):
            return all(map(is_fixed, [left, *comparators])) or _is_reflexive(node)
        case ast.UnaryOp() | ast.BinOp() | ast.BoolOp() | ast.IfExp() | ast.JoinedStr():
            parts = [part for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr)]
            return all(map(is_fixed, parts))
        case _:
            inner = isinstance(node, ast.FormattedValue) and is_fixed(node.value)
            return inner or isinstance(node, ast.Constant)


def truth(node: ast.expr) -> bool | None:
    """Say how a condition turns out; None where that cannot be read off it."""
    match node:
        case ast.Constant(value=value):
            return bool(value)
        case ast.Tuple(elts=values) | ast.List(elts=values):
            return bool(values)
        case ast.Lambda() | ast.GeneratorExp():
            return True
        case ast.Name(id="TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING"):
            return False
        case _:
            return _truth_of_operation(node)


def compare(op: ast.cmpop, left: object, right: object) -> bool | None:
    """Compare two constants; None where that says nothing."""
    match op, left, right:
        case ast.Eq() | ast.Is(), _, _:
            return left == right
        case ast.NotEq() | ast.IsNot(), _, _:
            return left != right
        case _, int() | float(), int() | float() if type(op) in _ORDER:
            return _ORDER[type(op)](left, right)
        case _:
            return None


def _truth_of_operation(node: ast.expr) -> bool | None:
    match node:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            inner = truth(operand)
            return None if inner is None else not inner
        case ast.BoolOp(op=op, values=values):
            sides = [truth(value) for value in values]
            decisive = isinstance(op, ast.Or)
            undecided = None if None in sides else not decisive
            return decisive if decisive in sides else undecided
        case ast.Compare(left=ast.Constant(value=a), ops=[op], comparators=[ast.Constant(value=b)]):
            return compare(op, a, b)
        case ast.Compare(left=ast.Name(id="__name__"), ops=[ast.Eq()]):
            return False  # a test file is imported
        case _:
            return None


def _is_reflexive(node: ast.Compare) -> bool:
    sides = {ast.unparse(side) for side in (node.left, *node.comparators)}
    return len(sides) == 1 and not any(isinstance(part, ast.Call) for part in ast.walk(node))
