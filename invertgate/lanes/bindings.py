"""What names stand for: values put in the place of names."""

import ast
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from typing import Final, TypeVar

from invertgate.lanes.constant import is_fixed
from invertgate.lanes.normal import last_name

Values = Mapping[str, ast.expr]
_Node = TypeVar("_Node", bound=ast.AST)

Axis = tuple[Values, ...]
"""One list of parameters: what each run of the test gives to names."""

UNWRITTEN: Final = "any of "
"""Starts the name of a parameter for a list that is not written out."""

_DEPTH: Final = 8  # of values in values; what refers to itself ends here
_SIZE: Final = 400  # nodes of an expression that is still worth comparing


def substituted(node: ast.expr, values: Values, depth: int = _DEPTH) -> ast.expr:
    """Put values in the place of names, and again in the place of names in those values.

    Args:
        node: An expression; it is not changed.
        values: By name.
        depth: How often; 1 leaves the names in the values alone.
    """
    for _ in range(depth):
        names = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
        if names.isdisjoint(values) or _size(node) > _SIZE:
            break
        node = _put(node, values)
    return node


def single_values(scope: ast.AST) -> dict[str, ast.expr]:
    """Give the names of a function or module that are bound once, by a plain assignment."""
    stored = Counter(stored_names(scope))
    return {
        name: value
        for name, value in _assigned(scope)
        if stored[name] == 1 and _size(value) <= _SIZE
    }


def stored_names(scope: ast.AST) -> Iterator[str]:
    """Name what a function or module binds, once for each time."""
    for node in ast.walk(scope):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name):
                yield name
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield name
            case ast.ExceptHandler(name=str(name)):
                yield name
            case ast.AugAssign(target=ast.Name(id=name)):
                yield name
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                yield from names
            case _:
                pass


def fixed(values: Values) -> dict[str, ast.expr]:
    """Leave only the values that are the same in every run and that nobody can change."""
    found: dict[str, ast.expr] = {}
    for name, value in values.items():
        known = substituted(value, found)
        if is_fixed(known):
            found[name] = known
    return found


def elements(node: ast.expr, values: Values) -> list[ast.expr] | None:
    """Give the elements of a list that is written out; None if it is not."""
    match node:
        case ast.List(elts=elts) | ast.Tuple(elts=elts):
            found: list[ast.expr] = []
            for one in elts:
                inner = elements(one.value, values) if isinstance(one, ast.Starred) else [one]
                if inner is None:
                    return None
                found += inner
            return found
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            first, second = elements(left, values), elements(right, values)
            return None if first is None or second is None else first + second
        case ast.Name(id=name) if name in values:
            rest = {key: value for key, value in values.items() if key != name}
            return elements(values[name], rest)
        case _:
            return None


def axis(names: Sequence[str], listed: ast.expr, values: Values) -> Axis:
    """Give what a written list gives to names, one by one.

    Args:
        names: One name, or several that share the parts of each element.
        listed: The list, or the name of one.
        values: What names stand for.

    Returns:
        A run for each element; one run named by its text, where the list is not written out.
    """
    found = elements(listed, values)
    if found is None:
        known = substituted(listed, values)
        return ({f"{UNWRITTEN}{ast.unparse(known)}": known},)
    return tuple(_one_run(names, element) for element in found if not _is_marked_off(element))


def parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    """Name the parameters of a function in the order in which a call fills them."""
    arguments = function.args
    every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    return [argument.arg for argument in every]


def bound(
    call: ast.Call, function: ast.FunctionDef | ast.AsyncFunctionDef, *, method: bool
) -> dict[str, ast.expr]:
    """Say what a call gives to the parameters of a function, as far as that can be read."""
    arguments = function.args
    names = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    defaults = dict(zip(reversed(names), reversed(arguments.defaults), strict=False))
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if default is not None:
            defaults[argument.arg] = default
    given = {}
    for name, value in zip(names[1 if method else 0 :], call.args, strict=False):
        if isinstance(value, ast.Starred):
            break
        given[name] = value
    by_name = {one.arg: one.value for one in call.keywords if one.arg}
    return {**defaults, **given, **by_name}


def _one_run(names: Sequence[str], element: ast.expr) -> Values:
    parts = [element]
    if isinstance(element, ast.Call) and last_name(element.func) == "param":
        parts = element.args
    elif len(names) > 1 and isinstance(element, ast.Tuple | ast.List):
        parts = element.elts
    if len(parts) != len(names):
        return {"each": element}
    return dict(zip(names, parts, strict=True))


def _is_marked_off(element: ast.expr) -> bool:
    if not isinstance(element, ast.Call) or last_name(element.func) != "param":
        return False
    marks = [one.value for one in element.keywords if one.arg == "marks"]
    return any(word in ast.unparse(mark) for mark in marks for word in ("skip", "xfail"))


def _assigned(scope: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    for node in ast.walk(scope):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                yield name, value
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                yield name, value
            case ast.NamedExpr(target=ast.Name(id=name), value=value):
                yield name, value
            case _:
                pass


def _put(node: ast.expr, values: Values) -> ast.expr:
    """Replace names; what holds none of them is shared with the old tree."""
    if isinstance(node, ast.Name):
        return values.get(node.id, node)
    changed = _parts(node, values)
    return _with(node, changed) if changed else node


def _parts(node: ast.AST, values: Values) -> dict[str, object]:
    changed: dict[str, object] = {}
    for name, old in ast.iter_fields(node):
        new: object = old
        if isinstance(old, ast.AST):
            new = _replaced(old, values)
        elif isinstance(old, list):
            parts = [_replaced(one, values) if isinstance(one, ast.AST) else one for one in old]
            new = parts if any(a is not b for a, b in zip(parts, old, strict=True)) else old
        if new is not old:
            changed[name] = new
    return changed


def _replaced(node: ast.AST, values: Values) -> ast.AST:
    if isinstance(node, ast.expr):
        return _put(node, values)
    changed = _parts(node, values)
    return _with(node, changed) if changed else node


def _with(node: _Node, changed: Mapping[str, object]) -> _Node:
    copied = copy(node)
    for name, value in changed.items():
        setattr(copied, name, value)
    return copied


def _size(node: ast.AST) -> int:
    return sum(1 for _ in ast.walk(node))
