import ast
import builtins
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from invertgate.inside import switch
from invertgate.inside.weave import (
    OPERATORS,
    Anchor,
    Operator,
    WeavingError,
    deep_recursion,
    slots_of,
    weave,
)

NAMES = {
    switch.PROBE_TEST: "test",
    switch.PROBE_HANDLER: "handler",
    switch.PROBE_BODY: "body",
    switch.PROBE_GUARD: "guard",
}


@pytest.fixture(autouse=True)
def probes(tmp_path: Path) -> Iterator[None]:
    before = set(vars(builtins))
    switch.install()
    switch.SWITCH.board = switch.Board(str(tmp_path / "board"), 1, 64)
    yield
    switch.SWITCH.board = None
    switch.invert(())
    for name in set(vars(builtins)) - before:
        delattr(builtins, name)


def anchors(tree: ast.AST) -> list[Anchor]:
    found: list[Anchor] = []
    for node in ast.walk(tree):
        match node:
            case ast.If() | ast.IfExp() | ast.While():
                kind = {ast.If: "if", ast.IfExp: "ifexp", ast.While: "while"}[type(node)]
                found.append((kind, node.test.lineno, node.test.col_offset))
            case ast.ExceptHandler():
                found.append(("except", node.lineno, node.col_offset))
            case ast.match_case():
                found.append(("match", node.pattern.lineno, node.pattern.col_offset))
            case ast.comprehension():
                found += [("comprehension", each.lineno, each.col_offset) for each in node.ifs]
            case _:
                pass
        if isinstance(node, ast.Try | ast.TryStar | ast.For | ast.AsyncFor | ast.While):
            kind = {ast.Try: "try_else", ast.TryStar: "try_else", ast.While: "while_else"}.get(
                type(node), "for_else"
            )
            if node.orelse:
                found.append((kind, node.lineno, node.col_offset))
    return found


def woven(source: str) -> tuple[dict[str, object], dict[Anchor, int]]:
    tree = ast.parse(source)
    slots = {anchor: 2 * number for number, anchor in enumerate(anchors(tree))}
    weave(tree, slots)
    names: dict[str, object] = {}
    exec(compile(tree, "woven", "exec"), names)  # noqa: S102
    return names, slots


def result(source: str, call: str, *inverted: tuple[str, int, int]) -> object:
    """Call a woven function with outcomes inverted: kind, line, and 1 for the false side."""
    names, slots = woven(source)
    by_line = {(kind, line): slot for (kind, line, _), slot in slots.items()}
    switch.invert(by_line[kind, line] + side for kind, line, side in inverted)
    return eval(call, names)  # noqa: S307


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda operator: operator.kind)
def test_operator_does_what_its_example_says(operator: Operator) -> None:
    before, after = operator.example
    tree = ast.parse(before)
    anchor = next(anchor for anchor in anchors(tree) if anchor[0] == operator.kind)

    weave(tree, {anchor: 0})

    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = NAMES.get(node.id, node.id)
    assert ast.unparse(tree) == ast.unparse(ast.parse(after))


IF = """
def f(x):
    if x > 3:
        return "big"
    elif x > 1:
        return "middle"
    return "small"
"""


def test_true_side_inverted_takes_the_false_side_only_where_it_was_true() -> None:
    assert result(IF, "f(4)", ("if", 3, 0)) == "middle"
    assert result(IF, "f(2)", ("if", 3, 0)) == "middle"


def test_false_side_inverted_takes_the_true_side_only_where_it_was_false() -> None:
    assert result(IF, "f(2)", ("if", 3, 1)) == "big"
    assert result(IF, "f(4)", ("if", 3, 1)) == "big"


def test_both_sides_inverted_is_negation() -> None:
    assert result(IF, "f(4)", ("if", 3, 0), ("if", 3, 1)) == "middle"
    assert result(IF, "f(0)", ("if", 3, 0), ("if", 3, 1)) == "big"


HANDLERS = """
def f(d, k):
    try:
        return d[k]
    except KeyError:
        return "key"
    except (LookupError, TypeError):
        return "lookup"
def bare():
    try:
        raise ValueError
    except:
        return "bare"
"""


def test_inverted_handler_leaves_the_exception_to_the_next_that_fits() -> None:
    assert result(HANDLERS, "f({}, 1)", ("except", 5, 0)) == "lookup"
    assert result(HANDLERS, "f([], 1)", ("except", 5, 0)) == "lookup"


def test_inverted_last_handler_leaves_the_exception_to_the_caller() -> None:
    with pytest.raises(TypeError):
        result(HANDLERS, "f([], 'a')", ("except", 7, 0))


def test_inverted_bare_handler_matches_nothing() -> None:
    with pytest.raises(ValueError, match=r"^$"):
        result(HANDLERS, "bare()", ("except", 12, 0))


STAR = """
def f(*errors):
    seen = []
    try:
        raise ExceptionGroup("all", list(errors))
    except* OSError as part:
        seen.append(("os", len(part.exceptions)))
    except* (ConnectionError, ValueError) as part:
        seen.append(("value", len(part.exceptions)))
    except* Exception as part:
        seen.append(("rest", len(part.exceptions)))
    return seen
"""


@pytest.mark.parametrize(
    ("inverted", "expected"),
    [
        ((), [("os", 1), ("value", 1)]),
        ((("except", 6, 0),), [("value", 2)]),
        ((("except", 8, 0),), [("os", 1), ("rest", 1)]),
    ],
)
def test_inverted_star_handler_leaves_its_part_to_the_next(
    inverted: tuple[tuple[str, int, int], ...], expected: object
) -> None:
    assert result(STAR, "f(ConnectionError(), ValueError())", *inverted) == expected


