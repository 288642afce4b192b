"""The text of expressions and patterns, as ``ast.unparse`` writes it on Python 3.12.

Written anew because ``ast.unparse`` differs from Python to Python, recurses, and is slow.
"""

import ast
from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest
from typing import Any

from invertgate.outcomes import pattern
from invertgate.outcomes.literal import constant, format_text, joined
from invertgate.outcomes.parts import (
    AND,
    ATOM,
    AWAIT,
    BIT_AND,
    BIT_OR,
    BIT_XOR,
    COMPARE,
    FACTOR,
    FILTER,
    NAMED,
    NOT,
    OPERAND,
    OR,
    POWER,
    SHIFT,
    SUM,
    TERM,
    TEST,
    TUPLE,
    YIELD,
    Part,
    Written,
    listed,
    paired,
    within,
)


def write(parts: Sequence[Part], rewrite: Callable[[Written], Written] | None = None) -> str:
    """Fill the holes of a text.

    Args:
        parts: Texts, and nodes with the level of the place where they stand.
        rewrite: Gives the node that is written in the place of another.

    Returns:
        The text; equal for equal trees on every Python.
    """
    texts: list[str] = []
    pending = list(reversed(parts))
    while pending:
        part = pending.pop()
        if isinstance(part, str):
            texts.append(part)
            continue
        node, level = part
        if rewrite:
            node = rewrite(node)
        if isinstance(node, ast.Name):  # half of all nodes
            texts.append(node.id)
        else:
            pending += _WRITERS.get(type(node), _unknown)(node, level)[::-1]
    return "".join(texts)


def _unknown(node: Written, _: int) -> Sequence[Part]:
    return (ast.unparse(node),)  # syntax of a Python that is newer than the table


def _constant(node: ast.Constant, _: int) -> Sequence[Part]:
    return (constant(node.value),)


def _attribute(node: ast.Attribute, _: int) -> Sequence[Part]:
    is_integer = isinstance(node.value, ast.Constant) and isinstance(node.value.value, int)
    return ((node.value, ATOM), f" .{node.attr}" if is_integer else f".{node.attr}")


def _call(node: ast.Call, _: int) -> Sequence[Part]:
    return ((node.func, ATOM), "(", *listed((*node.args, *node.keywords)), ")")


def _keyword(node: ast.keyword, _: int) -> Sequence[Part]:
    return ("**" if node.arg is None else f"{node.arg}=", (node.value, TEST))


def _subscript(node: ast.Subscript, _: int) -> Sequence[Part]:
    index = node.slice
    is_bare = isinstance(index, ast.Tuple) and index.elts
    return ((node.value, ATOM), "[", (index, TUPLE if is_bare else TEST), "]")


def _slice(node: ast.Slice, _: int) -> Sequence[Part]:
    lower: tuple[Part, ...] = ((node.lower, TEST),) if node.lower else ()
    upper: tuple[Part, ...] = ((node.upper, TEST),) if node.upper else ()
    step: tuple[Part, ...] = (":", (node.step, TEST)) if node.step else ()
    return (*lower, ":", *upper, *step)


def _starred(node: ast.Starred, _: int) -> Sequence[Part]:
    return ("*", (node.value, BIT_OR))


def _compare(node: ast.Compare, level: int) -> Sequence[Part]:
    parts: list[Part] = [(node.left, OPERAND)]
    for operator, operand in zip(node.ops, node.comparators, strict=True):
        parts += (_COMPARE[type(operator)], (operand, OPERAND))
    return within(level, COMPARE, parts)


def _boolean(node: ast.BoolOp, level: int) -> Sequence[Part]:
    word, own = (" and ", AND) if isinstance(node.op, ast.And) else (" or ", OR)
    parts: list[Part] = []
    # Each further operand is asked to bind tighter than the one before: `a and b and (not c)`.
    for position, value in enumerate(node.values, start=1):
        parts += (word, (value, min(own + position, ATOM)))
    return within(level, own, parts[1:])


def _unary(node: ast.UnaryOp, level: int) -> Sequence[Part]:
    sign, own = _UNARY[type(node.op)]
    return within(level, own, (sign, (node.operand, own)))


