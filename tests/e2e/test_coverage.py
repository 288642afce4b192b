"""What coverage data save, and what they must never decide."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from support.repo import two_commits
from support.run import Ended, Invertgate, Place

SHOP = """\
def price(n):
    if n > 100:
        return 2
    return n
"""
TEST_SHOP = """\
from shop import price


def test_cheap():
    assert price(5) == 5
"""
TEST_BOTH_SIDES = """\
from shop import price


def test_cheap():
    assert price(5) == 5


def test_dear():
    assert price(500) == 2


def test_elsewhere():
    with open({ran!r}, "a") as ran:
        ran.write("once ")
"""
CHILD = """\
import sys


def main(words):
    if len(words) > 1:
        return "words"
    return "none"


if __name__ == "__main__":
    print(main(sys.argv))
"""
TEST_CHILD = """\
import subprocess
import sys

import shop


def test_child():
    child = [sys.executable, "-m", "shop", "a word"]
    assert subprocess.check_output(child, text=True) == "words\\n"


def test_none():
    assert shop.main(["shop"]) == "none"
"""
CHEAP = "test_shop.py::test_cheap"
DEAR = "test_shop.py::test_dear"


def project(top: Path, shop: str, tests: str, **more: str) -> Place:
    ignored = {".gitignore": "invertgate.out/\n.coverage\n__pycache__/\n.pytest_cache/\n"}
    base = {"readme.md": "# Shop\n"}
    two_commits(top, base, {"shop.py": shop, "test_shop.py": tests, **ignored, **more})
    return Place(top)


def claim(invertgate: Invertgate, place: Place, tests: Mapping[str, str]) -> None:
    """Write a table in which the rows of each side are claimed by a test."""
    invertgate(place, "table", "--write")
    table = place.top / "branch_rows.json"
    rows = json.loads(table.read_bytes())
    table.write_text(json.dumps([{**row, "test": tests.get(row["side"])} for row in rows]))


def measure(place: Place, *arguments: str) -> None:
    """Run the project's suite under coverage as its author would."""
    what = ("--cov=.", "--cov-branch", "--cov-context=test", "-p", "no:cacheprovider", *arguments)
    subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *what],
        cwd=place.top,
        env={**place.environment("coverage"), "PYTHONDONTWRITEBYTECODE": "1"},
        check=True,
        capture_output=True,
    )


def rows(run: Ended) -> dict[str, tuple[str, str, int]]:
    """Return verdict, reason and number of runs of each side."""
    report = json.loads(Path(run.top, "invertgate.out", "report.json").read_bytes())
    return {
        row["side"]: (row["verdict"], row["reason"], len(row["runs"])) for row in report["rows"]
    }


def both_sides_claimed_by_one(invertgate: Invertgate, top: Path) -> Place:
    place = project(top, SHOP, TEST_SHOP)
    claim(invertgate, place, {"true": CHEAP, "false": CHEAP})
    return place


def both_sides_tested(folder: Path) -> Place:
    """Build a project with one test more, which leaves a word outside whenever it is run."""
    return project(folder / "repo", SHOP, TEST_BOTH_SIDES.format(ran=str(folder / "ran")))


def bound(place: Place) -> dict[str, str | None]:
    """Return the test of each side, by the table."""
    table = json.loads((place.top / "branch_rows.json").read_bytes())
    return {row["side"]: row["test"] for row in table}


def test_row_whose_lines_no_test_ran_is_unreached_without_a_run(
    tmp_path: Path, invertgate: Invertgate
) -> None:
    place = both_sides_claimed_by_one(invertgate, tmp_path / "repo")

    run = invertgate(place, "run", "--coverage", "measure", "--workers", "2")

    found = rows(run)
    reason = "no test ran line 3, says the coverage measured on the claimed tests"
    assert found["true"] == ("unreached", f"{reason}; no experiment was made", 0), str(run)
    assert found["false"][0] == "bound"


def test_data_that_lie_there_spare_experiments_if_asked(
    tmp_path: Path, invertgate: Invertgate
) -> None:
    place = both_sides_claimed_by_one(invertgate, tmp_path / "repo")
    measure(place)

    asked = rows(invertgate(place, "run", "--coverage", ".coverage"))
    not_asked = rows(invertgate(place, "run"))

    reason = "no test ran line 3, says the coverage data in .coverage; no experiment was made"
    assert asked["true"] == ("unreached", reason, 0)
    assert not_asked["true"][:2] == ("unreached", "the test never takes this outcome")
    assert not_asked["true"][2] > 0


def test_row_that_only_a_child_process_runs_is_not_pruned_by_measuring(
    tmp_path: Path, invertgate: Invertgate
) -> None:
    place = project(tmp_path / "repo", CHILD, TEST_CHILD)
    tests = {"true": "test_shop.py::test_child", "false": "test_shop.py::test_none"}
    claim(invertgate, place, tests)

    run = invertgate(place, "run", "--coverage", "measure")

    assert [row.verdict for row in run.report.rows if row.scope] == ["bound", "bound"], str(run)


