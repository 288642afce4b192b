"""Random modules full of decisions, and random edits of them."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from random import Random

# Few and short, so that equal decisions come together often.
TESTS = ("a", "a", "b", "not a", "a in b", "(a  and\n b)", "f(a, b)")
TYPES = ("A", "(A, B)", "(B)")
PATTERNS = ("1", "[a, *_]", "A(b=1) | None", "{1: b}", "(\n1)")
SIMPLE = ("a = 1", "f()", "pass", "b = 2\n\n# else: comment", "return_(\n  a)")


@dataclass(frozen=True, slots=True)
class Statement:
    """A head and what stands below it, for each clause; a simple statement has one without body."""

    clauses: list[tuple[str, "list[Statement]"]] = field(default_factory=list)


def module(random: Random) -> list[Statement]:
    """Make a module with functions and classes."""
    return [_definition(random, 0) if random.random() < 0.7 else _any(random, 0) for _ in range(3)]


def edited(statements: list[Statement], random: Random, rate: float = 0.06) -> list[Statement]:
    """Drop, double, insert and swap statements at any depth."""
    result: list[Statement] = []
    for statement in statements:
        if random.random() < rate:
            continue
        result.append(_edited(statement, random, rate))
        if random.random() < rate:
            result.append(result[-1])
        if random.random() < rate:
            result.insert(random.randrange(len(result) + 1), _any(random, 1))
    if random.random() < rate and len(result) > 1:
        result[0], result[-1] = result[-1], result[0]
    return result


def _edited(statement: Statement, random: Random, rate: float) -> Statement:
    clauses = []
    for head, below in statement.clauses:
        if head.startswith("match"):  # which holds cases and nothing else
            clauses.append((head, [_edited(case, random, rate) for case in below]))
        else:
            clauses.append((head, edited(below, random, rate) if below else []))
    return Statement(clauses)


def text(statements: list[Statement]) -> str:
    """Write a module."""
    return "\n".join(_lines(statements)) + "\n"


def _lines(statements: list[Statement]) -> Iterable[str]:
    for statement in statements:
        for head, below in statement.clauses:
            yield from head.split("\n")
            if head.endswith(":"):
                yield from (f"    {line}" for line in _lines(below or [_simple("pass")]))


def _simple(line: str) -> Statement:
    return Statement([(line, [])])


def _any(random: Random, depth: int) -> Statement:
    if depth > 2 or random.random() < 0.3:
        return _simple(random.choice(SIMPLE))
    return random.choice((_if, _if, _try, _match, _loop, _definition))(random, depth)


def _block(random: Random, depth: int) -> list[Statement]:
    return [_any(random, depth + 1) for _ in range(random.choice((1, 1, 2, 3)))]


def _if(random: Random, depth: int) -> Statement:
    clauses = [(f"if {random.choice(TESTS)}:", _block(random, depth))]
    tests = random.sample(TESTS, random.choice((0, 0, 1, 2)))
    clauses += [(f"elif {test}:", _block(random, depth)) for test in tests]
    return Statement([*clauses, *_else(random, depth)])


def _try(random: Random, depth: int) -> Statement:
    word = random.choice(("except", "except*"))
    clauses = [("try:", _block(random, depth))]
    types = random.sample(TYPES, random.choice((1, 1, 2)))
    clauses += [(f"{word} {kind} as e:", _block(random, depth)) for kind in types]
    if word == "except" and random.random() < 0.5:
        clauses.append(("except:", _block(random, depth)))
    clauses += _else(random, depth)
    if random.random() < 0.3:
        clauses.append(("finally:", _block(random, depth)))
    return Statement(clauses)


def _match(random: Random, depth: int) -> Statement:
    guards = ("", " if b", " if (a)")
    cases = [
        Statement(
            [(f"case {random.choice(PATTERNS)}{random.choice(guards)}:", _block(random, depth))]
        )
        for _ in range(random.choice((1, 2, 3)))
    ]
    return Statement([(random.choice(("match a:", "match a, b:", "match (a\n):")), cases)])


def _loop(random: Random, depth: int) -> Statement:
    head = random.choice(("for a in b:", "for (a, b) in f():", "while a:"))
    return Statement([(head, _block(random, depth)), *_else(random, depth)])


def _definition(random: Random, depth: int) -> Statement:
    head = random.choice(("def {}(a, b):", "async def {}(a, b):", "class {}:"))
    return Statement([(head.format(random.choice("fgh")), _block(random, depth))])


def _else(random: Random, depth: int) -> list[tuple[str, list[Statement]]]:
    comment = random.choice(("", "# else:\n", "\n"))
    return [(f"{comment}else:", _block(random, depth))] if random.random() < 0.5 else []
