"""What `bind` finds, what it prefers, and what it leaves alone."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from support.repo import two_commits
from support.run import Invertgate, Place

SHOP = """\
def weight(order):
    if order is None:
        return 0
    return order["weight"] * 2


def label(order):
    if order:
        return "some"
    return "none"
"""
NO_ORDER, ORDER = "b26feaa47972", "f394d22c5389"
TESTS = '''\
"""Tests."""

import time

from shop import label, weight


class TestWeight:
    def test_crashes(self):
        assert 1 / weight({"weight": 2}) < 1

    def test_asserts(self):
        time.sleep(0.3)
        assert weight({"weight": 2}) == 4


def test_no_order():
    assert weight(None) == 0


def test_label():
    label({"weight": 2})
'''
CRASHES, ASSERTS = (
    "test_shop.py::TestWeight::test_crashes",
    "test_shop.py::TestWeight::test_asserts",
)
ON_NONE, LABEL = "test_shop.py::test_no_order", "test_shop.py::test_label"


def shop(tmp_path: Path) -> Place:
    two_commits(tmp_path / "repo", {"a.md": ""}, {"shop.py": SHOP, "test_shop.py": TESTS})
    return Place(tmp_path / "repo")


def bind(invertgate: Invertgate, place: Place, *more: str) -> dict[str, Any]:
    ended = invertgate(place, "bind", "--workers", "1", "--json", *more)
    assert ended.exit_code in {0, 1}, str(ended)
    told: dict[str, Any] = json.loads(ended.stdout)
    return told


def rows(place: Place) -> list[dict[str, str | None]]:
    table: list[dict[str, str | None]] = json.loads((place.top / "branch_rows.json").read_bytes())
    return table


def claims(place: Place) -> dict[str | None, str | None]:
    return {row["id"]: row["test"] for row in rows(place)}


def claim(invertgate: Invertgate, place: Place, tests: Mapping[str | None, str]) -> None:
    invertgate(place, "table", "--write")
    claimed = [{**row, "test": tests.get(row["id"])} for row in rows(place)]
    place.top.joinpath("branch_rows.json").write_text(json.dumps(claimed))


def test_a_dry_run_writes_nothing_and_the_nearest_tests_say_why_they_do_not_notice(
    tmp_path: Path, invertgate: Invertgate
) -> None:
    place = shop(tmp_path)

    told = bind(invertgate, place, "--dry-run")

    why = {each["outcome"]["side"]: each["why_not"] for each in told["unkilled"]}
    assert why["true"] == {LABEL: "it takes the outcome, and stays green when that is inverted"}
    assert why["false"] == {LABEL: "it takes the other side only"}
    assert f'+    "test": "{ON_NONE}"' in told["unwritten"]["branch_rows.json"]
    assert not place.top.joinpath("branch_rows.json").exists()


def test_a_test_that_asserts_is_preferred_to_a_cheaper_one_that_crashes(
    tmp_path: Path, invertgate: Invertgate
) -> None:
    place = shop(tmp_path)

    bind(invertgate, place, "--id", ORDER)

    assert claims(place)[ORDER] == ASSERTS


def test_rebind_replaces_claims_that_do_not_hold_or_only_crash(
    tmp_path: Path, invertgate: Invertgate
) -> None:
    place = shop(tmp_path)
    claim(invertgate, place, {NO_ORDER: LABEL, ORDER: CRASHES})

    told = bind(invertgate, place, "--rebind", "--id", NO_ORDER, "--id", ORDER)

    assert [claims(place)[each] for each in (NO_ORDER, ORDER)] == [ON_NONE, ASSERTS]
    assert {each["before"]: each["reason"] for each in told["replaced"]} == {
        LABEL: "the test never takes this outcome",
        CRASHES: "it notices by an exception only; the new one asserts",
    }


def test_rebind_keeps_claims_that_hold_and_rows_that_are_locked(
    tmp_path: Path, invertgate: Invertgate
) -> None:
    place = shop(tmp_path)
    claim(invertgate, place, {NO_ORDER: ON_NONE, ORDER: CRASHES})
    bind(invertgate, place, "--lock", "--id", ORDER)
    before = claims(place)

    told = bind(invertgate, place, "--rebind", "--id", NO_ORDER, "--id", ORDER)

    assert claims(place) == before
    assert (told["bound"], told["replaced"], told["claimed"]) == ([], [], 2)
    assert "1 locked row was not searched for: what is locked keeps its test" in told["notes"]


def test_marker_lines_bind_once_they_are_added(tmp_path: Path, invertgate: Invertgate) -> None:
    place = shop(tmp_path)
    file = place.top / "test_shop.py"

    told = bind(invertgate, place, "--markers", "--id", NO_ORDER, "--id", ORDER)
    lines = file.read_text().splitlines()
    for each in told["markers"]:
        lines.insert(each["line"] - 1, each["text"])
    file.write_text("\n".join([*lines, ""]))
    judged = invertgate(place, "run", "--workers", "1", "--id", NO_ORDER, "--id", ORDER)

    assert not told["written"]
    assert [row.verdict for row in judged.report.rows] == ["bound", "bound"], str(judged)
