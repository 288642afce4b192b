"""What outcomes a file has and which are new: slow, recursive, and written apart from the product.

It knows no exemptions, hints or extra kinds, and reads whole statements only. Its predicates are
those of ``ast.unparse``, so they fit the product's for sources without strings on every Python.
"""

import ast
from collections.abc import Iterator
from typing import NamedTuple, TypeAlias


class Found(NamedTuple):
    """A decision as the reference sees it."""

    line: int
    kind: str
    predicate: str
    scope: str
    header: range
    body: str


class New(NamedTuple):
    """A decision that base has not."""

    line: int
    kind: str
    predicate: str
    scope: str
    ambiguous: bool


def find(source: str) -> list[Found]:
    """List the decisions of a source in the order of their lines."""
    return sorted(_find(ast.parse(source), "", source.split("\n")))


def _find(node: ast.AST, scope: str, lines: list[str]) -> Iterator[Found]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        scope = ".".join(filter(None, (scope, node.name)))
    yield from _own(node, scope, lines)
    for child in ast.iter_child_nodes(node):
        yield from _find(child, scope, lines)


_Described: TypeAlias = tuple[list[ast.stmt], str, str, str, ast.expr | ast.pattern | None]


def _own(node: ast.AST, scope: str, lines: list[str]) -> Iterator[Found]:
    for body, word, kind, text, header in _described(node):
        if not body:
            continue
        line = node.lineno if isinstance(node, ast.If) else body[0].lineno - 1
        while not lines[line - 1].strip().startswith(word):
            line -= 1
        shown = "\n".join(
            filter(None, map(str.strip, lines[body[0].lineno - 1 : body[-1].end_lineno]))
        )
        yield Found(
            line,
            kind,
            text,
            scope,
            range(line, ((header and header.end_lineno) or line) + 1),
            shown,
        )


def _described(node: ast.AST) -> Iterator[_Described]:
    """Give body, first word, kind, predicate, and what ends on the last line of the header."""
    match node:
        case ast.If():
            yield node.body, "", "if", ast.unparse(node.test), node.test
        case ast.Try() | ast.TryStar():
            handlers = [_handler(node, handler) for handler in node.handlers]
            for handler, text in zip(node.handlers, handlers, strict=True):
                yield handler.body, "except", "except", text, handler.type
            yield node.orelse, "else", "try_else", "try " + ", ".join(handlers), None
        case ast.Match():
            for case in node.cases:
                guard = f" if {ast.unparse(case.guard)}" if case.guard else ""
                text = f"match {ast.unparse(node.subject)} case {ast.unparse(case.pattern)}{guard}"
                yield case.body, "case", "match", text, case.guard or case.pattern
        case ast.For() | ast.AsyncFor():
            bare = ast.For(node.target, node.iter, [ast.Pass()], [], lineno=1)
            yield node.orelse, "else", "for_else", ast.unparse(bare).partition(":\n")[0], None
        case ast.While():
            yield node.orelse, "else", "while_else", f"while {ast.unparse(node.test)}", None
        case _:
            pass


def _handler(owner: ast.Try | ast.TryStar, handler: ast.ExceptHandler) -> str:
    star = "*" if isinstance(owner, ast.TryStar) else ""
    return f"except{star} {ast.unparse(handler.type) if handler.type else 'bare'}"


def new(
    base: str, head: str, added: frozenset[int], names: dict[str, str] | None = None
) -> list[New]:
    """List the decisions of head that base has not, by the words of the contract.

    Scopes of base are called in head as ``names`` says; it takes no look at bodies to find out.
    """
    names = names or {}
    old = [found._replace(scope=names.get(found.scope, found.scope)) for found in find(base)]
    fresh = find(head)
    result = []
    for scope in {found.scope for found in fresh}:
        result += _pair(
            [found for found in old if found.scope == scope],
            [found for found in fresh if found.scope == scope],
            added,
        )
    return sorted(result)


def _pair(old: list[Found], fresh: list[Found], added: frozenset[int]) -> list[New]:
    result = []
    for key in {(found.kind, found.predicate) for found in fresh}:
        olds = [found for found in old if (found.kind, found.predicate) == key]
        heads = [found for found in fresh if (found.kind, found.predicate) == key]
        result += _of_equals(olds, heads, added)
    return result


def _of_equals(olds: list[Found], heads: list[Found], added: frozenset[int]) -> list[New]:
    if len(heads) <= len(olds):
        return []
    certain = [found for found in heads if added.isdisjoint(found.header)]
    touched = [found for found in heads if found not in certain]
    if not olds:
        return _as_new(heads, [])
    if len(certain) < len(olds):
        return _as_new(touched, touched)
    if len(certain) > len(olds):
        return _as_new(heads, certain)
    homeless = [found.body for found in olds]
    for found in certain:
        if found.body in homeless:
            homeless.remove(found.body)
    if any(found.body in homeless for found in touched):
        return _as_new(heads, heads)
    return _as_new(touched, [])


def _as_new(chosen: list[Found], doubtful: list[Found]) -> list[New]:
    return [New(f.line, f.kind, f.predicate, f.scope, f in doubtful) for f in chosen]
