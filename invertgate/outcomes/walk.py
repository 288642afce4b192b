"""Find every decision of a file in one pass, without recursion."""

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from invertgate.model import Kind, Side
from invertgate.outcomes import canonical
from invertgate.outcomes.parts import TEST, Predicate
from invertgate.outcomes.source import Lines, Source, end

SIDES: dict[Kind, tuple[Side, ...]] = {
    Kind.IF: (Side.TRUE, Side.FALSE),
    Kind.EXCEPT: (Side.HANDLER,),
    Kind.TRY_ELSE: (Side.ELSE,),
    Kind.MATCH: (Side.CASE,),
    Kind.FOR_ELSE: (Side.ELSE,),
    Kind.WHILE_ELSE: (Side.ELSE,),
    Kind.WHILE: (Side.TRUE, Side.FALSE),
    Kind.IFEXP: (Side.TRUE, Side.FALSE),
    Kind.COMPREHENSION: (Side.TRUE, Side.FALSE),
}
"""The ways each kind of decision can go."""

Try: TypeAlias = ast.Try | ast.TryStar
For: TypeAlias = ast.For | ast.AsyncFor
Anchor: TypeAlias = ast.expr | ast.stmt | ast.pattern | ast.excepthandler
Import: TypeAlias = ast.Import | ast.ImportFrom
_Node: TypeAlias = ast.mod | ast.stmt | ast.excepthandler | ast.match_case


@dataclass(frozen=True, slots=True, eq=False)
class Decision:
    """A place where control can go several ways: a test, a handler, a case, an ``else``."""

    kind: Kind
    scope: str
    lines: Lines
    """Of the file where it stands."""
    line: int
    parts: Predicate
    """Its predicate, yet to be written."""
    anchor: Anchor
    header_end: int
    """The last line of its own; what it decides about may begin on it."""
    taken: Sequence[ast.stmt] = ()
    """What runs on its first side only."""
    otherwise: Sequence[ast.stmt] = ()
    """What runs on its second side only."""
    owner: ast.stmt | ast.IfExp | None = None
    """The statement that it is part of, or the conditional expression that it is."""

    @property
    def place(self) -> tuple[int, int, str]:
        """Sort as a reader meets them."""
        return (self.line, self.anchor.col_offset, self.kind)

    @property
    def raw(self) -> tuple[str | bytes, ...]:
        """Its kind and its predicate as it stands in the source; if equal, the predicate is too."""
        parts = (
            part
            if isinstance(part, str)
            else self.lines.between(part[0].lineno, part[0].col_offset, *end(part[0]))
            for part in self.parts
        )
        return (self.kind, *parts)


@dataclass(slots=True)
class Walk:
    """What one pass over a file finds."""

    source: Source
    decisions: list[Decision] = field(default_factory=list)
    scopes: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    """First and last line of the bodies of the functions and classes of each qualified name."""
    imports: list[tuple[str, Import]] = field(default_factory=list)
    """Imports, with the scope where they stand."""


def walk(source: Source, extra_kinds: Iterable[Kind] = ()) -> Walk:
    """Find the decisions of a file.

    Args:
        source: The file.
        extra_kinds: Which of ``EXTRA_KINDS`` count as well.

    Returns:
        The decisions in the order of their lines, with the scopes and imports of the file.
    """
    extras = frozenset(extra_kinds)
    visited = frozenset((*_BLOCKS, *_SIMPLE)) if extras else frozenset((*_BLOCKS, *_IMPORTS))
    found = Walk(source)
    pending: list[tuple[_Node, str]] = [(source.tree, "")]
    while pending:
        node, scope = pending.pop()
        found.decisions += _decisions(node, scope, source.lines, extras)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            scope = f"{scope}.{node.name}" if scope else node.name
            found.scopes.setdefault(scope, []).append(extent(node.body))
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found.imports.append((scope, node))
        for block in _BLOCKS.get(type(node), ()):
            pending += [(child, scope) for child in getattr(node, block) if type(child) in visited]
    found.scopes = dict(sorted(found.scopes.items(), key=lambda item: min(item[1])))
    found.decisions.sort(key=lambda decision: decision.place)
    return found


_BLOCKS: dict[type[ast.AST], tuple[str, ...]] = {
    ast.Module: ("body",),
    ast.FunctionDef: ("body",),
    ast.AsyncFunctionDef: ("body",),
    ast.ClassDef: ("body",),
    ast.If: ("body", "orelse"),
    ast.While: ("body", "orelse"),
    ast.For: ("body", "orelse"),
    ast.AsyncFor: ("body", "orelse"),
    ast.With: ("body",),
    ast.AsyncWith: ("body",),
    ast.Try: ("body", "handlers", "orelse", "finalbody"),
    ast.TryStar: ("body", "handlers", "orelse", "finalbody"),
    ast.ExceptHandler: ("body",),
    ast.Match: ("cases",),
    ast.match_case: ("body",),
}
_IMPORTS = (ast.Import, ast.ImportFrom)
_SIMPLE = tuple(set(ast.stmt.__subclasses__()) - set(_BLOCKS))


