"""Which assertion says at least as much as another."""

import ast
import builtins
import keyword
import re
from collections.abc import Callable
from typing import Final

from invertgate.lanes.constant import compare, truth
from invertgate.lanes.normal import ARRAYS, NEAR, RAISES, last_name, text

_TOKEN: Final = re.compile(r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"|\w+|\S")
_MOCK: Final = {
    "assert_called_once_with": {"assert_called_with", "assert_any_call"},
    "assert_called_with": {"assert_any_call"},
    "assert_awaited_once_with": {"assert_awaited_with", "assert_any_await"},
    "assert_awaited_with": {"assert_any_await"},
}


def implies(strong: ast.expr, weak: ast.expr) -> bool:
    """Tell whether an assertion, in its normal form, says all that another says."""
    return (
        text(strong) == text(weak)
        or _expects_as_much(strong, weak)
        or _as_near(strong, weak)
        or _mock_implies(strong, weak)
        or _tells_more(strong, weak)
    )


def renamed(old: str, new: str, allowed: Callable[[str, str], bool]) -> bool:
    """Tell whether two texts are one, but for names that were changed throughout.

    Args:
        old: The text of an assertion, as it was.
        new: As it is.
        allowed: Says whether one name may have become the other.
    """
    before, after = _TOKEN.findall(old), _TOKEN.findall(new)
    if len(before) != len(after):
        return False
    names: dict[str, str] = {}
    for one, other in zip(before, after, strict=True):
        if names.setdefault(one, other) != other:
            return False
    changed = {one: other for one, other in names.items() if one != other}
    distinct = len(set(names.values())) == len(names)
    return distinct and all(
        _is_name(one) and _is_name(other) and allowed(one, other) for one, other in changed.items()
    )


def _is_name(token: str) -> bool:
    return token.isidentifier() and not keyword.iskeyword(token) and not hasattr(builtins, token)


def _is_call(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Call) and last_name(node.func) == name


def _is_near(node: ast.expr) -> bool:
    return _is_call(node, NEAR) or _is_call(node, ARRAYS)


def _expects_as_much(strong: ast.expr, weak: ast.expr) -> bool:
    """Compare expected exceptions: as few types, the same pattern, around no more statements."""
    if not (isinstance(strong, ast.Call) and isinstance(weak, ast.Call)):
        return False
    if {last_name(strong.func), last_name(weak.func)} != {RAISES}:
        return False
    allowed = set(map(ast.unparse, weak.args))
    told = {one.arg: one.value for one in strong.keywords}
    asked = {one.arg: one.value for one in weak.keywords}
    body, wanted = told.pop("body"), asked.pop("body")
    return (
        set(map(ast.unparse, strong.args)) <= allowed
        and all(name in told and _same(told[name], one) for name, one in asked.items())
        and _ends_like(_elements(wanted), _elements(body))
    )


def _same(one: ast.expr, other: ast.expr) -> bool:
    return ast.unparse(one) == ast.unparse(other)


def _elements(node: ast.expr) -> list[str]:
    return [ast.unparse(one) for one in node.elts] if isinstance(node, ast.List) else []


def _ends_like(whole: list[str], end: list[str]) -> bool:
    return len(end) <= len(whole) and whole[len(whole) - len(end) :] == end


def _as_near(strong: ast.expr, weak: ast.expr) -> bool:
    if not (_is_near(strong) or _is_near(weak)):
        return False
    if _sides(strong) != _sides(weak) or not _sides(weak):
        return False
    if isinstance(strong, ast.Compare):
        return True
    told = [ast.unparse(one) for one in strong.keywords] if isinstance(strong, ast.Call) else []
    if isinstance(weak, ast.Call):
        return told == [ast.unparse(one) for one in weak.keywords]
    return _is_call(strong, ARRAYS) and not told


def _sides(node: ast.expr) -> list[str]:
    match node:
        case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
            return sorted(map(ast.unparse, (left, right)))
        case ast.Call(args=args) if _is_near(node):
            return sorted(map(ast.unparse, args))
        case _:
            return []


def _mock_implies(strong: ast.expr, weak: ast.expr) -> bool:
    if not isinstance(strong, ast.Call):
        return False
    match strong.func, weak:
        case ast.Attribute(value=mock, attr=name), ast.Call(
            func=ast.Attribute(value=other, attr=wanted)
        ):
            alike = ast.Call(strong.func, weak.args, weak.keywords)
            return wanted in _MOCK.get(name, ()) and _same(mock, other) and _same(strong, alike)
        case ast.Attribute(value=mock, attr=name), ast.Attribute(value=other, attr="called"):
            return name in _MOCK and _same(mock, other)
        case _:
            return False


def _equal_to(strong: ast.expr, subject: ast.expr) -> ast.expr | None:
    """Give the constant that an assertion says something equals."""
    match strong:
        case ast.Compare(left=left, ops=[ast.Eq() | ast.Is()], comparators=[right]):
            for side, other in ((left, right), (right, left)):
                if _same(side, subject) and isinstance(other, ast.Constant):
                    return other
        case _:
            pass
    return None


def _tells_more(strong: ast.expr, weak: ast.expr) -> bool:
    match weak:
        case ast.Compare(left=left, ops=[ast.IsNot()], comparators=[ast.Constant(value=None)]):
            return _is_not_none(strong, left)
        case ast.Compare(left=left, ops=[ast.In()], comparators=[choices]):
            wanted = _choices(ast.Compare(left, [ast.In()], [choices]), left)
            told = _choices(strong, left)
            return bool(told) and set(told) <= set(wanted)
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return _within(strong, left, op, right)
        case _:
            value = _equal_to(strong, weak)
            return value is not None and truth(value) is True


def _choices(told: ast.expr, subject: ast.expr) -> list[str]:
    """Give all that something may be, as an assertion says, if it says so."""
    match told:
        case ast.Compare(
            left=left,
            ops=[ast.In()],
            comparators=[ast.Tuple(elts=some) | ast.List(elts=some) | ast.Set(elts=some)],
        ) if _same(left, subject):
            return [ast.unparse(one) for one in some]
        case _:
            value = _equal_to(told, subject)
            return [] if value is None else [ast.unparse(value)]


def _is_not_none(strong: ast.expr, subject: ast.expr) -> bool:
    value = _equal_to(strong, subject)
    if isinstance(value, ast.Constant):
        return value.value is not None
    match strong:
        case ast.Call(func=ast.Name(id="isinstance"), args=[one, kind]):
            return _same(one, subject) and "None" not in ast.unparse(kind)
        case _:
            return _same(strong, subject)


def _within(strong: ast.expr, left: ast.expr, op: ast.cmpop, right: ast.expr) -> bool:
    """Tell whether a constant that something equals lies on the side of a limit that is asked."""
    for subject, limit in ((left, right), (right, left)):
        value = _equal_to(strong, subject)
        if isinstance(value, ast.Constant) and isinstance(limit, ast.Constant):
            sides = (value, limit) if subject is left else (limit, value)
            return compare(op, sides[0].value, sides[1].value) is True
    return False
