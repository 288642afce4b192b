"""The normal form of an assertion: one expression, however it was written."""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Final

RAISES: Final = "raises"
"""Name of the function in which an expected exception is written: types, ``match``, ``body``."""
NEAR: Final = "near"
"""Name of the function in which an equality up to a tolerance is written."""
ARRAYS: Final = "near_arrays"
"""The same as numpy's own assertions write it, with their strict default tolerance."""

_OPPOSITE: Final[Mapping[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_SWAPPED: Final[Mapping[type[ast.cmpop], type[ast.cmpop]]] = {ast.Gt: ast.Lt, ast.GtE: ast.LtE}
MESSAGES: Final = frozenset({"msg", "err_msg", "verbose"})
_CLOSE: Final = frozenset({"allclose", "isclose"})
_SYMMETRIC: Final = (ast.Eq, ast.NotEq, ast.Is, ast.IsNot)

_OWN: Final = re.compile(r"\b(?:self|cls)\.")

Args = Sequence[ast.expr]


def split(test: ast.expr) -> Iterator[ast.expr]:
    """Part what is asserted into assertions that hold one by one, each in its normal form."""
    if any(isinstance(node, ast.NamedExpr) for node in ast.walk(test)):
        test = _Unnamed().visit(deepcopy(test))
    match test:
        case ast.BoolOp(op=ast.And(), values=values):
            for value in values:
                yield from split(value)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield from _negated(operand)
        case ast.Compare(left=left, ops=[_, _, *_] as ops, comparators=comparators):
            sides = [left, *comparators]
            for position, op in enumerate(ops):
                yield from split(compared(sides[position], op, sides[position + 1]))
        case ast.Call(func=ast.Name(id="bool"), args=[value], keywords=[]):
            yield from split(value)
        case _:
            yield _plain(test)


def negated(test: ast.expr) -> ast.expr:
    """Give the normal form of the opposite."""
    opposites = list(_negated(test))
    return opposites[0] if len(opposites) == 1 else ast.BoolOp(ast.And(), opposites)


def text(node: ast.expr) -> str:
    """Write a normal form so that equal ones are equal: sides that can change places, sorted.

    What a class keeps for its tests (``self.cart``) and what a fixture gives them reads alike.
    """
    return _OWN.sub("", _text(node))


def readable(node: ast.expr) -> str:
    """Write a normal form for people."""
    match node:
        case ast.Call(
            func=ast.Name(id="raises"), args=[ast.Constant(value=str(kind)), *types], keywords=told
        ):
            shown = {one.arg: one.value for one in told}
            body = shown.pop("body", None)
            run = body.elts if isinstance(body, ast.List) else []
            said = [ast.keyword(key, value) for key, value in shown.items()]
            opened = ast.unparse(ast.Call(ast.Name(kind, ast.Load()), types, said))
            return f"{opened}: {'; '.join(map(ast.unparse, run))}"
        case ast.Call(func=ast.Name(id="runs"), args=[]):
            return "that it runs to its end"
        case _:
            return ast.unparse(node)


def last_name(function: ast.expr) -> str:
    """Give the name that a call is known by: its last part."""
    match function:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Subscript(value=value):
            return last_name(value)
        case _:
            return ""


def compared(left: ast.expr, op: ast.cmpop, right: ast.expr) -> ast.Compare:
    """Make a comparison of two sides."""
    return ast.Compare(left, [op], [right])


def named(name: str, args: Args, keywords: Sequence[ast.keyword] = ()) -> ast.Call:
    """Make the call that stands for something which Python has no operator for."""
    return ast.Call(ast.Name(name, ast.Load()), list(args), list(keywords))


def tolerances(call: ast.Call, compared_args: int = 2) -> list[ast.keyword]:
    """Give what else a call of two values is told, without messages, in a fixed order."""
    extra = [("places", one) for one in call.args[compared_args:]]
    extra += [(one.arg or "**", one.value) for one in call.keywords if one.arg not in MESSAGES]
    return [ast.keyword(name, value) for name, value in sorted(extra, key=lambda pair: pair[0])]


def _text(node: ast.expr) -> str:
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        left, op, right = node.left, node.ops[0], node.comparators[0]
        if isinstance(op, _SYMMETRIC):
            left, right = sorted((left, right), key=ast.unparse)
        elif type(op) in _SWAPPED:
            left, op, right = right, _SWAPPED[type(op)](), left
        return ast.unparse(compared(left, op, right))
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in {NEAR, ARRAYS}
    ):
        sides = sorted(node.args, key=ast.unparse)
        return ast.unparse(ast.Call(node.func, sides, node.keywords))
    return ast.unparse(node)


class _Unnamed(ast.NodeTransformer):
    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.expr:
        """Leave the value alone."""
        self.generic_visit(node)
        return node.value


def _negated(test: ast.expr) -> Iterator[ast.expr]:
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield from split(operand)
        case ast.BoolOp(op=ast.Or(), values=values):
            for value in values:
                yield from _negated(value)
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _OPPOSITE:
            yield from split(compared(left, _OPPOSITE[type(op)](), right))
        case ast.Call(func=ast.Name(id="bool"), args=[value], keywords=[]):
            yield from _negated(value)
        case _:
            yield ast.UnaryOp(ast.Not(), _plain(test))


def _plain(test: ast.expr) -> ast.expr:
    """Rewrite one comparison, or one call that compares, into its normal form."""
    match test:
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return _one_way(left, op, right)
        case ast.Call(func=function, args=[left, right, *_]) if last_name(function) in _CLOSE:
            return named(NEAR, [left, right], tolerances(test))
        case ast.Call(func=function, args=[left, right]) if last_name(function) == "array_equal":
            return compared(left, ast.Eq(), right)
        case (
            ast.Call(func=ast.Attribute(value=ast.Compare() as inner, attr="all"), args=[])
            | ast.Call(func=ast.Attribute(attr="all"), args=[ast.Compare() as inner], keywords=[])
        ):
            return _plain(inner)
        case _:
            return test


def _one_way(left: ast.expr, op: ast.cmpop, right: ast.expr) -> ast.expr:
    if isinstance(op, ast.Eq):
        for one, other in ((left, right), (right, left)):
            if isinstance(other, ast.Call) and last_name(other.func) == "approx":
                return named(NEAR, [one, *other.args[:1]], tolerances(other, 1))
    if isinstance(op, ast.Eq | ast.Is) and isinstance(right, ast.Constant) and right.value is None:
        return compared(left, ast.Is(), right)
    return compared(left, op, right)
