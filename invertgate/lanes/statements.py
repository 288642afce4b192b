"""What single statements and calls of a test mean, by their names."""

import ast
import re
from collections.abc import Container, Sequence
from typing import Final

from invertgate.lanes.normal import MESSAGES, last_name
from invertgate.lanes.styles import raises

_ASSERTING: Final = re.compile(r"_*(assert|expect|verify)(_|$|[A-Z])|.*_assert(_|$)")
_EXITS: Final = frozenset({"sys.exit", "os._exit", "pytest.exit"})
_SKIPS: Final = frozenset({"skip", "skipTest", "xfail"})
_CATCHING: Final = frozenset({"AssertionError", "Exception", "BaseException"})


def is_skip(call: ast.Call, local: Container[str]) -> bool:
    """Tell whether a call ends a test without failing it.

    Args:
        call: The call.
        local: Names of the test's own: what they stand for may have a ``skip`` that is tested.
    """
    match call.func:
        case ast.Name(id=name) | ast.Attribute(value=ast.Name(id=name)) if name in local:
            return False
        case ast.Name() | ast.Attribute(value=ast.Name()):
            return last_name(call.func) in _SKIPS or ast.unparse(call.func) in _EXITS
        case _:
            return False


def is_skip_error(raised: ast.expr | None) -> bool:
    """Tell whether what is raised skips the test."""
    return raised is not None and "Skip" in ast.unparse(raised)


def marks_off(call: ast.Call) -> bool:
    """Tell whether a call may take the test out of the run, and lets it go on otherwise."""
    name = last_name(call.func)
    if name in {"add_marker", "applymarker"}:
        return any(word in ast.unparse(call) for word in ("skip", "xfail"))
    return name == "importorskip"


def asserts(call: ast.Call) -> bool:
    """Tell whether a call, or the chain that it ends (``expect(page).to_have(1)``), asserts."""
    node: ast.expr = call
    while True:
        if _ASSERTING.match(last_name(node)):
            return raises(call, [call]) is None
        match node:
            case ast.Call(func=inner) | ast.Attribute(value=inner) | ast.Await(value=inner):
                node = inner
            case _:
                return False


def only_fails(body: Sequence[ast.stmt]) -> bool:
    """Tell whether a block does nothing but fail the test."""
    match body:
        case [ast.Raise(exc=raised)]:
            return not is_skip_error(raised)
        case [ast.Expr(value=ast.Call(func=function))]:
            return last_name(function) == "fail"
        case _:
            return False


def target_names(target: ast.expr) -> list[str]:
    """Name the variables of a loop; none where they are anything but names."""
    parts = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
    names = [part.id for part in parts if isinstance(part, ast.Name)]
    return names if len(names) == len(parts) else []


def without_message(call: ast.Call) -> ast.Call:
    """Leave out what is only printed when an assertion fails."""
    kept = [one for one in call.keywords if one.arg not in MESSAGES]
    return ast.Call(call.func, call.args, kept)


def as_expression(statement: ast.stmt) -> ast.expr:
    """Give what a statement computes, to be compared."""
    match statement:
        case ast.Expr(value=value) | ast.Assign(value=value):
            return value
        case _:
            return ast.Constant(value=ast.unparse(statement))


def catches(kind: ast.expr) -> bool:
    """Tell whether a type of exception, or a tuple of them, catches a failing assertion."""
    kinds = kind.elts if isinstance(kind, ast.Tuple) else [kind]
    return any(last_name(one) in _CATCHING for one in kinds)


def swallows(handler: ast.ExceptHandler) -> bool:
    """Tell whether a handler catches a failing assertion and does not fail in its turn."""
    caught = handler.type is None or catches(handler.type)
    fails = any(
        isinstance(node, ast.Raise | ast.Assert)
        or (isinstance(node, ast.Call) and last_name(node.func) == "fail")
        for node in ast.walk(handler)
    )
    return caught and not fails
