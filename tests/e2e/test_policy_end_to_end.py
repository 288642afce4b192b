"""Waivers and policies come from the merge base; what a patch changes of them is told."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from invertgate.model import Kind, Side
from invertgate.outcomes.identity import outcome_id
from support.repo import two_commits
from support.run import Ended, Invertgate, Place

PLAIN = "def price(amount):\n    return amount\n"
BRANCHES = """\
def price(amount):
    if amount > 10:
        amount = amount - 1
    if amount < 0:
        return None
    return amount
"""
TESTS = """\
from shop import price


def test_large():
    price(20)


def test_small():
    assert price(5) == 5


def test_debt():
    assert price(-1) is None
"""
LARGE = {
    Side.TRUE: outcome_id(Kind.IF, "amount > 10", Side.TRUE),
    Side.FALSE: outcome_id(Kind.IF, "amount > 10", Side.FALSE),
}
DEBT = {
    Side.TRUE: outcome_id(Kind.IF, "amount < 0", Side.TRUE),
    Side.FALSE: outcome_id(Kind.IF, "amount < 0", Side.FALSE),
}


def waivers(*entries: tuple[str, int]) -> str:
    """Write a list; each entry is an id and the days from today at which it expires."""
    today = datetime.now(UTC).date()
    return "waivers:\n" + "".join(
        f"  - path: shop.py\n    id: {row_id}\n    reason: same\n    owner: ada@example.org\n"
        f"    expires: {today + timedelta(days=days)}\n"
        for row_id, days in entries
    )


def row(row_id: str, predicate: str, side: str, test: str | None) -> dict[str, str | None]:
    kind = {"id": row_id, "path": "shop.py", "kind": "if"}
    return {**kind, "predicate": predicate, "side": side, "test": test}


TABLE = json.dumps(
    [
        row(LARGE[Side.TRUE], "amount > 10", "true", "test_shop.py::test_large"),
        row(LARGE[Side.FALSE], "amount > 10", "false", "test_shop.py::test_small"),
        row(DEBT[Side.TRUE], "amount < 0", "true", "test_shop.py::test_debt"),
        row(DEBT[Side.FALSE], "amount < 0", "false", None),
    ]
)
HEAD = {"shop.py": BRANCHES, "test_shop.py": TESTS, "branch_rows.json": TABLE}


def place(tmp_path: Path, base: dict[str, str], head: dict[str, str]) -> Place:
    top = tmp_path / "repo"
    two_commits(top, {"shop.py": PLAIN, **base}, {**HEAD, **base, **head})
    return Place(top)


def verdicts(ended: Ended) -> dict[str, str | None]:
    return {row.id: row.verdict for row in ended.report.rows}


def test_waivers_of_the_merge_base_count_and_those_of_the_patch_do_not(
    tmp_path: Path, invertgate: Invertgate
) -> None:
    before = waivers((LARGE[Side.TRUE], 9), (DEBT[Side.TRUE], 9), (LARGE[Side.FALSE], -1))
    after = waivers((DEBT[Side.FALSE], 9), (LARGE[Side.TRUE], 9), ("0123456789ab", 9))
    where = place(tmp_path, {"waivers.yaml": before}, {"waivers.yaml": after})

    ended = invertgate(where, "run", "--workers", "1")

    assert verdicts(ended) == {
        LARGE[Side.TRUE]: "waived",
        LARGE[Side.FALSE]: "bound",
        DEBT[Side.TRUE]: "waived",
        DEBT[Side.FALSE]: "unbound",
    }, str(ended)
    assert ended.exit_code == 1
    assert ended.report.counts["waived"] == 2
    assert ended.report.weak_tests == {}
    for part in (
        "without the waiver weak",
        f"this waived row is killed now: shop.py:{DEBT[Side.TRUE]}, by test_shop.py::test_debt",
        f"the patch adds the waiver of shop.py:{DEBT[Side.FALSE]}",
        f"the patch removes the waiver of shop.py:{DEBT[Side.TRUE]}",
        "the waiver of shop.py:0123456789ab is stale",
    ):
        assert part in ended.said, str(ended)


def test_reviewed_waivers_of_the_patch_count_and_that_is_printed_loudly(
    tmp_path: Path, invertgate: Invertgate
) -> None:
    after = waivers((DEBT[Side.FALSE], 9), (LARGE[Side.TRUE], 9))
    where = place(tmp_path, {}, {"waivers.yaml": after})

    ended = invertgate(where, "run", "--policy", "head", "--workers", "1", "--json")

    assert ended.exit_code == 0, str(ended)
    report = json.loads(ended.stdout)
    assert report["policy"] == "head"
    assert "the policies of the patch itself count" in report["notes"][0]
    assert "POLICY FROM HEAD" in ended.stderr
    assert f"the patch adds the waiver of shop.py:{DEBT[Side.FALSE]}" in ended.stderr


def test_a_row_whose_waiver_has_expired_counts_again(
    tmp_path: Path, invertgate: Invertgate
) -> None:
    where = place(tmp_path, {"waivers.yaml": waivers((DEBT[Side.FALSE], -1))}, {})

    ended = invertgate(where, "table", "--check")

    [unbound] = [row for row in ended.report.rows if row.id == DEBT[Side.FALSE]]
    assert unbound.verdict == "unbound", str(ended)
    assert "the row counts again" in unbound.reason


def test_bind_searches_no_test_for_a_waived_row(tmp_path: Path, invertgate: Invertgate) -> None:
    where = place(tmp_path, {"waivers.yaml": waivers((DEBT[Side.FALSE], 9))}, {})

    ended = invertgate(where, "bind")

    assert ended.exit_code == 0, str(ended)
    assert "1 waived row was not searched for" in ended.said


def test_a_malformed_list_of_waivers_is_refused_by_line(
    tmp_path: Path, invertgate: Invertgate
) -> None:
    after = waivers((DEBT[Side.FALSE], 9)).replace("    owner: ada@example.org\n", "")
    where = place(tmp_path, {}, {"waivers.yaml": after})

    ended = invertgate(where, "run", "--list")

    assert (ended.exit_code, ended.stdout) == (2, ""), str(ended)
    assert 'waivers.yaml:2: field "owner" is missing' in ended.stderr


CHANGED = {
    "pyproject.toml": '[tool.invertgate]\nexclude = ["shop.py"]\n'
    '[tool.pytest.ini_options]\naddopts = "--deselect test_shop.py::test_large"\n',
    "conftest.py": "def pytest_collection_modifyitems(items):\n    items.clear()\n",
    ".github/workflows/ci.yml": "on: push\n",
    "flaky.yaml": "flaky: []\n",
    "properties.yaml": "properties: []\n",
}
TOLD = [
    '`exclude` was widened by this patch, from [] to ["shop.py"]; judged under the old value',
    "the merge base has no [tool.invertgate]",
    "the patch changes `addopts` in pyproject.toml",
    "the patch changes `pytest_collection_modifyitems` in conftest.py",
    "the patch changes .github/workflows/ci.yml, which says what continuous integration does",
    "the patch changes flaky.yaml; the merge base's counts until it is merged",
    "the patch changes properties.yaml; the merge base's counts until it is merged",
]


@pytest.mark.parametrize("args", [("run", "--list"), ("table",)])
def test_what_a_patch_changes_of_the_rules_is_told_and_does_not_count(
    tmp_path: Path, invertgate: Invertgate, args: tuple[str, ...]
) -> None:
    where = place(tmp_path, {}, CHANGED)

    ended = invertgate(where, *args)

    assert ended.exit_code == 0, str(ended)
    assert len(ended.report.rows) == 4
    assert [part for part in TOLD if part not in ended.said] == [], str(ended)


def test_reviewed_policy_of_the_patch_counts(tmp_path: Path, invertgate: Invertgate) -> None:
    where = place(tmp_path, {}, CHANGED)

    ended = invertgate(where, "run", "--policy", "head", "--list")

    assert [row.verdict for row in ended.report.rows] == ["leftover"] * 4, str(ended)
    assert "judged under the new value, by `--policy head`" in ended.said
    assert "POLICY FROM HEAD" in ended.said
