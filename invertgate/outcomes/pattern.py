"""The text of patterns, as ``ast.unparse`` writes it on Python 3.12."""

import ast
from collections.abc import Sequence

from invertgate.outcomes.literal import constant
from invertgate.outcomes.parts import ATOM, BIT_OR, TEST, Part, listed, paired, within


def value(node: ast.MatchValue, _: int) -> Sequence[Part]:
    """Write ``case 1`` and ``case Colour.RED``."""
    return ((node.value, TEST),)


def singleton(node: ast.MatchSingleton, _: int) -> Sequence[Part]:
    """Write ``case None``."""
    return (constant(node.value),)


def capture(node: ast.MatchAs, level: int) -> Sequence[Part]:
    """Write ``case _``, ``case name`` and ``case P as name``."""
    if node.pattern is None:
        return (node.name or "_",)
    return within(level, TEST, ((node.pattern, BIT_OR), f" as {node.name}"))


def alternatives(node: ast.MatchOr, level: int) -> Sequence[Part]:
    """Write ``case P | Q``."""
    return within(level, BIT_OR, listed(node.patterns, BIT_OR + 1, " | "))


def sequence(node: ast.MatchSequence, _: int) -> Sequence[Part]:
    """Write ``case [P, Q]``; the parentheses of ``case (P, Q)`` mean the same."""
    return ("[", *listed(node.patterns), "]")


def star(node: ast.MatchStar, _: int) -> Sequence[Part]:
    """Write ``*rest`` in a sequence."""
    return (f"*{node.name or '_'}",)


def mapping(node: ast.MatchMapping, _: int) -> Sequence[Part]:
    """Write ``case {"key": P, **rest}``."""
    keys = zip(node.keys, node.patterns, strict=True)
    pairs: list[Sequence[Part]] = [((key, TEST), ": ", (inner, TEST)) for key, inner in keys]
    if node.rest is not None:
        pairs.append((f"**{node.rest}",))
    return ("{", *paired(pairs), "}")


def instance(node: ast.MatchClass, _: int) -> Sequence[Part]:
    """Write ``case Point(P, y=Q)``."""
    pairs: list[Sequence[Part]] = [((inner, TEST),) for inner in node.patterns]
    keywords = zip(node.kwd_attrs, node.kwd_patterns, strict=True)
    pairs += [(f"{name}=", (inner, TEST)) for name, inner in keywords]
    return ((node.cls, ATOM), "(", *paired(pairs), ")")
