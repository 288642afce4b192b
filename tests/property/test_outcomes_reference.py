"""The walk, and what it calls new, agree with a slow reference."""

import ast
from collections.abc import Iterable
from random import Random

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from invertgate.model import ChangedFile, Outcome, Side
from invertgate.outcomes.identity import new_outcomes
from support import random_modules as modules
from support import reference_outcomes as reference
from support.changed_files import added_lines, changed

pytestmark = pytest.mark.property

# By seed: a module drawn piece by piece would take hypothesis a hundred times longer.
RANDOM = st.integers(0, 2**32 - 1).map(Random)

law = settings(max_examples=60, deadline=None)  # a slow machine is no failure


@law
@given(RANDOM)
def test_every_decision_of_a_file_is_found(random: Random) -> None:
    source = modules.text(modules.module(random))

    outcomes = new_outcomes([changed(None, source)]).outcomes

    assert [new[:4] for new in told(outcomes)] == [
        (found.line, found.kind, found.predicate, found.scope) for found in reference.find(source)
    ]
    assert len({(o.kind, o.anchor, o.side) for o in outcomes}) == len(outcomes)
    assert len({o.id for o in outcomes}) == len(outcomes)


@law
@given(RANDOM, st.booleans())
def test_new_decisions_are_those_of_the_reference(random: Random, is_git_wild: bool) -> None:
    statements = modules.module(random)
    base, head = modules.text(statements), modules.text(modules.edited(statements, random))
    # That may be a rename, which the reference does not look for.
    assume(not (scopes(head) - scopes(base) and scopes(base) - scopes(head)))
    lines = range(1, head.count("\n") + 1)
    wild = frozenset(line for line in lines if random.random() < 0.5)
    added = wild if is_git_wild else added_lines(base, head)

    listed = new_outcomes([ChangedFile("a.py", "a.py", base.encode(), head.encode(), added)])

    assert told(listed.outcomes) == reference.new(base, head, added)


@law
@given(RANDOM)
def test_renamed_functions_bring_no_more_than_their_edits(random: Random) -> None:
    before = modules.module(random)
    after = modules.edited(before, random, rate=0.02)
    outweighs_the_rest = "-" * len(below(before) + below(after))
    shared = f"    kept('{outweighs_the_rest}')\n"
    base = f"def before(a, b):\n{shared}{below(before)}"
    head = (
        f"class Unlike:\n{below(modules.module(random))}\ndef after(a, b):\n{shared}{below(after)}"
    )
    added = added_lines(base, head)

    listed = new_outcomes([ChangedFile("a.py", "a.py", base.encode(), head.encode(), added)])

    expected = reference.new(base, head, added, {"before": "after"})
    assert in_scope("after", told(listed.outcomes)) == in_scope("after", expected)


@law
@given(RANDOM)
def test_layout_brings_nothing_new(random: Random) -> None:
    base = modules.text(modules.module(random))
    head = ast.unparse(ast.parse(base))

    assert new_outcomes([changed(base, head)]).outcomes == ()
    assert new_outcomes([changed(base, base.replace("\n", "\r\n"))]).outcomes == ()


def told(outcomes: Iterable[Outcome]) -> list[reference.New]:
    """Give each decision once, and see that no side comes without the other."""
    sides: dict[bool, list[reference.New]] = {True: [], False: []}
    for o in outcomes:
        new = reference.New(o.line, o.kind, o.predicate, o.scope, o.ambiguous)
        sides[o.side is not Side.FALSE].append(new)
    assert sorted(sides[False]) == sorted(new for new in sides[True] if new.kind == "if")
    return sorted(sides[True])


def in_scope(scope: str, found: list[reference.New]) -> list[reference.New]:
    """Keep what stands in one function itself."""
    return [new for new in found if new.scope == scope]


def below(statements: list[modules.Statement]) -> str:
    """Write the body of a function."""
    return "".join(f"    {line}\n" for line in modules.text(statements).splitlines())


def scopes(source: str) -> set[str]:
    """Give the qualified names of functions and classes."""
    pending: list[tuple[ast.AST, str]] = [(ast.parse(source), "")]
    found = set()
    while pending:
        node, scope = pending.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            scope = ".".join(filter(None, (scope, node.name)))
            found.add(scope)
        pending += [(child, scope) for child in ast.iter_child_nodes(node)]
    return found