def test_row_that_only_a_child_process_runs_is_not_pruned_by_data(
    tmp_path: Path, invertgate: Invertgate
) -> None:
    place = project(tmp_path / "repo", CHILD, TEST_CHILD)
    tests = {"true": "test_shop.py::test_child", "false": "test_shop.py::test_none"}
    claim(invertgate, place, tests)
    measure(place)

    run = invertgate(place, "run", "--coverage", ".coverage")

    assert [row.verdict for row in run.report.rows if row.scope] == ["bound", "bound"], str(run)
    assert "mention 'subprocess'" in run.said


@pytest.mark.parametrize("changed", ["shop.py", "test_shop.py"])
def test_stale_data_are_refused_with_a_word(
    changed: str, tmp_path: Path, invertgate: Invertgate
) -> None:
    place = both_sides_claimed_by_one(invertgate, tmp_path / "repo")
    measure(place)
    later = (place.top / ".coverage").stat().st_mtime_ns + 1_000_000_000
    os.utime(place.top / changed, ns=(later, later))

    run = invertgate(place, "run", "--coverage", ".coverage")

    assert rows(run)["true"][:2] == ("unreached", "the test never takes this outcome"), str(run)
    told = f"the coverage data in .coverage is not used: {changed} was written after it"
    assert told in " ".join(run.stdout.split())


def test_data_of_moved_lines_are_refused_with_a_word(
    tmp_path: Path, invertgate: Invertgate
) -> None:
    place = both_sides_claimed_by_one(invertgate, tmp_path / "repo")
    measure(place)
    before = (place.top / "shop.py").stat()
    (place.top / "shop.py").write_text("import os\n\n\n" + SHOP)
    os.utime(place.top / "shop.py", ns=(before.st_atime_ns, before.st_mtime_ns))

    run = invertgate(place, "run", "--coverage", ".coverage")

    assert rows(run)["true"][:2] == ("unreached", "the test never takes this outcome"), str(run)
    assert "is not used for shop.py" in " ".join(run.stdout.split())


def test_data_without_the_claimed_test_spare_nothing(
    tmp_path: Path, invertgate: Invertgate
) -> None:
    place = both_sides_tested(tmp_path)
    claim(invertgate, place, {"true": DEAR, "false": CHEAP})
    measure(place, "-k", "cheap")

    run = invertgate(place, "run", "--coverage", ".coverage")

    assert run.report.counts["bound"] == 2, str(run)


def test_claim_that_is_red_stays_red_when_coverage_is_measured(
    tmp_path: Path, invertgate: Invertgate
) -> None:
    place = project(tmp_path / "repo", SHOP, TEST_SHOP.replace("== 5", "== 6"))
    claim(invertgate, place, {"true": CHEAP, "false": CHEAP})

    run = invertgate(place, "run", "--coverage", "measure")

    assert [verdict for verdict, *_ in rows(run).values()] == ["red", "red"], str(run)


def test_external_claim_is_not_run_when_coverage_is_measured(
    tmp_path: Path, invertgate: Invertgate
) -> None:
    marked = TEST_SHOP.replace(
        "def test_cheap():\n",
        "@pytest.mark.external\ndef test_cheap():\n    open(__file__ + '.ran', 'w').close()\n",
    )
    place = project(tmp_path / "repo", SHOP, "import pytest\n" + marked)
    claim(invertgate, place, {"true": CHEAP, "false": CHEAP})

    run = invertgate(place, "run", "--coverage", "measure")

    assert [verdict for verdict, *_ in rows(run).values()] == ["external", "external"], str(run)


def test_file_that_is_not_there_is_a_usage_error(tmp_path: Path, invertgate: Invertgate) -> None:
    place = both_sides_claimed_by_one(invertgate, tmp_path / "repo")

    run = invertgate(place, "run", "--coverage", "no/such/file")

    assert run.exit_code == 2, str(run)
    assert "no such file" in run.stderr


def test_bind_tries_what_contexts_name_and_needs_no_search(
    tmp_path: Path, invertgate: Invertgate
) -> None:
    place = both_sides_tested(tmp_path)
    measure(place)
    (tmp_path / "ran").unlink()

    run = invertgate(place, "bind")

    assert bound(place) == {"true": DEAR, "false": CHEAP}, str(run)
    assert not (tmp_path / "ran").exists()


def test_bind_searches_for_what_contexts_do_not_bind(
    tmp_path: Path, invertgate: Invertgate
) -> None:
    place = both_sides_tested(tmp_path)
    measure(place, "-k", "cheap")

    run = invertgate(place, "bind")

    assert bound(place) == {"true": DEAR, "false": CHEAP}, str(run)
    assert (tmp_path / "ran").read_text() == "once "


def test_bind_takes_its_first_candidates_from_a_measured_suite(
    tmp_path: Path, invertgate: Invertgate
) -> None:
    place = both_sides_tested(tmp_path)

    run = invertgate(place, "bind", "--coverage", "measure")

    assert bound(place) == {"true": DEAR, "false": CHEAP}, str(run)
    assert (tmp_path / "ran").read_text() == "once "
    assert not (place.top / ".coverage").exists()