def _binary(node: ast.BinOp, level: int) -> Sequence[Part]:
    sign, own = _BINARY[type(node.op)]
    left, right = (own + 1, own) if isinstance(node.op, ast.Pow) else (own, own + 1)
    return within(level, own, ((node.left, left), sign, (node.right, right)))


def _choice(node: ast.IfExp, level: int) -> Sequence[Part]:
    taken: tuple[Part, ...] = ((node.body, FILTER), " if ", (node.test, FILTER))
    return within(level, TEST, (*taken, " else ", (node.orelse, TEST)))


def _named(node: ast.NamedExpr, level: int) -> Sequence[Part]:
    return within(level, NAMED, ((node.target, ATOM), " := ", (node.value, ATOM)))


def _await(node: ast.Await, level: int) -> Sequence[Part]:
    return within(level, AWAIT, ("await ", (node.value, ATOM)))


def _yield(node: ast.Yield, level: int) -> Sequence[Part]:
    parts: tuple[Part, ...] = ("yield ", (node.value, ATOM)) if node.value else ("yield",)
    return within(level, YIELD, parts)


def _yield_from(node: ast.YieldFrom, level: int) -> Sequence[Part]:
    return within(level, YIELD, ("yield from ", (node.value, ATOM)))


def _tuple(node: ast.Tuple, level: int) -> Sequence[Part]:
    comma: tuple[Part, ...] = (",",) if len(node.elts) == 1 else ()
    own = TUPLE if node.elts else NAMED - 1
    return within(level, own, (*listed(node.elts), *comma))


def _list(node: ast.List, _: int) -> Sequence[Part]:
    return ("[", *listed(node.elts), "]")


def _set(node: ast.Set, _: int) -> Sequence[Part]:
    return ("{", *listed(node.elts), "}")


def _dict(node: ast.Dict, _: int) -> Sequence[Part]:
    pairs: list[Sequence[Part]] = [
        ("**", (value, BIT_OR)) if key is None else ((key, TEST), ": ", (value, TEST))
        for key, value in zip(node.keys, node.values, strict=True)
    ]
    return ("{", *paired(pairs), "}")


def _list_comprehension(node: ast.ListComp, _: int) -> Sequence[Part]:
    return ("[", (node.elt, TEST), *((clause, TEST) for clause in node.generators), "]")


def _set_comprehension(node: ast.SetComp, _: int) -> Sequence[Part]:
    return ("{", (node.elt, TEST), *((clause, TEST) for clause in node.generators), "}")


def _generator(node: ast.GeneratorExp, _: int) -> Sequence[Part]:
    return ("(", (node.elt, TEST), *((clause, TEST) for clause in node.generators), ")")


def _dict_comprehension(node: ast.DictComp, _: int) -> Sequence[Part]:
    pair: tuple[Part, ...] = ((node.key, TEST), ": ", (node.value, TEST))
    return ("{", *pair, *((clause, TEST) for clause in node.generators), "}")


def _clause(node: ast.comprehension, _: int) -> Sequence[Part]:
    word = " async for " if node.is_async else " for "
    parts: list[Part] = [word, (node.target, TUPLE), " in ", (node.iter, FILTER)]
    for test in node.ifs:
        parts += (" if ", (test, FILTER))
    return parts


def _lambda(node: ast.Lambda, level: int) -> Sequence[Part]:
    arguments = paired(_arguments(node.args))
    head = ("lambda ", *arguments) if arguments else ("lambda",)
    return within(level, TEST, (*head, ": ", (node.body, TEST)))


def _arguments(node: ast.arguments) -> Iterator[Sequence[Part]]:
    positional = [*node.posonlyargs, *node.args]
    defaults = zip_longest(reversed(positional), reversed(node.defaults))
    for position, (argument, default) in enumerate(reversed([*defaults]), start=1):
        yield _argument(argument, default)
        if position == len(node.posonlyargs):
            yield ("/",)
    if node.vararg or node.kwonlyargs:
        yield (f"*{node.vararg.arg}" if node.vararg else "*",)
    for argument, default in zip(node.kwonlyargs, node.kw_defaults, strict=True):
        yield _argument(argument, default)
    if node.kwarg:
        yield (f"**{node.kwarg.arg}",)


