"""What can be seen of a test without running it: what it asserts, and what would satisfy it."""

import ast
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, TypeAlias

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef

_CHECKING: Final = (
    *("assert", "raises", "warns", "deprecated_call", "fail", "expect", "check", "verify"),
    *("ensure", "should", "compare", "approve", "match", "regression", "validate", "must"),
)
"""Words in the names of functions that may assert."""
_RAISES: Final = frozenset(("raises", "assertRaises"))
_ANY_ERROR: Final = frozenset(("Exception", "BaseException"))


@dataclass(frozen=True, slots=True)
class Body:
    """What a test function holds; nothing is said of it that is not sure."""

    line: int
    asserts: bool
    """It asserts something, or calls what may do so."""
    constant: tuple[int, ...] = ()
    """Lines of assertions, if all that it has are true whatever happens."""
    any_error: tuple[int, ...] = ()
    """Lines that expect an exception, and are satisfied by any."""
    swallows: tuple[int, ...] = ()
    """Lines of handlers that take any exception and do nothing about it."""


def body_of(source: bytes, test: str, production: Iterable[str] = ()) -> Body | None:
    """Look at a test.

    Args:
        source: The file of the test.
        test: Its nodeid.
        production: Names of modules and packages that do not assert for a test.

    Returns:
        What can be seen, or None if the test is no function of this file.
    """
    read = _read(source, frozenset(production))
    function = None if read is None else _function(read[0], test)
    if read is None or function is None:
        return None
    called = read[1]
    nodes = list(ast.walk(function))
    statements = [node for node in nodes if isinstance(node, ast.Assert)]
    constant = tuple(node.lineno for node in statements if _is_constant(node.test))
    others = called.may_assert(function, {function.name})
    return Body(
        line=function.lineno,
        asserts=bool(statements) or others,
        constant=constant if len(constant) == len(statements) and not others else (),
        any_error=_lines_of(nodes, _takes_any_error),
        swallows=_lines_of(nodes, _swallows),
    )


def may_assert(source: bytes, production: Iterable[str] = ()) -> dict[str, bool]:
    """Tell of each test function of a file whether it may assert something.

    Args:
        source: The file; nothing is said of one that does not parse.
        production: Names of modules and packages that do not assert for a test.

    Returns:
        By name, as nodeids have it behind the file and without parameters.
    """
    read = _read(source, frozenset(production))
    if read is None:
        return {}
    module, called = read
    return {
        name: _asserts(function) or called.may_assert(function, {function.name})
        for name, function in functions_of(module)
    }


def _asserts(function: Function) -> bool:
    return any(isinstance(node, ast.Assert) for node in ast.walk(function))


def functions_of(
    scope: ast.Module | ast.ClassDef, inside: str = ""
) -> Iterator[tuple[str, Function]]:
    """Yield the functions of a module and of its classes, by what a nodeid calls them.

    Args:
        scope: Where to look; functions within functions are no tests.
        inside: What a nodeid has before their names.
    """
    for node in scope.body:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield f"{inside}{node.name}", node
            case ast.ClassDef():
                yield from functions_of(node, f"{inside}{node.name}::")
            case _:
                pass


@lru_cache(maxsize=8)
def _read(source: bytes, production: frozenset[str]) -> "tuple[ast.Module, _Called] | None":
    """Parse a file of tests, many of which are asked about one after another."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return module, _Called(module, production | sys.stdlib_module_names)


def _lines_of(nodes: Iterable[ast.AST], chosen: Callable[[ast.AST], bool]) -> tuple[int, ...]:
    places = (node for node in nodes if isinstance(node, ast.Call | ast.ExceptHandler))
    return tuple(node.lineno for node in places if chosen(node))


def _function(module: ast.Module, test: str) -> Function | None:
    """Find the function that a nodeid names."""
    names = test.split("[", 1)[0].split("::")[1:]
    scope: ast.Module | ast.ClassDef = module
    for name in names[:-1]:
        classes = [each for each in scope.body if isinstance(each, ast.ClassDef)]
        found = [each for each in classes if each.name == name]
        if not found:
            return None
        scope = found[-1]
    functions = [each for each in scope.body if isinstance(each, Function) and names]
    named = [each for each in functions if each.name == names[-1]]
    return named[-1] if named else None


class _Called:
    """Follows the calls of a test within its file."""

    def __init__(self, module: ast.Module, harmless: frozenset[str]) -> None:
        nodes = list(ast.walk(module))
        self._functions = {each.name: each for each in nodes if isinstance(each, Function)}
        self._strange = {
            name
            for each in nodes
            if isinstance(each, ast.Import | ast.ImportFrom)
            for name in _imported_strangers(each, harmless)
        }

    def may_assert(self, function: Function, seen: set[str]) -> bool:
        """Tell whether a function calls something that may assert."""
        for call in (node for node in ast.walk(function) if isinstance(node, ast.Call)):
            name, root = _name(call.func), _root(call.func)
            if root in self._strange or any(word in name.lower() for word in _CHECKING):
                return True
            own = self._functions.get(name)
            if own is None or name in seen:
                continue
            seen.add(name)
            if any(isinstance(node, ast.Assert | ast.Raise) for node in ast.walk(own)):
                return True
            if self.may_assert(own, seen):
                return True
        return False


def _imported_strangers(node: ast.Import | ast.ImportFrom, harmless: frozenset[str]) -> list[str]:
    """Return the names that an import makes known of modules of which nothing is known."""
    names = [(alias.asname or alias.name.split(".", 1)[0], alias.name) for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        top = (node.module or "").split(".", 1)[0]
        is_harmless = node.level == 0 and (top in harmless or top == "pytest")
        return [] if is_harmless else [name for name, _ in names]
    return [name for name, of in names if of.split(".", 1)[0] not in harmless | {"pytest"}]


def _name(function: ast.expr) -> str:
    match function:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def _root(function: ast.expr) -> str:
    while isinstance(function, ast.Attribute | ast.Call | ast.Subscript):
        function = function.func if isinstance(function, ast.Call) else function.value
    return _name(function)


def _is_constant(test: ast.expr) -> bool:
    """Tell whether an assertion holds whatever happens."""
    match test:
        case ast.Constant(value=value):
            return bool(value)
        case ast.Tuple(elts=[_, *_]):
            return True
        case _:
            return False


def _takes_any_error(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=function, args=[ast.Name(id=name), *_], keywords=keywords):
            names_more = any(keyword.arg in {"match", "check"} for keyword in keywords)
            return _name(function) in _RAISES and name in _ANY_ERROR and not names_more
        case _:
            return False


def _swallows(node: ast.AST) -> bool:
    match node:
        case ast.ExceptHandler(type=None | ast.Name(id="Exception" | "BaseException"), body=body):
            return all(map(_does_nothing, body))
        case _:
            return False


def _does_nothing(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Pass | ast.Continue) or (
        isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    )
