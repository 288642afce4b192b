import os
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest
from coverage import CoverageData

from invertgate.evidence.coverage import (
    Measured,
    UnusableError,
    fitting,
    misfit,
    newer,
    patches,
    read,
    unseen,
)
from invertgate.model import Kind, Outcome, Side, Span

SHOP = b"""\
import sys


def price(n):
    if n > 100:
        return 2
    if n < 0: n = 0
    return n
"""
TEST = "test_shop.py::test_price"


def outcome(body: tuple[int, int], path: str = "shop.py") -> Outcome:
    where = Span(1, 0, 1, 1)
    return Outcome(path, "0" * 12, Kind.IF, "n", Side.TRUE, "price", 5, where, body)


def data_file(
    folder: Path, lines: Mapping[str, Iterable[int]], context: str = f"{TEST}|run"
) -> Path:
    file = folder / ".coverage"
    data = CoverageData(basename=str(file))
    data.set_context(context)
    data.add_lines({path: set(run) for path, run in lines.items()})
    data.touch_files([path for path, run in lines.items() if not run])
    data.write()
    data.close(force=True)
    return file


def measured(folder: Path, run: Iterable[int], source: bytes = SHOP) -> Measured:
    found = read("the data", [data_file(folder, {"shop.py": run})], lambda path: path)
    return fitting(found, {"shop.py": source})[0]


@pytest.mark.parametrize(
    ("body", "expected"),
    [((6, 6), True), ((7, 7), False), ((5, 6), False), ((5, 5), False)],
    ids=["not_run", "on_the_decisions_line", "partly_run", "decision_alone"],
)
def test_body_is_unrun_only_if_none_of_its_lines_was_run(
    body: tuple[int, int], expected: bool, tmp_path: Path
) -> None:
    found = measured(tmp_path, (1, 4, 5, 7, 8))

    assert found.unrun(outcome(body)) is expected


def test_file_that_was_not_measured_is_unknown(tmp_path: Path) -> None:
    found = measured(tmp_path, (1, 4, 5, 7, 8))

    assert not found.unrun(outcome((6, 6), "other.py"))


def test_file_of_which_nothing_was_run_is_unknown(tmp_path: Path) -> None:
    found = measured(tmp_path, ())

    assert not found.unrun(outcome((6, 6)))


def test_body_without_code_is_unknown(tmp_path: Path) -> None:
    source = b"def f(n):\n    if n:\n        n: int\n    return n\n"

    found = measured(tmp_path, (1, 2, 4), source)

    assert not found.unrun(outcome((3, 3)))


@pytest.mark.parametrize(
    ("context", "test"),
    [
        (f"{TEST}|run", TEST),
        (f"{TEST}|setup", TEST),
        (TEST, TEST),
        ("test_shop.py::test_price[a|b]|run", "test_shop.py::test_price[a|b]"),
        ("test_shop.py::test_price[a|b]", "test_shop.py::test_price[a|b]"),
        ("test_shop.test_price", None),
        ("", None),
    ],
)
def test_context_names_a_test_if_it_holds_a_nodeid(
    context: str, test: str | None, tmp_path: Path
) -> None:
    file = data_file(tmp_path, {"shop.py": (1, 4)}, context)

    found = read("the data", [file], lambda path: path)

    assert found.tests == ({test} if test else set())


def test_tests_on_an_outcome_are_those_that_ran_its_lines(tmp_path: Path) -> None:
    found = measured(tmp_path, (1, 4, 5, 6))

    assert found.tests_on(outcome((6, 6))) == {TEST}
    assert found.tests_on(outcome((8, 8))) == set()


def test_files_of_data_are_joined(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    one = data_file(tmp_path / "a", {"/0/shop.py": (1, 4)}, "t.py::a")
    other = data_file(tmp_path / "b", {"/1/shop.py": (1, 4, 5)}, "t.py::b")

    found = read("the data", [one, other], os.path.basename)

    both = frozenset(("t.py::a", "t.py::b"))
    assert found.lines == {"shop.py": {1: both, 4: both, 5: frozenset(("t.py::b",))}}


def test_data_of_the_source_fit() -> None:
    assert misfit(SHOP, (1, 4, 5, 7, 8)) == ""


@pytest.mark.parametrize(
    ("source", "run", "reason"),
    [
        (b"\n" + SHOP, (1, 4, 5, 7, 8), "line 1 was run, and none of its statements"),
        (SHOP, (1, 4, 9), "line 9 was run"),
        (SHOP, (4, 5), "line 1 runs whenever it is imported, and was not run"),
        (b"def f(:\n", (1,), "it cannot be compiled"),
    ],
    ids=["moved", "beyond_the_end", "import_not_seen", "no_python"],
)
def test_data_of_another_source_do_not_fit(
    source: bytes, run: tuple[int, ...], reason: str
) -> None:
    assert misfit(source, run).startswith(reason)


def test_data_that_do_not_fit_are_refused_with_a_word(tmp_path: Path) -> None:
    file = data_file(tmp_path, {"shop.py": (1, 4, 5)})

    found, notes = fitting(read("the data", [file], lambda path: path), {"shop.py": b"\n\n" + SHOP})

    assert not found.unrun(outcome((6, 6)))
    assert found.tests_on(outcome((5, 5))) == set()
    assert notes == (
        "the data is not used for shop.py: line 1 was run, and none of its statements is there now",
    )


def test_file_that_is_no_coverage_data_is_refused_and_not_written(tmp_path: Path) -> None:
    file = tmp_path / ".coverage"
    file.write_text("no database")

    with pytest.raises(UnusableError, match="cannot be read"):
        read("the data", [file], lambda path: path)

    assert file.read_text() == "no database"


def test_empty_file_is_not_written(tmp_path: Path) -> None:
    file = tmp_path / ".coverage"
    file.touch()

    found = read("the data", [file], lambda path: path)

    assert not found.tests
    assert not found.lines
    assert file.read_bytes() == b""


def test_file_written_after_the_data_is_named(tmp_path: Path) -> None:
    data = tmp_path / ".coverage"
    for number, name in enumerate(("old.py", ".coverage", "new.py")):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, ns=(0, number))

    assert newer(data, tmp_path, ["old.py", "gone.py", "new.py"]) == "new.py"
    assert newer(data, tmp_path, ["old.py", "gone.py"]) == ""


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (".coveragerc", "[run]\npatch = subprocess, fork\n"),
        ("setup.cfg", "[coverage:run]\npatch = subprocess, fork\n"),
        ("pyproject.toml", '[tool.coverage.run]\npatch = ["subprocess", "fork"]\n'),
    ],
)
def test_patches_are_read_where_coverage_reads_them(
    name: str, content: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(content)

    assert patches([tmp_path]) == {"subprocess", "fork"}


def test_patches_of_a_project_without_settings_are_none(tmp_path: Path) -> None:
    (tmp_path / ".coveragerc").write_text("[run]\nno_such_option = 1\n")

    assert patches([tmp_path]) == set()


@pytest.mark.parametrize(
    ("word", "patched", "expected"),
    [
        ("subprocess", (), True),
        ("subprocess", ("subprocess",), False),
        ("multiprocessing", ("subprocess",), True),
        ("multiprocessing", ("subprocess", "fork", "_exit"), False),
        ("settrace", ("subprocess", "fork", "_exit", "execv"), True),
    ],
)
def test_child_processes_are_unseen_unless_coverage_is_patched_into_them(
    word: str, patched: tuple[str, ...], expected: bool
) -> None:
    assert unseen(word, frozenset(patched)) is expected
