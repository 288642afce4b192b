import ast
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from textwrap import indent

import pytest

from invertgate.errors import ExitCode, UsageError
from invertgate.inside.vary import vary
from invertgate.model import ChangedFile, Outcome
from invertgate.nightly.depth import (
    INTERFACE,
    PINNED,
    Chosen,
    NotReadError,
    operators,
    variants,
)
from invertgate.outcomes.identity import new_outcomes


def rows_of(source: bytes) -> tuple[Outcome, ...]:
    return new_outcomes([ChangedFile("a.py", None, None, source, frozenset())], ()).outcomes


def chosen(source: str, most: int = 100, *, rows: Sequence[int] | None = None) -> list[Chosen]:
    """Return what is chosen for each row that has any, or of some rows by their number."""
    content = source.encode()
    outcomes = rows_of(content)
    wanted = [one.key for number, one in enumerate(outcomes) if rows is None or number in rows]
    found = variants(content, outcomes, wanted, most, operators())
    return [found[one.key] for one in outcomes if one.key in found]


def changes(source: str, most: int = 100) -> list[str]:
    return [
        f"{each.before} → {each.after}" for one in chosen(source, most) for each in one.variants
    ]


def body(statement: str) -> str:
    return f"def f(a, b):\n    if a:\n        {statement}\n    return b\n"


def test_the_installed_mutmut_keeps_its_operators_where_it_did() -> None:
    assert len(operators()) >= 10


@pytest.fixture
def other_mutmut(tmp_path: Path) -> Iterator[Path]:
    """Lend a file that is imported in place of mutmut's module of operators."""
    known = {name: module for name, module in sys.modules.items() if name.startswith("mutmut")}
    for name in known:
        del sys.modules[name]
    folder = tmp_path / "mutmut" / "mutation"
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").touch()
    (folder / "__init__.py").touch()
    sys.path.insert(0, str(tmp_path))
    yield folder / "mutators.py"
    sys.path.remove(str(tmp_path))
    for name in [name for name in sys.modules if name.startswith("mutmut")]:
        del sys.modules[name]
    sys.modules.update(known)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(None, id="no module"),
        pytest.param("", id="no operators"),
        pytest.param("mutation_operators = 3", id="no list"),
        pytest.param("mutation_operators = {'number': 1}", id="a mapping"),
        pytest.param("mutation_operators = [(object, lambda node, config: [])]", id="other calls"),
        pytest.param("mutation_operators = [(int, lambda node: [])]", id="of no node"),
    ],
)
def test_a_mutmut_that_moves_its_operators_ends_as_usage_and_names_the_cure(
    other_mutmut: Path, content: str | None
) -> None:
    if content is not None:
        other_mutmut.write_text(content)

    with pytest.raises(UsageError) as raised:
        operators()

    assert raised.value.exit_code is ExitCode.USAGE
    assert "keeps the operators that --deep uses elsewhere" in str(raised.value)
    assert f"pip install '{PINNED}'" in str(raised.value)


def test_the_interface_is_imported_by_nothing_else() -> None:
    package = Path(__file__).parents[3] / "invertgate"

    callers = [path.name for path in package.rglob("*.py") if "import mutmut" in path.read_text()]

    assert callers == []  # only by the name in depth.py
    assert INTERFACE[0].startswith("mutmut.")


def test_predicate_and_body_of_a_row_are_changed() -> None:
    source = "def f(a):\n    if a < 1:\n        a += 2\n    return a + 3\n"

    assert changes(source) == [
        "< 1 → <= 1",
        "1 → 2",
        "a += 2 → a = 2",
        "a += 2 → a -= 2",
        "2 → 3",
    ]


def test_rows_that_nobody_asks_about_are_not_changed() -> None:
    source = "def f(a):\n    if a < 1:\n        a += 2\n    elif a > 5:\n        a -= 3\n"
    outcomes = rows_of(source.encode())
    second = [number for number, one in enumerate(outcomes) if one.line == 4][:1]

    [only] = chosen(source, rows=second)

    assert {each.line for each in only.variants} == {4, 5}


def test_the_most_that_is_asked_for_takes_predicates_first_and_texts_last() -> None:
    source = 'def f(a):\n    if a < 1:\n        x = "b"\n        y = a * 2\n        return x + y\n'

    [row] = chosen(source, 4)

    assert [(each.before, each.after) for each in row.variants] == [
        ("< 1", "<= 1"),
        ("1", "2"),
        ('x = "b"', "x = None"),
        ("y = a * 2", "y = None"),
    ]
    assert row.left_out == 5


def test_places_count_bytes_of_utf8() -> None:
    [row] = chosen('def f(é):\n    if é: ä = "ö"; ü = é + 1\n')

    plus = next(each for each in row.variants if each.before == "é + 1")
    assert plus.statement == (2, len('    if é: ä = "ö"; '.encode()))
    assert plus.text == "ü = é - 1"


@pytest.mark.parametrize(
    "statement",
    [
        pytest.param('"""Says what it does."""', id="docstring"),
        pytest.param("from copy import deepcopy", id="import"),
        pytest.param("return len(b)", id="len"),
        pytest.param("c = yield", id="a generator that would be none"),
        pytest.param("print((c := b))", id="a name that would not be bound"),
        pytest.param("match b:\n            case 1:\n                pass", id="a case"),
    ],
)
def test_what_no_change_is_asked_of(statement: str) -> None:
    changed = [each for row in chosen(body(statement)) for each in row.variants]

    assert not changed


def test_no_return_is_put_where_there_is_no_function() -> None:
    source = "for a in b:\n    if a:\n        break\n"

    assert changes(source) == []
    assert changes("def f(b):\n" + indent(source, "    ")) == ["break → return"]


def test_long_changes_show_where_they_differ() -> None:
    long = " + ".join(f"name_{number}" for number in range(20))

    [first, *_] = changes(body(f"return {long} - 1"))

    assert len(first) < 140
    assert "…" in first


def test_every_variant_can_be_woven() -> None:
    source = Path(__file__).parents[3] / "invertgate" / "experiment" / "judge.py"
    content = source.read_bytes()
    outcomes = rows_of(content)

    found = variants(content, outcomes, [one.key for one in outcomes], 50, operators())

    versions = [
        (*each.statement, each.part, number, each.text)
        for number, each in enumerate(each for one in found.values() for each in one.variants)
    ]
    tree = ast.parse(content)
    vary(tree, versions)
    compile(tree, "judge.py", "exec")
    assert len(versions) > 50


def test_a_file_that_libcst_cannot_read_is_told_of() -> None:
    source = b"# -*- coding: latin-1 -*-\ndef f(a):\n    if a: return '\xe9' + 1\n"
    outcomes = rows_of(source)

    assert variants(source, outcomes, [one.key for one in outcomes], 5, operators())
    with pytest.raises((NotReadError, SyntaxError)):
        variants(b"if a: b = 1\n\x0c = 2", outcomes, [], 5, operators())
