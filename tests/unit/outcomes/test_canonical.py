import pytest

from invertgate.model import Outcome
from invertgate.outcomes.identity import new_outcomes, outcome_id
from support.changed_files import changed

# Computed apart from the code: sha256 of "kind|predicate|side", and of "kind|predicate|side|2".
GOLDEN = [
    ("if x is None: y = 1", "x is None", "c1f8149db9b3", "66f81908e0f5"),
    ("if  (x\t is None) :\n  y = 1", "x is None", "c1f8149db9b3", "66f81908e0f5"),
    ("""if f"{'.' * 5}" == y: z = 1""", "f'{'.' * 5}' == y", "fd6d0b526adf", "9f3675e6d656"),
    ('if u"a" == x: y = 1', "'a' == x", "9081ee467091", "73404a6c624c"),
    ("if x == 1_000: y = 1", "x == 1000", "09f2d1365090", "9f2768552dfe"),
    (
        "try: f()\nexcept (KeyError, ValueError,) as e: y = 1",
        "except (KeyError, ValueError)",
        "10da36f00d5e",
        "47012390f30c",
    ),
    ("try: f()\nexcept: y = 1", "except bare", "c9aef22f07a6", "918c279434ce"),
    ("try: f()\nexcept* OSError: y = 1", "except* OSError", "8b6834fad4d4", "92d0a9124b5d"),
    (
        "match x, y:\n case (1, *rest) if rest: z = 1",
        "match (x, y) case [1, *rest] if rest",
        "9549f24729c5",
        "937b70503f3b",
    ),
    (
        "for (a, b) in items: pass\nelse: y = 1",
        "for a, b in items",
        "19432a0c7d57",
        "a096f3f636d4",
    ),
    ("while queue: pass\nelse: y = 1", "while queue", "0cf597f36301", "7430db612b72"),
]


@pytest.mark.parametrize(("source", "predicate", "first", "second"), GOLDEN)
def test_predicate_and_id_are_the_same_on_every_python(
    source: str, predicate: str, first: str, second: str
) -> None:
    outcomes = _outcomes(f"{source}\n{source}")

    firsts = [outcome for outcome in outcomes if outcome.predicate == predicate]
    sides = len(firsts) // 2
    assert (firsts[0].id, firsts[sides].id) == (first, second)


def test_id_of_an_else_names_all_handlers() -> None:
    source = "try: f()\nexcept A: a()\nexcept (B, C): b()\nelse: c()"

    outcome = _outcomes(source)[-1]

    assert outcome.predicate == "try except A, except (B, C)"
    assert outcome.id == "74c3e383a1ed"


def test_else_of_an_exception_group_names_its_handlers_with_a_star() -> None:
    outcome = _outcomes("try: f()\nexcept* A: a()\nelse: c()")[-1]

    assert outcome.predicate == "try except* A"


def test_else_of_an_asynchronous_loop_reads_as_that_of_any_loop() -> None:
    source = "async def f():\n async for a in b: pass\n else: c()"

    assert _outcomes(source)[0].predicate == "for a in b"


def test_two_spellings_of_not_in_are_two_predicates() -> None:
    inside, outside = _outcomes("if a not in b: c()\nif not a in b: c()")[::2]

    assert (inside.predicate, outside.predicate) == ("a not in b", "not a in b")


def test_side_and_occurrence_are_part_of_the_id() -> None:
    outcome = _outcomes("if x is None: y = 1")[1]

    assert outcome.id == "08072ea2e185"
    assert outcome.id == outcome_id(outcome.kind, outcome.predicate, outcome.side)
    assert outcome_id(outcome.kind, outcome.predicate, outcome.side, 2) == "e613e12f0124"


def _outcomes(source: str) -> tuple[Outcome, ...]:
    return new_outcomes([changed(None, source)]).outcomes
