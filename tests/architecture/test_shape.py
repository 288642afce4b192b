"""The shape of the code: who may print and start processes; and fixtures say what they are for."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "invertgate"
TREES = ROOT / "fixtures" / "trees"
FIXTURES = ROOT / "fixtures" / "README.md"

STARTS_PROCESSES = {
    "process.py",
    "inside/runs.py",
    "inside/keeper.py",  # runs in the user's process, where nothing else of ours can be imported
}
PRINTS = {"streams.py"}


def modules() -> Iterator[Path]:
    yield from sorted(PACKAGE.rglob("*.py"))


def parsed(module: Path) -> ast.Module:
    return ast.parse(module.read_bytes(), module)


def imported(module: Path) -> set[str]:
    names = set()
    for node in ast.walk(parsed(module)):
        match node:
            case ast.Import():
                names |= {alias.name for alias in node.names}
            case ast.ImportFrom(module=str(name), level=0):
                names.add(name)
            case _:
                pass
    return names


def called(module: Path) -> set[str]:
    """Name the functions that a module calls, as they are written."""
    calls = (node.func for node in ast.walk(parsed(module)) if isinstance(node, ast.Call))
    return {ast.unparse(function) for function in calls}


def those(names: set[str], by: dict[str, set[str]]) -> set[str]:
    return {module for module, has in by.items() if has & names}


def relative(module: Path) -> str:
    return module.relative_to(PACKAGE).as_posix()


def test_only_named_modules_start_processes() -> None:
    starters = those({"subprocess"}, {relative(module): imported(module) for module in modules()})

    assert starters == STARTS_PROCESSES


def test_only_named_modules_print() -> None:
    calls = {relative(module): called(module) for module in modules()}

    assert those({"print", "sys.stdout.write", "sys.stderr.write"}, calls) <= PRINTS


def test_nothing_is_mocked() -> None:
    users = [
        test
        for test in ROOT.joinpath("tests").rglob("*.py")
        if any(name.startswith("unittest.mock") for name in imported(test))
    ]

    assert users == []


def test_each_tree_has_its_line_in_the_list_of_fixtures() -> None:
    lines = FIXTURES.read_text(encoding="utf-8").splitlines()
    listed = [line.split("`")[1] for line in lines if line.startswith("| `")]

    assert listed == sorted(tree.name for tree in TREES.iterdir())


def test_what_went_wrong_for_others_is_held_by_tests_that_exist() -> None:
    rows = [
        cells.group(1).split(" | ")
        for line in FIXTURES.read_text(encoding="utf-8").splitlines()
        if (cells := re.fullmatch(r"\| ([^`|]+ \| `.+`) \|", line))
    ]
    named = [name for row in rows for cell in row[1:] for name in re.findall(r"`([^`]+)`", cell)]

    assert len(rows) > 50
    assert [row for row in rows if len(row) != 3] == []
    assert [name for name in named if not is_there(name)] == []


def is_there(name: str) -> bool:
    """Look for a fixture, a file of tests, or a test in it."""
    path, _, test = name.partition("::")
    file = ROOT / "tests" / path
    if not file.exists():
        return not test and (FIXTURES.parent / path).exists()
    return not test or f"\ndef {test}(" in file.read_text(encoding="utf-8")


@pytest.mark.parametrize("tree", sorted(TREES.iterdir()), ids=lambda tree: tree.name)
def test_tree_has_a_purpose_two_states_and_an_answer(tree: Path) -> None:
    purpose = tree.joinpath("README.md").read_text(encoding="utf-8").splitlines()

    assert 1 <= len(purpose) <= 3
    assert {"base", "head", "expected.toml"} <= {entry.name for entry in tree.iterdir()}