def _decisions(node: _Node, scope: str, lines: Lines, extras: frozenset[Kind]) -> list[Decision]:
    found = []
    match node:
        case ast.If():
            found.append(_test(Kind.IF, node, scope, lines))
        case ast.Try() | ast.TryStar():
            found += (_handler(handler, node, scope, lines) for handler in node.handlers)
            if node.orelse:
                parts = canonical.try_else(node)
                found.append(_else(Kind.TRY_ELSE, node, node.handlers[-1], parts, scope, lines))
        case ast.Match():
            found += _cases(node, scope, lines)
        case ast.For() | ast.AsyncFor() if node.orelse:
            parts = canonical.for_else(node)
            found.append(_else(Kind.FOR_ELSE, node, node.body[-1], parts, scope, lines))
        case ast.While():
            if node.orelse:
                parts = canonical.while_else(node)
                found.append(_else(Kind.WHILE_ELSE, node, node.body[-1], parts, scope, lines))
            if Kind.WHILE in extras:
                found.append(_test(Kind.WHILE, node, scope, lines))
        case _:
            pass
    if extras:
        found += _in_expressions(node, scope, lines, extras)
    return found


def _test(kind: Kind, node: ast.If | ast.While, scope: str, lines: Lines) -> Decision:
    return Decision(
        kind=kind,
        scope=scope,
        lines=lines,
        line=node.lineno,
        parts=((node.test, TEST),),
        anchor=node.test,
        header_end=end(node.test)[0],
        taken=node.body,
        otherwise=node.orelse,
        owner=node,
    )


def _handler(node: ast.ExceptHandler, owner: Try, scope: str, lines: Lines) -> Decision:
    return Decision(
        kind=Kind.EXCEPT,
        scope=scope,
        lines=lines,
        line=node.lineno,
        parts=canonical.handler(node, owner),
        anchor=node,
        header_end=end(node.type)[0] if node.type else node.lineno,
        taken=node.body,
        owner=owner,
    )


def _cases(node: ast.Match, scope: str, lines: Lines) -> Iterator[Decision]:
    before = end(node.subject)[0]
    for case in node.cases:
        yield Decision(
            kind=Kind.MATCH,
            scope=scope,
            lines=lines,
            line=lines.line_of_word(b"case", before, case.pattern.lineno),
            parts=canonical.case(case, node),
            anchor=case.pattern,
            header_end=end(case.guard or case.pattern)[0],
            taken=case.body,
            owner=node,
        )
        before = end(case.body[-1])[0]


def _else(
    kind: Kind,
    node: Try | For | ast.While,
    before: ast.stmt | ast.excepthandler,
    parts: Predicate,
    scope: str,
    lines: Lines,
) -> Decision:
    line = lines.line_of_word(b"else", end(before)[0], extent(node.orelse)[0])
    return Decision(
        kind=kind,
        scope=scope,
        lines=lines,
        line=line,
        parts=parts,
        anchor=node,
        header_end=line,
        taken=node.orelse,
        owner=node,
    )


def _in_expressions(
    node: _Node, scope: str, lines: Lines, extras: frozenset[Kind]
) -> Iterator[Decision]:
    pending = [*ast.iter_child_nodes(node)]
    while pending:
        child = pending.pop()
        if isinstance(child, ast.stmt | ast.excepthandler | ast.match_case):
            continue  # the walk comes to it by itself
        if isinstance(child, ast.IfExp) and Kind.IFEXP in extras:
            yield _in_expression(Kind.IFEXP, child.test, scope, lines, child)
        if isinstance(child, ast.comprehension) and Kind.COMPREHENSION in extras:
            yield from (
                _in_expression(Kind.COMPREHENSION, test, scope, lines) for test in child.ifs
            )
        pending += ast.iter_child_nodes(child)


def _in_expression(
    kind: Kind, test: ast.expr, scope: str, lines: Lines, owner: ast.IfExp | None = None
) -> Decision:
    return Decision(
        kind=kind,
        scope=scope,
        lines=lines,
        line=test.lineno,
        parts=((test, TEST),),
        anchor=test,
        header_end=end(test)[0],
        owner=owner,
    )


def extent(statements: Sequence[ast.stmt]) -> tuple[int, int]:
    """Tell the first and the last line of statements, decorators among them."""
    first = statements[0]
    decorators = getattr(first, "decorator_list", ())
    return (min(node.lineno for node in (first, *decorators)), end(statements[-1])[0])
