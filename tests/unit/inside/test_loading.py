from collections.abc import Generator
from pathlib import Path
from types import ModuleType

import pytest

from invertgate.inside.loading import Loading, note_bare_modules
from invertgate.inside.settings import Boot, read_boot, write_boot
from invertgate.inside.switch import SWITCH, Board


@pytest.fixture
def boot(tmp_path: Path) -> Boot:
    for number in ("0", "1"):
        (tmp_path / "scratch" / number / "project" / "src").mkdir(parents=True)
        (tmp_path / "scratch" / number / "project" / "src" / "a.py").touch()
    (tmp_path / "mine" / "project" / ".venv").mkdir(parents=True)
    scratch = tmp_path / "scratch"
    told = {
        "original": str(tmp_path / "mine" / "project"),
        "name": "project",
        "kept_out": [str(tmp_path / "mine" / "project" / ".venv")],
        "files": [(0, "src/a.py", "sha", [("if", 1, 3, 0)])],
        "slots": 2,
    }
    write_boot(str(scratch), told)
    return read_boot(str(scratch))


def test_paths_of_the_original_lead_into_the_own_tree(boot: Boot) -> None:
    loading = Loading(boot, 1)

    assert loading.rebase(f"{boot.original}/src") == f"{boot.tree(1)}/src"
    assert loading.rebase(boot.original) == boot.tree(1)


def test_paths_of_another_workers_tree_do_too(boot: Boot) -> None:
    assert Loading(boot, 1).rebase(f"{boot.tree(0)}/src/a.py") == f"{boot.tree(1)}/src/a.py"


@pytest.mark.parametrize("path", ["/usr/lib/python3", "relative"])
def test_other_paths_stay(boot: Boot, path: str) -> None:
    assert Loading(boot, 1).rebase(path) == path


def test_environments_in_the_original_stay_where_they_are(boot: Boot) -> None:
    path = f"{boot.original}/.venv/lib/python3.11/site-packages"

    assert Loading(boot, 1).rebase(path) == path


def test_what_the_tree_does_not_have_stays_where_it_is(boot: Boot) -> None:
    assert Loading(boot, 1).rebase(f"{boot.original}/gone") == f"{boot.original}/gone"


def test_files_with_rows_are_known_by_their_place_in_the_own_tree(boot: Boot) -> None:
    loading = Loading(boot, 1)

    assert loading.woven_file(f"{boot.tree(1)}/src/a.py") is not None
    assert loading.woven_file(f"{boot.tree(0)}/src/a.py") is None
    assert loading.woven_file("/elsewhere/a.py") is None


def test_byte_code_of_the_tree_is_kept_beside_it_and_other_where_it_was(boot: Boot) -> None:
    loading = Loading(boot, 1)
    cached = "src/__pycache__/a.cpython-311.pyc"

    kept = loading.bytecode(f"{boot.tree(1)}/src/a.py", f"{boot.tree(1)}/{cached}")

    assert kept == f"{boot.bytecode(1)}/src/a.cpython-311.pyc"
    assert loading.bytecode("/usr/lib/a.py", "/usr/lib/__pycache__/a.pyc") == (
        "/usr/lib/__pycache__/a.pyc"
    )


@pytest.fixture
def board(tmp_path: Path) -> Generator[Board]:
    before = SWITCH.board
    SWITCH.board = Board(str(tmp_path / "board"), 1, 2)
    yield SWITCH.board
    SWITCH.board = before


@pytest.mark.parametrize(
    ("name", "is_bare"),
    [
        pytest.param("src/a.py", True, id="its source, by another way"),
        pytest.param("src/a.cpython-311-x86_64-linux-gnu.so", True, id="an extension module"),
        pytest.param("src/a.pyc", True, id="byte code alone"),
        pytest.param("src/b.so", False, id="another module"),
        pytest.param("a.so", False, id="a module of this name elsewhere"),
    ],
)
def test_module_that_hides_a_file_with_rows_is_noted(
    name: str, is_bare: bool, boot: Boot, board: Board
) -> None:
    module = ModuleType("a")
    module.__file__ = f"{boot.tree(0)}/{name}"

    note_bare_modules(Loading(boot, 0), [module])

    assert board.all_bare() == ([0] if is_bare else [])
