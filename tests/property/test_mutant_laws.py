"""The mutant that readers see, the one that is woven and the oracle's behave alike."""

import ast
import builtins
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from _edits import OPERATORS, NotEditableError, Source, find
from hypothesis import given, settings
from hypothesis import strategies as st

from invertgate.experiment.plan import subjects_of
from invertgate.inside import switch
from invertgate.inside.weave import slots_of, weave
from invertgate.model import EXTRA_KINDS, ChangedFile, Outcome
from invertgate.outcomes.identity import new_outcomes
from invertgate.outcomes.mutant import NotWritableError, mutant, mutants
from support import random_modules, random_programs
from support.random_programs import Driver, One, Stop, Three, Two
from support.trees import TREES

pytestmark = pytest.mark.property

law = settings(max_examples=40, deadline=None)  # a slow machine is no failure
RANDOM = st.integers(0, 2**32 - 1).map(Random)
NAMES = {"One": One, "Two": Two, "Three": Three}
TAPES = 3
SOME = 6


@pytest.fixture(scope="module", autouse=True)
def probes() -> Iterator[None]:
    before = set(vars(builtins))
    switch.install()
    yield
    switch.invert(())
    for name in set(vars(builtins)) - before:
        delattr(builtins, name)


def outcomes_of(source: bytes) -> tuple[Outcome, ...]:
    file = ChangedFile("a.py", None, None, source, frozenset())
    return new_outcomes([file], EXTRA_KINDS).outcomes


def behaviour(tree: ast.Module | bytes, tape: int) -> tuple[object, ...]:
    """Run a program, and tell what it did and how it ended."""
    names: dict[str, object] = dict(NAMES)
    exec(compile(tree, "program", "exec"), names)  # noqa: S102
    driver = Driver(Random(tape))  # noqa: S311
    try:
        ended = eval("f(d)", names, {"d": driver})  # noqa: S307
    except (Exception, Stop) as error:  # noqa: BLE001
        ended = repr(error)
    return (*driver.log, ended)


def oracle(read: Source, outcome: Outcome, operator: str) -> bytes:
    """Let the oracle's own writer invert an outcome."""
    place = find(
        read,
        outcome.kind,
        anchor=(
            outcome.anchor.line,
            outcome.anchor.column,
            outcome.anchor.end_line,
            outcome.anchor.end_column,
        ),
        line=outcome.line,
        predicate=outcome.predicate,
    )
    return read.with_edits(OPERATORS[operator](read, place, outcome.side))


@law
@given(RANDOM, st.booleans())
def test_text_mutant_behaves_as_the_woven_one_and_the_oracle_s(
    random: Random, is_negated: bool
) -> None:
    source = random_programs.program(random).encode()
    outcomes = outcomes_of(source)
    files, subjects, _ = subjects_of(outcomes, {"a.py": source}, negate=is_negated)
    woven = ast.parse(source)
    weave(woven, slots_of(files[0].decisions) if files else {})
    made = mutants(outcomes, {"a.py": source}, negate=is_negated)
    read = Source(source)

    for subject in random.sample(subjects, min(len(subjects), SOME)):
        outcome = subject.outcome
        text = made[outcome.key].source
        other = oracle(read, outcome, "negate" if is_negated else "onesided")
        for tape in range(TAPES):
            switch.invert(subject.inverted)
            expected = behaviour(woven, tape)
            switch.invert(())
            assert behaviour(text, tape) == expected, made[outcome.key].text
            assert behaviour(other, tape) == expected


@law
@given(RANDOM)
def test_every_mutant_of_a_module_compiles_and_keeps_its_lines(random: Random) -> None:
    source = random_modules.text(random_modules.module(random)).encode()

    for outcome in outcomes_of(source):
        made = mutant(outcome, source)

        compile(made.source, "a.py", "exec")
        assert made.source != source
        assert made.source.count(b"\n") == source.count(b"\n")


@pytest.mark.parametrize(
    "path", sorted(TREES.glob("*/head/**/*.py")), ids=lambda path: str(path.relative_to(TREES))
)
def test_sources_of_the_fixtures_are_written_where_the_oracle_can(path: Path) -> None:
    source = path.read_bytes()

    for outcome in outcomes_of(source):
        try:
            expected = oracle(Source(source), outcome, "onesided")
        except NotEditableError:
            with pytest.raises(NotWritableError):
                mutant(outcome, source)
        else:
            text = mutant(outcome, source).source
            assert text != source
            assert shape(text) in {shape(expected), *_legible(expected)}


def shape(source: bytes) -> str:
    return ast.dump(Flat().visit(ast.parse(source)))


class Flat(ast.NodeTransformer):
    """``(a and b) and c`` decides as ``a and b and c`` does, with the same truth of each once."""

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.BoolOp:
        self.generic_visit(node)
        values: list[ast.expr] = []
        for value in node.values:
            if isinstance(value, ast.BoolOp) and type(value.op) is type(node.op):
                values += value.values
            else:
                values.append(value)
        node.values = values
        return node


def _legible(expected: bytes) -> Iterator[str]:
    """The oracle's handlers take the second of a pair where ours say ``and``."""
    tree = ast.parse(expected)
    for node in ast.walk(tree):
        match node:
            case ast.ExceptHandler(type=ast.Subscript(value=ast.Tuple(elts=[first, nothing]))):
                node.type = ast.BoolOp(ast.And(), [first, nothing])
            case _:
                pass
    yield ast.dump(Flat().visit(tree))
