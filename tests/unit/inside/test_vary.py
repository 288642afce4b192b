import ast
import builtins
from collections.abc import Iterator
from pathlib import Path

import pytest

from invertgate.inside import switch
from invertgate.inside.vary import STATEMENT, parts_of, vary
from invertgate.inside.weave import WeavingError, slots_of, weave

SOURCE = """\
def classify(amount, items=()):
    total = amount + 1
    if total < 10: kind = "small"
    else: kind = "large"
    for item in range(0, 3):
        if item == 2:
            break
        total += item
    with open_it("a") as name:
        kind += name
    match total - 1:
        case 2 | 3 if amount > 1:
            kind += "!"
        case _:
            pass
    return kind, total, [each for each in items if each > 0]
"""

VERSIONS = {
    (2, 4, STATEMENT): ["total = amount - 1", "total = None"],
    (3, 4, "test"): ["total <= 10", "(total\n   > 10)"],
    (3, 19, STATEMENT): ['kind = "XXsmallXX"'],
    (5, 4, "iter"): ["range(2, 3)"],
    (6, 8, "test"): ["item != 2"],
    (7, 12, STATEMENT): ["return"],
    (8, 8, STATEMENT): ["total = item", "total -= item"],
    (9, 4, "item 0"): ['open_it("B")'],
    (11, 4, "subject"): ["total + 1"],
    (11, 4, "guard 0"): ["amount >= 1"],
    (16, 4, STATEMENT): ["return kind, total, [each for each in items if each >= 0]"],
}
LINES = SOURCE.splitlines(keepends=True)


class OpenIt:
    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> str:
        return self.name

    def __exit__(self, *_: object) -> None:
        pass


@pytest.fixture(autouse=True)
def board(tmp_path: Path) -> Iterator[switch.Board]:
    before = set(vars(builtins))
    switch.install()
    switch.SWITCH.board = switch.Board(str(tmp_path / "board"), 1, 64)
    yield switch.SWITCH.board
    switch.SWITCH.board = None
    switch.invert(())
    for name in set(vars(builtins)) - before:
        delattr(builtins, name)


def numbered() -> list[tuple[int, int, str, int, str]]:
    texts = [(*key, text) for key, texts in VERSIONS.items() for text in texts]
    return [(line, column, part, n, text) for n, (line, column, part, text) in enumerate(texts)]


def woven() -> ast.Module:
    tree = ast.parse(SOURCE)
    vary(tree, numbered())
    return tree


def behaviour(tree: ast.Module) -> list[object]:
    names: dict[str, object] = {"open_it": OpenIt}
    exec(compile(tree, "a.py", "exec"), names)  # noqa: S102
    classify = names["classify"]
    assert callable(classify)
    found: list[object] = []
    for amount in (-1, 0, 1, 2, 3, 8, 9, 10, 20):
        try:
            found.append(classify(amount, (-1, 0, 1)))
        except TypeError as error:
            found.append(str(error))
    return found


def edited(version: tuple[int, int, str, int, str]) -> ast.Module:
    """Return the module whose text is edited where the version belongs."""
    line, column, part, _, text = version
    for node in ast.walk(ast.parse(SOURCE)):
        if isinstance(node, ast.stmt) and (node.lineno, node.col_offset) == (line, column):
            found = node if part == STATEMENT else dict(parts_of(node))[part]
            old = ast.get_source_segment(SOURCE, found)
            assert old is not None
            start = sum(len(each) for each in LINES[: found.lineno - 1]) + found.col_offset
            return ast.parse(SOURCE[:start] + text + SOURCE[start + len(old) :])
    raise AssertionError(version)


def test_a_varied_module_with_nothing_switched_on_behaves_as_its_source() -> None:
    assert behaviour(woven()) == behaviour(ast.parse(SOURCE))


@pytest.mark.parametrize("version", numbered(), ids=lambda each: f"{each[0]}-{each[2]}-{each[3]}")
def test_a_version_that_is_switched_on_behaves_as_the_edited_text(
    version: tuple[int, int, str, int, str], board: switch.Board
) -> None:
    tree = woven()
    switch.invert((version[3],))

    said = behaviour(tree)

    assert said == behaviour(edited(version))
    assert said != behaviour(ast.parse(SOURCE))
    assert board.taken(version[3])


def test_a_version_whose_place_is_not_passed_is_not_taken(board: switch.Board) -> None:
    tree = ast.parse("if asked:\n    a = 1\n")
    vary(tree, [(2, 4, STATEMENT, 5, "a = 2")])

    exec(compile(tree, "a.py", "exec"), {"asked": False})  # noqa: S102

    assert not board.taken(5)


def test_a_version_stands_where_the_original_does_in_tracebacks() -> None:
    tree = ast.parse("a = 1\nb = (a +\n     1)\n")
    vary(tree, [(2, 0, STATEMENT, 0, "b = a / 0")])
    switch.invert((0,))

    with pytest.raises(ZeroDivisionError) as raised:
        exec(compile(tree, "a.py", "exec"), {})  # noqa: S102

    assert raised.traceback[-1].lineno == 1  # counted from 0


def test_decisions_and_versions_of_one_statement_are_woven_together() -> None:
    tree = ast.parse("if a < 1:\n    b = 1\nelse:\n    b = 2\n")
    weave(tree, slots_of([("if", 1, 3, 10)]))
    vary(tree, [(1, 0, "test", 0, "a <= 1"), (2, 4, STATEMENT, 1, "b = 3")])
    names: dict[str, object] = {"a": 0}
    switch.invert((1,))

    exec(compile(tree, "a.py", "exec"), names)  # noqa: S102

    assert names["b"] == 3


def test_a_version_of_what_is_not_there_is_refused() -> None:
    with pytest.raises(WeavingError, match="no test at line 7, column 0"):
        vary(ast.parse("a = 1\n"), [(7, 0, "test", 0, "b")])
