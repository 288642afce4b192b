"""Locks: a claimed test that was edited, pointed elsewhere or unlocked is locked out."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from support.repo import Repo
from support.run import Ended, Invertgate, Place

PLAIN = "def price(amount):\n    return amount\n"
BRANCHES = """\
def price(amount):
    if amount > 10:
        return amount - 1
    return amount
"""
TESTS = """\
import pytest

from shop import price


def test_large(large):
    assert price(large) == 19


def test_small():
    assert price(5) == 5


def test_both():
    assert price(20) == 19
    assert price(5) == 5
"""
CONFTEST = """\
import pytest


@pytest.fixture
def large():
    return 20
"""
CONFIG = "[tool.invertgate]\nlocked = true\n"
FILES = {"shop.py": BRANCHES, "test_shop.py": TESTS, "conftest.py": CONFTEST}


def bound_first(tmp_path: Path, invertgate: Invertgate) -> Repo:
    """Build a base whose table was bound and locked ahead of the code; return it on a patch."""
    repo = Repo(tmp_path / "repo")
    repo.commit("tests", {**FILES, "shop.py": PLAIN, "pyproject.toml": CONFIG})
    repo.remote_branch("main")
    repo.branch("patch")
    repo.write({"shop.py": BRANCHES})
    ended = invertgate(Place(repo.path), "bind", "--lock", "--workers", "1")
    assert ended.exit_code == 0, str(ended)
    assert "2 rows are locked" in ended.said
    table = repo.path.joinpath("branch_rows.json").read_bytes()
    repo.write({"shop.py": PLAIN})
    repo.commit("bind the table first", {"branch_rows.json": table})
    repo.remote_branch("main")
    repo.write({"shop.py": BRANCHES})
    return repo


def rows_of(repo: Repo) -> list[dict[str, str]]:
    rows: list[dict[str, str]] = json.loads(repo.path.joinpath("branch_rows.json").read_bytes())
    return rows


def judged(repo: Repo, invertgate: Invertgate, *args: str) -> tuple[Ended, dict[str, str]]:
    ended = invertgate(Place(repo.path), "run", "--workers", "1", *args)
    told = {row.side or "": f"{row.verdict}: {row.reason}" for row in ended.report.rows}
    return ended, told


def test_a_locked_test_may_be_formatted_and_not_edited(
    tmp_path: Path, invertgate: Invertgate
) -> None:
    repo = bound_first(tmp_path, invertgate)
    tests = {row["side"]: row["test"] for row in rows_of(repo)}
    name = tests["true"].partition("::")[2]
    formatted = TESTS.replace(f"def {name}(", f"# a word\n\ndef {name}(")
    repo.write({"test_shop.py": formatted})

    untouched, _ = judged(repo, invertgate)
    repo.write({"test_shop.py": formatted.replace("== 19", "> 0")})
    edited, told = judged(repo, invertgate)
    unasked, _ = judged(repo, invertgate, "--no-locked", "--list")

    assert untouched.exit_code == 0, str(untouched)
    assert edited.exit_code == 1, str(edited)
    assert told["true"] == ("locked_out: the claimed test changed since it was locked: its body")
    assert unasked.exit_code == 0


def emptied(repo: Repo) -> Mapping[str, str]:
    claims = "".join(f'@pytest.mark.branch("{row["id"]}")\n' for row in rows_of(repo))
    return {
        "branch_rows.json": "[]\n",
        "test_shop.py": TESTS.replace("def test_both", f"{claims}def test_both"),
    }


def pointed_elsewhere(repo: Repo) -> Mapping[str, str]:
    others = {"true": "test_shop.py::test_both", "false": "test_shop.py::test_other"}
    rows = [{**row, "test": others[row["side"]]} for row in rows_of(repo)]
    return {"branch_rows.json": json.dumps(rows)}


def unlocked(repo: Repo) -> Mapping[str, str]:
    rows = [{key: row[key] for key in row if key != "lock"} for row in rows_of(repo)]
    return {"branch_rows.json": json.dumps(rows)}


@pytest.mark.parametrize(
    ("tampered", "reason"),
    [
        (emptied, "the patch takes its test away"),
        (pointed_elsewhere, "the patch points it at test_shop.py::test_"),
        (unlocked, "the patch unlocks a row that the merge base's table has locked"),
    ],
    ids=lambda case: getattr(case, "__name__", ""),
)
def test_a_row_of_the_merge_base_is_not_pointed_elsewhere_or_unlocked(
    tmp_path: Path, invertgate: Invertgate, tampered: object, reason: str
) -> None:
    repo = bound_first(tmp_path, invertgate)
    assert callable(tampered)
    repo.write({**tampered(repo), "pyproject.toml": "[tool.invertgate]\nlocked = false\n"})

    ended, told = judged(repo, invertgate)

    assert ended.exit_code == 1, str(ended)
    assert all(text.startswith("locked_out: ") and reason in text for text in told.values()), told
    assert "`locked` was switched off by this patch" in ended.said
