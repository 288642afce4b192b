from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from support.repo import two_commits
from support.run import Invertgate, Place

HEAD = {
    "shop.py": """\
def price(amount, rebate=0):
    if amount < 100:
        total = amount + rebate
        return total
    return amount * 2


def parse(text):
    try:
        return int(text)
    except ValueError:
        if len(text) > 3:
            return -2
        return -1
""",
    "tests/test_shop.py": """\
import pytest

from shop import parse, price


@pytest.mark.branch("ec94c5d1fbcb")
def test_small():
    assert price(5) == 5


@pytest.mark.branch("c36fc9117d66")
def test_large():
    assert price(100) == 200


@pytest.mark.branch("5e02c96d6054")
def test_no_number():
    assert parse("x") == -1
""",
}


@pytest.fixture
def shop(tmp_path: Path) -> Place:
    repo = two_commits(tmp_path / "shop", {"shop.py": "", "conftest.py": ""}, HEAD)
    return Place(repo.path)


class Survivor(msgspec.Struct):
    line: int
    before: str
    after: str


class Deep(msgspec.Struct):
    tried: int
    noticed: int
    survivors: list[Survivor]


class Row(msgspec.Struct):
    predicate: str
    side: str
    verdict: str
    advice: list[str]
    deep: Deep | None


class Report(msgspec.Struct):
    exit_code: int
    counts: dict[str, int]
    notes: list[str]
    rows: list[Row]


def read(place: Place) -> Report:
    content = (place.top / "invertgate.out" / "report.json").read_bytes()
    return msgspec.json.decode(content, type=Report)


def test_deep_names_small_changes_that_survive_and_changes_no_verdict(
    shop: Place, invertgate: Invertgate
) -> None:
    plain = invertgate(shop, "run", "--json")
    before = read(shop)
    deep = invertgate(shop, "run", "--deep")
    after = read(shop)

    assert deep.exit_code == plain.exit_code == 1, deep
    assert before.counts == after.counts
    assert [row.verdict for row in before.rows] == [row.verdict for row in after.rows]
    small = next(row for row in after.rows if (row.predicate, row.side) == ("amount < 100", "true"))
    assert small.deep is not None
    assert [(each.before, each.after) for each in small.deep.survivors] == [
        ("amount + rebate", "amount - rebate")
    ]  # the boundary is held by the test of the other side
    assert "bound, but `amount + rebate` → `amount - rebate` in line 3 survives" in small.advice
    assert "line 3: `amount + rebate` → `amount - rebate`" in deep.stdout
    assert all(row.deep is None for row in after.rows if row.verdict != "bound")
    assert any(note.startswith("deep: ") for note in after.notes)
    assert not deep.processes
    assert not deep.scratch


def test_deep_with_a_mutmut_that_moved_its_operators_judges_nothing_and_says_what_helps(
    shop: Place, invertgate: Invertgate, tmp_path: Path
) -> None:
    other = tmp_path / "other" / "mutmut"
    other.mkdir(parents=True)
    (other / "__init__.py").touch()
    place = replace(shop, variables={"PYTHONPATH": str(other.parent)})

    ended = invertgate(place, "run", "--deep")

    assert ended.exit_code == 2, ended
    assert "pip install 'mutmut>=3.8,<3.9'" in ended.stderr
    assert "Traceback" not in ended.said


def test_deep_limit_without_deep_is_a_slip(shop: Place, invertgate: Invertgate) -> None:
    ended = invertgate(shop, "run", "--deep-limit", "3")

    assert ended.exit_code == 2, ended
    assert "--deep-limit" in ended.stderr
