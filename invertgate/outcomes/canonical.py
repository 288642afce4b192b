"""The predicate text of each kind of decision.

It is the text that ``ast.unparse`` gives on Python 3.12, but for ``u`` prefixes, which are gone.
So ``not a in b`` and ``a not in b`` are two predicates; a hint tells that they mean the same.
"""

import ast
from itertools import chain

from invertgate.outcomes.expression import write
from invertgate.outcomes.parts import TEST, TUPLE, Predicate, Written


def handler(node: ast.ExceptHandler, owner: ast.Try | ast.TryStar) -> Predicate:
    """Describe a handler: ``except T``, ``except* T``, ``except bare``; the name is left out."""
    word = "except* " if isinstance(owner, ast.TryStar) else "except "
    return (word, (node.type, TEST) if node.type else "bare")


def try_else(node: ast.Try | ast.TryStar) -> Predicate:
    """Describe the ``else`` of a ``try`` by its handlers: ``try except A, except (B, C)``."""
    described = ((", ", *handler(each, node)) for each in node.handlers)
    return ("try ", *[*chain.from_iterable(described)][1:])


def case(node: ast.match_case, owner: ast.Match) -> Predicate:
    """Describe a case: ``match SUBJECT case P if G``."""
    guard: Predicate = (" if ", (node.guard, TEST)) if node.guard else ()
    return ("match ", (owner.subject, TEST), " case ", (node.pattern, TEST), *guard)


def for_else(node: ast.For | ast.AsyncFor) -> Predicate:
    """Describe the ``else`` of a loop, asynchronous or not: ``for TARGET in ITER``."""
    return ("for ", (node.target, TUPLE), " in ", (node.iter, TEST))


def while_else(node: ast.While) -> Predicate:
    """Describe the ``else`` of a loop: ``while TEST``."""
    return ("while ", (node.test, TEST))


def loose_text(parts: Predicate) -> str:
    """Write a predicate with ``a not in b`` for ``not a in b``, and ``is not`` likewise."""
    return write(parts, _negation_inside)


def _negation_inside(node: Written) -> Written:
    match node:
        case ast.UnaryOp(
            op=ast.Not(),
            operand=ast.Compare(left=left, ops=[ast.In() | ast.Is() as op], comparators=right),
        ):
            return ast.Compare(
                left, [ast.NotIn() if isinstance(op, ast.In) else ast.IsNot()], right
            )
        case _:
            return node