def _argument(node: ast.arg, default: ast.expr | None) -> Sequence[Part]:
    return (node.arg, "=", (default, TEST)) if default else (node.arg,)


def _formatted(node: ast.JoinedStr, _: int) -> Sequence[Part]:
    return (joined([*_formatted_parts(node)]),)


def _formatted_parts(node: ast.JoinedStr) -> Iterator[tuple[str, bool]]:
    for value in node.values:
        if isinstance(value, ast.FormattedValue):
            yield _field(value), False
        elif isinstance(value, ast.Constant):
            yield str(value.value).replace("{", "{{").replace("}", "}}"), True


def _field(node: ast.FormattedValue) -> str:
    value = write([(node.value, FILTER)])
    space = " " if value.startswith("{") else ""
    conversion = "" if node.conversion == -1 else f"!{chr(node.conversion)}"
    specification = ""
    if isinstance(node.format_spec, ast.JoinedStr):
        parts = _formatted_parts(node.format_spec)
        texts = (format_text(text) if is_constant else text for text, is_constant in parts)
        specification = f":{''.join(texts)}"
    return f"{{{space}{value}{conversion}{specification}}}"


_UNARY: dict[type[ast.unaryop], tuple[str, int]] = {
    ast.Invert: ("~", FACTOR),
    ast.Not: ("not ", NOT),
    ast.UAdd: ("+", FACTOR),
    ast.USub: ("-", FACTOR),
}
_BINARY: dict[type[ast.operator], tuple[str, int]] = {
    ast.Add: (" + ", SUM),
    ast.Sub: (" - ", SUM),
    ast.Mult: (" * ", TERM),
    ast.MatMult: (" @ ", TERM),
    ast.Div: (" / ", TERM),
    ast.Mod: (" % ", TERM),
    ast.FloorDiv: (" // ", TERM),
    ast.LShift: (" << ", SHIFT),
    ast.RShift: (" >> ", SHIFT),
    ast.BitOr: (" | ", BIT_OR),
    ast.BitXor: (" ^ ", BIT_XOR),
    ast.BitAnd: (" & ", BIT_AND),
    ast.Pow: (" ** ", POWER),
}
_COMPARE: dict[type[ast.cmpop], str] = {
    ast.Eq: " == ",
    ast.NotEq: " != ",
    ast.Lt: " < ",
    ast.LtE: " <= ",
    ast.Gt: " > ",
    ast.GtE: " >= ",
    ast.Is: " is ",
    ast.IsNot: " is not ",
    ast.In: " in ",
    ast.NotIn: " not in ",
}
# `Any`: each writer takes the node under which it stands, which no type can say of a table.
_WRITERS: dict[type[ast.AST], Callable[[Any, int], Sequence[Part]]] = {
    ast.Attribute: _attribute,
    ast.Await: _await,
    ast.BinOp: _binary,
    ast.BoolOp: _boolean,
    ast.Call: _call,
    ast.Compare: _compare,
    ast.Constant: _constant,
    ast.Dict: _dict,
    ast.DictComp: _dict_comprehension,
    ast.GeneratorExp: _generator,
    ast.IfExp: _choice,
    ast.JoinedStr: _formatted,
    ast.Lambda: _lambda,
    ast.List: _list,
    ast.ListComp: _list_comprehension,
    ast.MatchAs: pattern.capture,
    ast.MatchClass: pattern.instance,
    ast.MatchMapping: pattern.mapping,
    ast.MatchOr: pattern.alternatives,
    ast.MatchSequence: pattern.sequence,
    ast.MatchSingleton: pattern.singleton,
    ast.MatchStar: pattern.star,
    ast.MatchValue: pattern.value,
    ast.NamedExpr: _named,
    ast.Set: _set,
    ast.SetComp: _set_comprehension,
    ast.Slice: _slice,
    ast.Starred: _starred,
    ast.Subscript: _subscript,
    ast.Tuple: _tuple,
    ast.UnaryOp: _unary,
    ast.Yield: _yield,
    ast.YieldFrom: _yield_from,
    ast.comprehension: _clause,
    ast.keyword: _keyword,
}
