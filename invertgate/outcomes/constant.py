"""What can be said of syntax without running it: constant tests, statements that do nothing."""

import ast
import operator
from collections.abc import Callable, Sequence

_DEPTH = 50  # no constant that a person writes is nested deeper

_UNARY: dict[type[ast.unaryop], Callable[[int], int]] = {
    ast.Invert: operator.invert,
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
}
_BINARY: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.BitAnd: operator.and_,
}


def truth(test: ast.expr, depth: int = _DEPTH) -> bool | None:
    """Tell how a test ends if the compiler knows it, else None.

    Args:
        test: An expression.
        depth: How many levels to look into it; deeper ones are not called constant.

    Returns:
        True or False for constants, ``__debug__``, and ``not``, ``and``, ``or``, tuples and
        integer arithmetic made of them; comparisons are left to run time, as by the compiler.
    """
    if depth == 0:
        return None
    match test:
        case ast.Constant() | ast.Name(id="__debug__"):
            return not isinstance(test, ast.Constant) or bool(test.value)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            inner = truth(operand, depth - 1)
            return None if inner is None else not inner
        case ast.BoolOp(op=op, values=values):
            return _truth_of_all(values, isinstance(op, ast.Or), depth - 1)
        case ast.Tuple(elts=elements):
            known = all(truth(element, depth - 1) is not None for element in elements)
            return bool(elements) if known else None
        case _:
            number = _integer(test, depth - 1)
            return None if number is None else bool(number)


def _truth_of_all(values: Sequence[ast.expr], decisive: bool, depth: int) -> bool | None:
    for value in values:
        inner = truth(value, depth)
        if inner is None or inner is decisive:
            return inner
    return not decisive


def _integer(node: ast.expr, depth: int) -> int | None:
    match node:
        case ast.Constant(value=int(number)):
            return number
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _UNARY and depth:
            inner = _integer(operand, depth - 1)
            return None if inner is None else _UNARY[type(op)](inner)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY and depth:
            first, second = _integer(left, depth - 1), _integer(right, depth - 1)
            if first is None or second is None:
                return None
            return _BINARY[type(op)](first, second)
        case _:
            return None


def effective(statements: Sequence[ast.stmt]) -> list[ast.stmt]:
    """Leave out the statements that do nothing: ``pass``, ``...``, text that nobody reads."""
    return [
        statement
        for statement in statements
        if not isinstance(statement, ast.Pass)
        and not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant))
    ]


def same(first: object, second: object) -> bool:
    """Tell whether two trees, or lists of trees, are equal but for where they stand."""
    pending = [(first, second)]
    while pending:
        left, right = pending.pop()
        if type(left) is not type(right):
            return False
        if isinstance(left, ast.AST):
            names = [name for name in left._fields if name not in {"kind", "type_comment"}]
            pending += [(getattr(left, name, None), getattr(right, name, None)) for name in names]
        elif isinstance(left, list) and isinstance(right, list):
            if len(left) != len(right):
                return False
            pending += zip(left, right, strict=True)
        elif left != right:
            return False
    return True
