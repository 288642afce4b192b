"""What a patch does to get past the gate, where it takes more than a tree of files to show it."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from invertgate.model import Kind, Side
from invertgate.outcomes.identity import outcome_id
from support.repo import Repo
from support.run import Ended, Invertgate, Place
from support.trees import build, named

LARGE = outcome_id(Kind.IF, "amount > 10", Side.TRUE)
SHOP = """\
def price(amount):
    if amount > 10:
        return amount - 1
    return amount
"""
KNOWS = """\
import builtins

import pytest

from shop import price


@pytest.mark.branch("{id}")
def test_price():
    price(20)
    inverted = vars(builtins)["invertgate test"].__self__.inverted
    assert 0 not in inverted
"""


def verdicts(ended: Ended) -> dict[str, str | None]:
    return {f"{row.line} {row.side}": row.verdict for row in ended.report.rows}


def test_waiver_and_flaky_entry_of_the_patch_excuse_nothing(
    tmp_path: Path, invertgate: Invertgate
) -> None:
    place = build(named("tamper_in_policy"), tmp_path)
    day = datetime.now(UTC).date() + timedelta(days=9)
    entry = f"    reason: mine\n    owner: mallory@example.org\n    expires: {day}\n"
    waivers = f"waivers:\n  - path: shop.py\n    id: {LARGE}\n{entry}"
    place.top.joinpath("waivers.yaml").write_text(waivers)
    place.top.joinpath("flaky.yaml").write_text(f"flaky:\n  - id: test_price\n{entry}")

    ended = invertgate(place, "run", "--changed", "--workers", "1")

    expected = {"2 true": "weak", "2 false": "bound", "4 true": "weak", "4 false": "bound"}
    assert (ended.exit_code, verdicts(ended)) == (1, expected), str(ended)
    assert f"the patch adds the waiver of shop.py:{LARGE}" in ended.said
    assert "flaky.yaml" in ended.said


def test_test_that_looks_for_its_own_slot_is_not_caught_and_its_file_is_named(
    tmp_path: Path, invertgate: Invertgate
) -> None:
    repo = Repo(tmp_path / "repo")
    repo.commit("base", {"shop.py": "def price(amount):\n    return amount\n"})
    repo.remote_branch("main")
    repo.branch("patch")
    repo.commit("patch", {"shop.py": SHOP, "test_shop.py": KNOWS.format(id=LARGE)})

    ended = invertgate(Place(repo.path), "run", "--changed", "--workers", "1")

    assert verdicts(ended)["2 true"] == "bound", str(ended)  # the README says why
    assert "test_shop.py:11 names what invertgate runs inside of tests" in ended.said
