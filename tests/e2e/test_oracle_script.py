import json
import subprocess
import sys
from pathlib import Path

from support.repo import Repo

ORACLE = Path(__file__).parents[2] / "scripts" / "oracle.py"
TEST = "tests/test_shop.py::test_large_order"
PROJECT: dict[str, str | bytes] = {
    "pytest.ini": "[pytest]\npythonpath = src\n",
    "src/shop.py": "def price(n):\n    if n > 100:\n        return n - 10\n    return n\n",
    "tests/test_shop.py": (
        "from shop import price\n\n\n"
        "def test_large_order():\n    assert price(200) == 190\n\n\n"
        "def test_nothing():\n    price(200)\n"
    ),
}


def row(side: str, test: str, verdict: str) -> dict[str, object]:
    place = {"path": "src/shop.py", "kind": "if", "line": 2, "predicate": "n > 100"}
    return {**place, "side": side, "test": test, "verdict": verdict}


def ask(tmp_path: Path, rows: list[dict[str, object]]) -> subprocess.CompletedProcess[str]:
    """Let the script judge rows of a small project."""
    repo = Repo(tmp_path / "repo")
    repo.commit("base", PROJECT)
    pairs = tmp_path / "pairs.json"
    pairs.write_text(json.dumps(rows), "utf-8")
    return subprocess.run(
        [sys.executable, ORACLE, repo.path, "--pairs", pairs],
        capture_output=True,
        text=True,
        check=False,
    )


def test_oracle_agrees_with_verdicts_that_are_true(tmp_path: Path) -> None:
    ended = ask(
        tmp_path,
        [
            row("true", TEST, "bound"),
            row("true", "tests/test_shop.py::test_nothing", "weak"),
            row("false", TEST, "unreached"),
        ],
    )

    assert ended.stdout.startswith("oracle: 3 rows judged (1 bound, 1 unreached, 1 weak), 0 dis")
    assert ended.returncode == 0


def test_oracle_shows_both_runs_of_a_verdict_that_is_false(tmp_path: Path) -> None:
    ended = ask(tmp_path, [row("true", TEST, "weak")])

    assert ended.returncode == 1
    assert "the gate says weak" in ended.stdout
    assert "the oracle says bound" in ended.stdout
    assert "control: passed" in ended.stdout
    assert "inverted: failed" in ended.stdout
    assert "assert 200 == 190" in ended.stdout