def test_star_handler_that_gets_nothing_is_not_taken() -> None:
    names, slots = woven(STAR)

    names["f"](ConnectionError())  # type: ignore[operator]

    board = switch.SWITCH.board
    assert board is not None
    taken = {line for (kind, line, _), slot in slots.items() if board.taken(slot)}
    assert taken == {6}


@pytest.mark.parametrize(
    ("source", "call", "kind", "line", "plain", "inverted"),
    [
        ("def f(x):\n for i in x:\n  break\n else:\n  return 1\n", "f([])", "for_else", 2, 1, None),
        ("def f():\n while 0:\n  pass\n else:\n  return 1\n", "f()", "while_else", 2, 1, None),
        (
            "def f():\n try:\n  pass\n except E:\n  pass\n else:\n  return 1\n",
            "f()",
            "try_else",
            2,
            1,
            None,
        ),
        ("def f(x):\n match x:\n  case 1: return 1\n  case _: return 2", "f(1)", "match", 3, 1, 2),
        (
            "def f(x):\n match x:\n  case n if n: return n\n  case _: return 2",
            "f(1)",
            "match",
            3,
            1,
            2,
        ),
    ],
)
def test_inverted_body_or_case_is_skipped(
    source: str, call: str, kind: str, line: int, plain: object, inverted: object
) -> None:
    assert result(source, call) == plain
    assert result(source, call, (kind, line, 0)) == inverted


@pytest.mark.parametrize(
    ("source", "call", "kind", "line", "side", "inverted"),
    [
        ("def f(x): return 1 if x else 2", "f(1)", "ifexp", 1, 0, 2),
        ("def f(x): return [i for i in x if i]", "f([0, 1])", "comprehension", 1, 1, [0, 1]),
        ("def f(n):\n while n:\n  n -= 1\n return n", "f(2)", "while", 2, 0, 2),
    ],
)
def test_extra_kinds_are_inverted_too(
    source: str, call: str, kind: str, line: int, side: int, inverted: object
) -> None:
    assert result(source, call, (kind, line, side)) == inverted


@pytest.mark.parametrize(
    "source",
    [
        "import re\ndef f(s):\n if (m := re.match('a', s)): return m.group()\n",
        "class C:\n def __init__(self): self.__n = 1\n def f(self):\n  if self.__n: return 1\n",
        "def f():\n x = yield\n if (yield x): return\n",
        "async def g(): return 1\nasync def f():\n if await g(): return 1\n",
        '"""Doc."""\nfrom __future__ import annotations\nif 1: x = 1\n',
        "def f():\n 'doc'\n global cfg\n if 1: cfg = 2\n",
        "def f(x):\n  match x:\n    case [a, b] | [b, a, _]: return a\n    case _: return b\n",
    ],
)
def test_predicates_keep_their_scope(source: str) -> None:
    woven(source)


@pytest.mark.parametrize("test", ["a and b", "a or b", "not a", "a"])
def test_each_operand_is_asked_for_its_truth_as_often_as_if_asks(test: str) -> None:
    source = f"def f(a, b):\n if {test}: return 1\n return 2\n"
    plain: dict[str, object] = {}
    exec(source, plain)  # noqa: S102
    names, _ = woven(source)

    assert _questions(names) == _questions(plain)


def _questions(names: dict[str, object]) -> list[list[str]]:
    asked: list[list[str]] = []

    class Odd:
        def __init__(self, name: str, truth: bool) -> None:
            self.name = name
            self.truth = truth

        def __bool__(self) -> bool:
            asked[-1].append(self.name)
            return self.truth

    for one in (True, False):
        for other in (True, False):
            asked.append([])
            names["f"](Odd("a", one), Odd("b", other))  # type: ignore[operator]
    return asked


def test_a_decision_that_is_not_there_is_an_error() -> None:
    with pytest.raises(WeavingError, match="no if at line 7, column 3"):
        weave(ast.parse("x = 1"), slots_of([("if", 7, 3, 0)]))


def test_positions_in_tracebacks_stay_the_same() -> None:
    source = dedent(
        """
        def f(x):
            if (x.missing and
                    x.other):
                return 1
        """
    )
    plain: dict[str, object] = {}
    exec(compile(source, "plain", "exec"), plain)  # noqa: S102
    names, _ = woven(source)

    assert _position(names) == _position(plain)


def _position(names: dict[str, object]) -> object:
    try:
        names["f"](1)  # type: ignore[operator]
    except AttributeError as error:
        last = error.__traceback__
        while last is not None and last.tb_next is not None:
            last = last.tb_next
        assert last is not None
        return list(last.tb_frame.f_code.co_positions())[last.tb_lasti // 2]
    raise AssertionError


def _standard_library() -> list[Path]:
    return sorted(Path(ast.__file__).parent.glob("*.py"))[::8]


@pytest.mark.parametrize("path", _standard_library(), ids=lambda path: path.name)
def test_standard_library_module_compiles_when_all_of_it_is_woven(path: Path) -> None:
    tree = ast.parse(path.read_bytes())
    slots = {anchor: number for number, anchor in enumerate(anchors(tree))}

    weave(tree, slots)

    with deep_recursion():
        compile(tree, str(path), "exec")


def test_long_chain_of_elif_can_be_woven() -> None:
    if sys.version_info[:2] == (3, 12):
        chain = 900  # its compiler has a limit of its own
    else:
        chain = 3000
    source = "def f(a):\n if a == -1: return 0\n" + "".join(
        f" elif a == {number}: return {number}\n" for number in range(chain)
    )

    with deep_recursion():
        tree = ast.parse(source)
        slots = {anchor: 2 * number for number, anchor in enumerate(anchors(tree))}
        weave(tree, slots)
        compile(tree, "chain", "exec")
