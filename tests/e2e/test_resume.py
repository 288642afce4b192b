"""A run that is killed at any point is gone on with, and its report is that of one run."""

import json
import random
import time
from collections.abc import Mapping
from pathlib import Path
from uuid import uuid4

import pytest

from support.repo import Repo, two_commits
from support.run import Invertgate, Place, run, start

pytestmark = pytest.mark.slow

SIDES = 6
SHOP = "def price(n):\n" + "".join(
    f"    if n == {number}:\n        return {10 * number}\n" for number in range(SIDES // 2)
)
TEST = """\
import time

import pytest

from shop import price


@pytest.mark.parametrize("n", range(4))
def test_price(n):
    with open({ran!r}, "a") as ran:
        ran.write(f"{{n}} ")
    time.sleep(0.05)
    assert price(n) == (10 * n if n < 3 else None)
"""
ARGUMENTS = ("run", "--workers", "1", "--contain", "none")


def project(folder: Path) -> Place:
    """Build a project whose tests leave a word outside whenever they are run."""
    top = folder / "repo"
    ran = str(folder / "ran")
    files = {"shop.py": SHOP, "test_shop.py": TEST.format(ran=ran)}
    two_commits(top, {"readme.md": "# Shop\n"}, files)
    place = Place(top, mark=uuid4().hex)  # or else a variable would have changed
    run(place, "table", "--write")
    table = top / "branch_rows.json"
    rows = json.loads(table.read_bytes())
    table.write_text(json.dumps([{**row, "test": claim(row)} for row in rows]))
    return place


def claim(row: Mapping[str, str]) -> str:
    number = int(row["predicate"].rsplit(" ", 1)[1])
    taken = number if row["side"] == "true" else number + 1
    return f"test_shop.py::test_price[{taken}]"


def journals(place: Place) -> list[Path]:
    return list((place.top / "invertgate.out").glob("resume-*"))


def noted(place: Place) -> int:
    """Count the verdicts in the journal."""
    return sum(path.read_bytes().count(b"\n") - 1 for path in journals(place))


def killed_after(place: Place, rows: int, moment: float = 0.0) -> None:
    """Start a run, and kill it when so many verdicts are noted, or when it has ended."""
    with start(place, ARGUMENTS) as (process, _):
        while process.poll() is None and noted(place) < rows:
            time.sleep(0.01)
        time.sleep(moment)
        process.kill()


def verdicts(place: Place) -> dict[str, tuple[str, int]]:
    """Return verdict and number of runs of each row."""
    report = json.loads((place.top / "invertgate.out" / "report.json").read_bytes())
    assert report["complete"]
    assert report["found"] == len(report["rows"]) == SIDES
    return {row["id"]: (row["verdict"], len(row["runs"])) for row in report["rows"]}


def is_complete(place: Place) -> bool:
    """Tell whether the report is that of a run that came to its end; remove it."""
    report = place.top / "invertgate.out" / "report.json"
    if not report.exists():
        return False
    told = json.loads(report.read_bytes())
    report.unlink()
    return bool(told["complete"])


def notes(place: Place) -> str:
    report = json.loads((place.top / "invertgate.out" / "report.json").read_bytes())
    return " ".join(report["notes"])


def test_a_killed_run_is_gone_on_with_and_ends_as_if_it_had_not_been(
    tmp_path: Path, invertgate: Invertgate
) -> None:
    place = project(tmp_path)
    whole = invertgate(place, *ARGUMENTS)
    expected = verdicts(place)
    assert is_complete(place)
    runs_of_the_whole = len((tmp_path / "ran").read_text().split())
    chance = random.Random(5)  # noqa: S311

    for rows in (0, 1, 3):
        killed_after(place, rows, chance.uniform(0.0, 0.1))
        assert not is_complete(place)
    kept = noted(place)
    (tmp_path / "ran").write_text("")
    resumed = invertgate(place, *ARGUMENTS)

    assert (resumed.exit_code, verdicts(place)) == (whole.exit_code, expected), resumed
    assert f"{kept} of {SIDES} verdicts are those of a run that was ended" in notes(place)
    assert len((tmp_path / "ran").read_text().split()) < runs_of_the_whole
    assert (resumed.processes, resumed.scratch, journals(place)) == ((), (), [])


@pytest.mark.parametrize("change", ["test", "--no-resume", "brought along"])
def test_whatever_changes_in_between_all_is_judged_again(
    change: str, tmp_path: Path, invertgate: Invertgate
) -> None:
    place = project(tmp_path)
    killed_after(place, 2)
    assert noted(place) >= 2
    arguments = list(ARGUMENTS)
    match change:
        case "test":
            test = place.top / "test_shop.py"
            test.write_text(test.read_text().replace("assert price", "price"))
        case "brought along":
            names = [str(path.relative_to(place.top)) for path in journals(place)]
            Repo(place.top).git("add", "--force", *names)
        case _:
            arguments += [change]

    invertgate(place, *arguments)

    assert "run that was ended" not in notes(place)
    expected = "weak" if change == "test" else "bound"
    assert {verdict for verdict, _ in verdicts(place).values()} == {expected}
