"""Decisions of which no test can be asked, and the reason for each.

Both rows of a decision share its fate; what stands inside keeps its own rows. Nothing but the
syntax tree is looked at: no comment exempts anything, and neither does a platform or version.
"""

import ast
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Final

from invertgate.model import Kind
from invertgate.outcomes.constant import effective, same, truth
from invertgate.outcomes.walk import Decision, Import, Walk

TYPE_CHECKERS_ONLY: Final = "only a type checker takes it (TYPE_CHECKING)"
MAIN_GUARD: Final = "the guard of a program's start (__main__)"
CONSTANT: Final = "its test is constant at compile time"
RERAISES: Final = "the last handler, and it only re-raises"
SAME: Final = "both of its sides are the same statements"

_TYPING: Final = ("typing", "typing_extensions")
_FLAG: Final = "TYPE_CHECKING"


class Exemptions:
    """The exemptions of one file."""

    def __init__(self, walk: Walk) -> None:
        self._walk = walk

    def reason(self, decision: Decision) -> str:
        """Tell why no test has to be named for a decision, or nothing."""
        test = _test(decision)
        if test is not None:
            if truth(test) is not None:
                return CONSTANT
            if self._is_type_checking(test, decision.scope):
                return TYPE_CHECKERS_ONLY
            if _compares_name_with_main(test) and "__name__" not in self._bound:
                return MAIN_GUARD
        if _only_reraises(decision):
            return RERAISES
        return SAME if _sides_are_the_same(decision) else ""

    def _is_type_checking(self, test: ast.expr, scope: str) -> bool:
        while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            test = test.operand
        match test:
            case ast.Name(id=name):
                return self._is_flag(name, scope)
            case ast.Attribute(value=ast.Name(id=name), attr=attr) if attr == _FLAG:
                return self._is_module(name, scope)
            case _:
                return False

    def _is_flag(self, name: str, scope: str) -> bool:
        imported = any(
            isinstance(node, ast.ImportFrom)
            and _is_typing(node)
            and any(_binds_flag(alias, name) for alias in node.names)
            for node in self._imports_seen_from(scope)
        )
        return imported and name not in self._bound

    def _is_module(self, name: str, scope: str) -> bool:
        imported = any(
            isinstance(node, ast.Import)
            and any(alias.name in _TYPING and _bound_by(alias) == name for alias in node.names)
            for node in self._imports_seen_from(scope)
        )
        return imported and name not in self._bound and f".{_FLAG}" not in self._bound

    def _imports_seen_from(self, scope: str) -> Iterator[Import]:
        for where, node in self._walk.imports:
            if not where or scope == where or scope.startswith(f"{where}."):
                yield node

    @cached_property
    def _bound(self) -> frozenset[str]:
        """Names that the file binds, anywhere, to anything but what typing gives."""
        return frozenset(
            name
            for node in _nodes(self._walk.source.tree)
            if type(node).__name__ in _BINDING
            for name in _bindings(node)
        )


# By name, as some of them are younger than Python 3.11.
_BINDING: Final = frozenset(
    (
        *("Name", "Attribute", "arg", "Import", "ImportFrom", "ExceptHandler"),
        *("FunctionDef", "AsyncFunctionDef", "ClassDef", "TypeVar", "ParamSpec", "TypeVarTuple"),
        *("MatchAs", "MatchStar", "MatchMapping"),
    )
)


def _nodes(tree: ast.Module) -> list[ast.AST]:
    """Give all nodes but ``Load``; three times as fast as ``ast.walk``."""
    nodes: list[ast.AST] = [tree]
    for node in nodes:  # which grows
        for name in node._fields:
            value = getattr(node, name, None)
            if type(value) is list:
                nodes += [child for child in value if isinstance(child, ast.AST)]
            elif isinstance(value, ast.AST) and type(value) is not ast.Load:
                nodes.append(value)
    return nodes


def _bindings(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            yield name
        case ast.Attribute(attr=name, ctx=ast.Store() | ast.Del()):
            yield f".{name}"
        case ast.arg(arg=name) | ast.MatchMapping(rest=str(name)):
            yield name
        case ast.Import(names=aliases):
            yield from (_bound_by(alias) for alias in aliases if alias.name not in _TYPING)
        case ast.ImportFrom(names=aliases):
            flags = (alias for alias in aliases if _is_typing(node) and alias.name == _FLAG)
            kept = {*flags}
            yield from (_bound_by(alias) for alias in aliases if alias not in kept)
        case _:
            named = getattr(
                node, "name", None
            )  # a function, class, handler, capture, type variable
            if isinstance(named, str):
                yield named


def _is_typing(node: ast.ImportFrom) -> bool:
    return node.level == 0 and node.module in _TYPING


def _binds_flag(alias: ast.alias, name: str) -> bool:
    if alias.name == "*":
        return name == _FLAG
    return alias.name == _FLAG and _bound_by(alias) == name


def _bound_by(alias: ast.alias) -> str:
    return alias.asname or alias.name.partition(".")[0]


def _test(decision: Decision) -> ast.expr | None:
    match decision.owner:
        case ast.While(test=test) | ast.If(test=test):
            return test
        case _:
            return decision.anchor if isinstance(decision.anchor, ast.expr) else None


def _compares_name_with_main(test: ast.expr) -> bool:
    match test:
        case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
            return (_is_name(left) and _is_main(right)) or (_is_main(left) and _is_name(right))
        case _:
            return False


def _is_name(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "__name__"


def _is_main(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == "__main__"


def _only_reraises(decision: Decision) -> bool:
    owner, handler = decision.owner, decision.anchor
    if not isinstance(owner, ast.Try | ast.TryStar) or not isinstance(handler, ast.ExceptHandler):
        return False
    match effective(decision.taken):
        case [ast.Raise(exc=None)]:
            return handler is owner.handlers[-1]
        case [ast.Raise(exc=ast.Name(id=name), cause=None)]:
            # In `except*` a named raise makes a new group, so there it is no re-raise.
            is_own = name == handler.name and isinstance(owner, ast.Try)
            return is_own and handler is owner.handlers[-1]
        case _:
            return False


def _sides_are_the_same(decision: Decision) -> bool:
    taken = effective(decision.taken)
    match decision.kind:
        case Kind.IF:
            return same(taken, effective(decision.otherwise))
        case Kind.TRY_ELSE | Kind.FOR_ELSE | Kind.WHILE_ELSE:
            return not taken
        case Kind.MATCH:
            instead = _instead_of_case(decision)
            return instead is not None and same(taken, effective(instead))
        case Kind.IFEXP:
            owner = decision.owner
            return isinstance(owner, ast.IfExp) and same(owner.body, owner.orelse)
        case Kind.EXCEPT | Kind.WHILE | Kind.COMPREHENSION:
            return False


def _instead_of_case(decision: Decision) -> Sequence[ast.stmt] | None:
    """Tell what runs if a case does not match, where that is certain."""
    if not isinstance(decision.owner, ast.Match):
        return None
    cases = decision.owner.cases
    place = next(i for i, case in enumerate(cases) if case.pattern is decision.anchor)
    match cases[place + 1 : place + 2]:
        case []:
            return ()
        case [ast.match_case(pattern=ast.MatchAs(pattern=None, name=None), guard=None, body=body)]:
            return body
        case _:
            return None
