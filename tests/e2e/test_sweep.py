"""A sweep takes over what it said the night before, and judges again whatever may have changed."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import msgspec
import pytest

from support.repo import two_commits
from support.run import Ended, Place, run

pytestmark = pytest.mark.slow

PAYING = """\
def pay(n):
    if n:
        return n
    return -1
"""
OWING = PAYING.replace("pay", "owe")
FILES = {
    "paying.py": PAYING,
    "owing.py": OWING,
    "helper.py": "from pathlib import Path\n\nimport rates\n\n\ndef expected():\n"
    "    return int(Path(__file__).with_name('data.txt').read_text()) * rates.RATE\n",
    "data.txt": "7",
    "paid/conftest.py": "import pytest\n\n\n@pytest.fixture\ndef amount():\n    return 7\n",
    "paid/test_paying.py": "from helper import expected\nfrom paying import pay\n\n\n"
    "def test_pay(amount):\n    assert pay(amount) == expected()\n    assert pay(0) == -1\n",
    "test_owing.py": "from owing import owe\n\n\n"
    "def test_owe():\n    assert owe(3) == 3\n    assert owe(0) == -1\n",
    "pyproject.toml": "[tool.pytest.ini_options]\npythonpath = ['.']\n",
}
ALL = ("sweep", "--all", "--workers", "1")
PAID, OWED = ("paying.py", "true"), ("owing.py", "true")


class Row(msgspec.Struct):
    path: str
    side: str
    verdict: str | None
    cached_since: str
    runs: list[object]


class Report(msgspec.Struct):
    complete: bool
    undecided: int
    error: str
    rows: list[Row]


def rows(place: Place) -> dict[tuple[str, str], Row]:
    return {(row.path, row.side): row for row in report(place).rows}


def report(place: Place) -> Report:
    content = Path(place.top, "invertgate.out", "report.json").read_bytes()
    return msgspec.json.decode(content, type=Report)


def sweep(place: Place, *more: str) -> Ended:
    return run(place, *ALL, *more)


def dependency(place: Place) -> Path:
    return place.top.parent / "installed" / "rates.py"


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Build a project with a dependency, and sweep it once."""
    folder = tmp_path_factory.mktemp("sweep")
    two_commits(folder / "repo", {"readme.md": "# Shop\n"}, FILES)
    installed = folder / "installed"
    installed.mkdir()
    # a mark that is another one in every run would be a variable that has changed
    place = Place(folder / "repo", variables={"PYTHONPATH": str(installed)}, mark=uuid4().hex)
    dependency(place).write_text("RATE = 1\n")
    first = sweep(place)
    assert first.exit_code == 0, first
    return place


def edit(name: str, old: str, new: str) -> Callable[[Place], Path]:
    def change(place: Place) -> Path:
        path = dependency(place) if name == "rates.py" else place.top / name
        path.write_text(path.read_text().replace(old, new))
        return path

    return change


@pytest.fixture
def changed(swept: Place, request: pytest.FixtureRequest) -> Iterator[Place]:
    """Change a file for one sweep."""
    path = request.param(swept)
    before = path.read_text()
    yield swept
    for name, content in {**FILES, "rates.py": "RATE = 1\n"}.items():
        if path.name == Path(name).name:
            path.write_text(content)
    assert path.read_text() != before


def test_the_second_night_runs_nothing(swept: Place) -> None:
    again = sweep(swept)

    assert again.exit_code == 0, again
    assert all(row.verdict == "bound" for row in rows(swept).values())
    assert all(row.cached_since for row in rows(swept).values())


def test_without_the_cache_everything_is_judged_again(swept: Place) -> None:
    again = sweep(swept, "--no-cache")

    assert again.exit_code == 0, again
    assert not any(row.cached_since for row in rows(swept).values())


@pytest.mark.parametrize(
    ("changed", "verdict"),
    [
        pytest.param(
            edit(
                "paid/test_paying.py", "    assert pay(amount) == expected()\n", "    pay(amount)\n"
            ),
            "weak",
            id="an assert",
        ),
        pytest.param(edit("paid/conftest.py", "return 7", "return 0"), "unreached", id="conftest"),
        pytest.param(
            edit("helper.py", "* rates.RATE", "* rates.RATE * 2"), "unreached", id="helper"
        ),
        pytest.param(edit("data.txt", "7", "8"), "unreached", id="a data file"),
        pytest.param(edit("rates.py", "1", "3"), "unreached", id="a dependency"),
    ],
    indirect=["changed"],
)
def test_what_hangs_on_a_changed_file_is_judged_again(changed: Place, verdict: str) -> None:
    sweep(changed)

    assert (rows(changed)[PAID].verdict, rows(changed)[PAID].cached_since) == (verdict, "")
    assert rows(changed)[OWED].verdict == "bound"


def test_what_does_not_hang_on_it_is_taken_over(swept: Place) -> None:
    path = edit("data.txt", "7", "9")(swept)

    sweep(swept)

    path.write_text(FILES["data.txt"])
    assert rows(swept)[OWED].cached_since
    assert not rows(swept)[PAID].cached_since


def test_torn_files_of_the_cache_are_as_good_as_none(swept: Place) -> None:
    for path in (swept.top / "invertgate.out" / "cache").rglob("*.json"):
        path.write_bytes(path.read_bytes()[:-9])

    again = sweep(swept)

    assert again.exit_code == 0, again
    assert not any(row.cached_since for row in rows(swept).values())


def test_a_budget_that_is_used_up_leaves_a_valid_report(swept: Place) -> None:
    ended = run(replace(swept), *ALL, "--no-cache", "--budget", "0.01s")

    left = report(swept)
    assert ended.exit_code == 3, ended
    assert not left.complete
    assert left.undecided == len(left.rows) == 4
    assert "4 of 4 rows have no verdict" in left.error


def test_a_date_before_all_commits_means_all_outcomes(swept: Place) -> None:
    ended = run(swept, "sweep", "--since", "2001-01-01", "--json")

    assert len(json.loads(ended.stdout)["rows"]) == 4
