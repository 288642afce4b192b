from collections.abc import Sequence

import pytest

from invertgate.model import EXTRA_KINDS, Kind, Outcome, Side, Span
from invertgate.outcomes.identity import new_outcomes
from support.changed_files import changed


def test_thousand_elifs_give_two_thousand_rows() -> None:
    arms = "".join(f"    elif a == {i}:\n        return {i}\n" for i in range(1, 1000))

    outcomes = _outcomes(f"def f(a):\n    if a == 0:\n        return 0\n{arms}")

    assert len({outcome.id for outcome in outcomes}) == 2000


def test_deep_nesting_is_walked() -> None:
    source = "".join(f"{' ' * i}if x{i}:\n" for i in range(90)) + " " * 90 + "y = 1\n"

    assert len(_outcomes(source)) == 180


@pytest.mark.parametrize(
    ("source", "scope"),
    [
        ("if x: y = 1", ""),
        ("def f():\n if x: y = 1", "f"),
        ("async def f():\n if x: y = 1", "f"),
        ("class Order:\n if x: y = 1", "Order"),
        ("class Order:\n def total(self):\n  if x: y = 1", "Order.total"),
        ("def outer():\n def inner():\n  if x: y = 1", "outer.inner"),
        ("if 1:\n with a:\n  def f():\n   if x: y = 1", "f"),
        ("try: pass\nfinally:\n class A:\n  if x: y = 1", "A"),
    ],
)
def test_scope_is_the_qualified_name_without_locals(source: str, scope: str) -> None:
    assert _outcomes(source)[-1].scope == scope


@pytest.mark.parametrize(
    ("source", "anchor"),
    [
        ("if (x): y = 1", Span(1, 4, 1, 5)),
        ('if "é" and x: y = 1', Span(1, 3, 1, 13)),
        ("try: f()\nexcept A:\n  b()", Span(2, 0, 3, 5)),
        ("match x:\n case (1 | 2) if y: z = 1", Span(2, 7, 2, 12)),
        ("for a in b: pass\nelse: c()", Span(1, 0, 2, 9)),
        ("while a: pass\nelse: c()", Span(1, 0, 2, 9)),
    ],
)
def test_anchor_is_where_the_decision_stands(source: str, anchor: Span) -> None:
    assert _outcomes(source)[0].anchor == anchor


@pytest.mark.parametrize(
    ("source", "bodies"),
    [
        ("if x:\n  a()\n  b()", [(2, 3), (1, 1)]),
        ("if x:\n  a()\nelse:\n  b()\n  c()", [(2, 2), (4, 5)]),
        ("if (x\n  and y): a()\nelse: b()", [(1, 2), (3, 3)]),
        ("if x: a(\n  b)", [(1, 1), (1, 1)]),
        ("if x:\n  @d\n  def f(): pass", [(2, 3), (1, 1)]),
        ("if x:\n  a()\nelif y:\n  b()\nelse:\n  c()", [(2, 2), (3, 6), (4, 4), (6, 6)]),
        ("try: f()\nexcept A:\n  b()\nelse:\n  c()", [(3, 3), (5, 5)]),
        ("for a in b: pass\nelse: c()", [(2, 2)]),
        ("match x:\n case 1:\n  a()\n case 2: b()", [(3, 3), (4, 4)]),
    ],
)
def test_body_is_what_runs_on_that_side_only(source: str, bodies: list[tuple[int, int]]) -> None:
    assert [outcome.body for outcome in _outcomes(source)] == bodies


def test_extra_kinds_make_rows_only_when_asked_for() -> None:
    source = "def f(g=a if b else c):\n while h:\n  return [i for i in j if k if l]"

    outcomes = _outcomes(source, EXTRA_KINDS)

    assert _outcomes(source) == ()
    assert [
        (outcome.kind, outcome.predicate, outcome.line, outcome.scope) for outcome in outcomes[::2]
    ] == [
        (Kind.IFEXP, "b", 1, ""),
        (Kind.WHILE, "h", 2, "f"),
        (Kind.COMPREHENSION, "k", 3, "f"),
        (Kind.COMPREHENSION, "l", 3, "f"),
    ]
    assert {outcome.side for outcome in outcomes} == {Side.TRUE, Side.FALSE}


def test_one_extra_kind_does_not_bring_the_others() -> None:
    source = "x = [a if b else c for d in e if f]\nwhile g: pass"

    assert {outcome.kind for outcome in _outcomes(source, [Kind.IFEXP])} == {Kind.IFEXP}


def test_conditional_expressions_in_conditional_expressions_have_their_own_anchors() -> None:
    source = 'x = (a if (b if c else d) else e) if f else f"{g if h else i}{g if h else i}"'

    outcomes = _outcomes(source, [Kind.IFEXP])

    assert len({outcome.anchor for outcome in outcomes}) == 5


def _outcomes(source: str, extra_kinds: Sequence[Kind] = ()) -> tuple[Outcome, ...]:
    return new_outcomes([changed(None, source)], extra_kinds).outcomes
