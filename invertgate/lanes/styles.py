"""Calls that assert: unittest's, numpy's, mock's, and blocks that expect an exception."""

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from invertgate.lanes.normal import (
    ARRAYS,
    MESSAGES,
    NEAR,
    RAISES,
    Args,
    compared,
    last_name,
    named,
    split,
    tolerances,
)


def of_call(call: ast.Call) -> list[ast.expr] | None:
    """Give what a call of a known assertion asserts, without its message; None if it is none."""
    name = last_name(call.func)
    camel = _camel(name)
    if name in _ARRAY_CALLS:
        return [named(ARRAYS, call.args[:2], tolerances(call))]
    if camel in _CALLS:
        count, build = _CALLS[camel]
        args = _arguments(call, count)
        return list(split(build(args))) if len(args) == count else None
    if camel in _NEAR_CALLS:
        near = named(NEAR, call.args[:2], tolerances(call))
        return [near if _NEAR_CALLS[camel] else ast.UnaryOp(ast.Not(), near)]
    if name in _MOCK_CALLS and isinstance(call.func, ast.Attribute) and not call.args:
        return list(split(_MOCK_CALLS[name](call.func.value)))
    return None


def raises(call: ast.Call, body: Sequence[ast.expr]) -> ast.Call | None:
    """Give the normal form of an expected exception or warning; None if a call expects none.

    Args:
        call: What opens the block, or calls the function itself.
        body: What runs in the block; empty if the call names the function.
    """
    name = last_name(call.func)
    kind = _EXPECTING.get(name) or _EXPECTING.get(_camel(name))
    if kind is None:
        return None
    wanted, *rest = call.args or [_keyword(call, "expected_exception") or ast.Constant(value=None)]
    pattern = _keyword(call, "match") or _keyword(call, "expected_regex")
    if "regex" in name.lower() and rest:
        pattern, *rest = rest
    if rest and not body:
        own = [one for one in call.keywords if one.arg not in {"match", "msg", "check"}]
        body = [ast.Call(rest[0], rest[1:], own)]
    if not body:
        return None
    types = wanted.elts if isinstance(wanted, ast.Tuple) else [wanted]
    told = {"match": pattern, "check": _keyword(call, "check")}
    keywords = [ast.keyword(key, value) for key, value in told.items() if value is not None]
    listed = ast.keyword("body", ast.List(list(body), ast.Load()))
    return named(RAISES, [ast.Constant(value=kind), *types], [*keywords, listed])


def _camel(name: str) -> str:
    """Turn nose's and numpy's ``assert_equal`` into unittest's ``assertEqual``."""
    first, *rest = name.split("_")
    return first + "".join(map(str.capitalize, rest))


def _keyword(call: ast.Call, name: str) -> ast.expr | None:
    return next((one.value for one in call.keywords if one.arg == name), None)


def _arguments(call: ast.Call, count: int) -> list[ast.expr]:
    by_name = [one.value for one in call.keywords if one.arg not in MESSAGES]
    return [*call.args, *by_name][:count]


def _binary(op: type[ast.cmpop]) -> tuple[int, Callable[[Args], ast.expr]]:
    return 2, lambda args: compared(args[0], op(), args[1])


def _none(op: type[ast.cmpop]) -> tuple[int, Callable[[Args], ast.expr]]:
    return 1, lambda args: compared(args[0], op(), ast.Constant(value=None))


def _not(node: ast.expr) -> ast.expr:
    return ast.UnaryOp(ast.Not(), node)


def _search(args: Args) -> ast.expr:
    search = ast.Attribute(ast.Name("re", ast.Load()), "search", ast.Load())
    return ast.Call(search, [args[1], args[0]], [])


def _attribute(mock: ast.expr, name: str) -> ast.expr:
    return ast.Attribute(mock, name, ast.Load())


_CALLS: Final[Mapping[str, tuple[int, Callable[[Args], ast.expr]]]] = {
    "assertTrue": (1, lambda args: args[0]),
    "assertFalse": (1, lambda args: _not(args[0])),
    "assertIsNone": _none(ast.Is),
    "assertIsNotNone": _none(ast.IsNot),
    "assertNotEqual": _binary(ast.NotEq),
    "assertIs": _binary(ast.Is),
    "assertIsNot": _binary(ast.IsNot),
    "assertIn": _binary(ast.In),
    "assertNotIn": _binary(ast.NotIn),
    "assertGreater": _binary(ast.Gt),
    "assertGreaterEqual": _binary(ast.GtE),
    "assertLess": _binary(ast.Lt),
    "assertLessEqual": _binary(ast.LtE),
    "assertIsInstance": (2, lambda args: named("isinstance", args)),
    "assertNotIsInstance": (2, lambda args: _not(named("isinstance", args))),
    "assertCountEqual": (
        2,
        lambda args: compared(named("sorted", args[:1]), ast.Eq(), named("sorted", args[1:])),
    ),
    "assertRegex": (2, _search),
    "assertNotRegex": (2, lambda args: _not(_search(args))),
    **dict.fromkeys(
        (
            "assertEqual",
            "assertEquals",
            "assertListEqual",
            "assertTupleEqual",
            "assertSetEqual",
            "assertDictEqual",
            "assertSequenceEqual",
            "assertMultiLineEqual",
            "assertArrayEqual",
        ),
        _binary(ast.Eq),
    ),
}
_ARRAY_CALLS: Final = frozenset({"assert_allclose", "assert_array_almost_equal"})
_NEAR_CALLS: Final = {"assertAlmostEqual": True, "assertNotAlmostEqual": False}
_MOCK_CALLS: Final[Mapping[str, Callable[[ast.expr], ast.expr]]] = {
    "assert_called": lambda mock: _attribute(mock, "called"),
    "assert_not_called": lambda mock: _not(_attribute(mock, "called")),
    "assert_called_once": lambda mock: compared(
        _attribute(mock, "call_count"), ast.Eq(), ast.Constant(value=1)
    ),
}
_EXPECTING: Final = {
    "raises": "raises",
    "assertRaises": "raises",
    "assertRaisesRegex": "raises",
    "assertRaisesRegexp": "raises",
    "warns": "warns",
    "assertWarns": "warns",
    "assertWarnsRegex": "warns",
    "deprecated_call": "warns",
    "RaisesGroup": "raises group",
    "assertLogs": "logs",
    "assertNoLogs": "no logs",
}
