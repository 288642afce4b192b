"""A run in shards, joined again, is the run as a whole."""

import json
import shutil
from pathlib import Path

from support.repo import two_commits
from support.run import Invertgate, Place, read_report

SHOP = """\
def price(n, member):
    if n > 100:
        return 2
    if member:
        return 1
    return n
"""
TEST_SHOP = """\
from shop import price


def test_dear():
    assert price(500, False) == 2


def test_member():
    price(5, True)


def test_cheap():
    assert price(5, False) == 5
"""
CLAIMS = {"n > 100": ("test_dear", "test_cheap"), "member": ("test_member", "test_cheap")}


def project(invertgate: Invertgate, top: Path) -> Place:
    two_commits(top, {"readme.md": "# Shop\n"}, {"shop.py": SHOP, "test_shop.py": TEST_SHOP})
    place = Place(top)
    invertgate(place, "table", "--write")
    table = top / "branch_rows.json"
    rows = json.loads(table.read_bytes())
    for row in rows:
        row["test"] = f"test_shop.py::{CLAIMS[row['predicate']][row['side'] == 'false']}"
    gone = {**rows[0], "id": "0" * 12}
    table.write_text(json.dumps([*rows, gone]))
    return place


def test_shards_make_up_the_whole_and_a_missing_one_is_refused(
    tmp_path: Path, invertgate: Invertgate
) -> None:
    place = project(invertgate, tmp_path / "repo")
    whole = invertgate(place, "run", "--workers", "1")
    expected = [(row.path, row.id, row.verdict) for row in whole.report.rows]
    for index in (1, 2, 3):
        invertgate(place, "run", "--workers", "1", "--shard", f"{index}/3")
        shutil.copytree(place.top / "invertgate.out", tmp_path / "parts" / str(index))

    joined = invertgate(place, "merge", str(tmp_path / "parts"), "--out", str(tmp_path / "all"))
    shutil.rmtree(tmp_path / "parts" / "2")
    refused = invertgate(place, "merge", str(tmp_path / "parts"), "--out", str(tmp_path / "some"))

    report = json.loads((tmp_path / "all" / "report.json").read_bytes())
    assert [(row["path"], row["id"], row["verdict"]) for row in report["rows"]] == expected
    assert sorted(verdict for *_, verdict in expected if verdict) == [
        "bound",
        "bound",
        "bound",
        "leftover",
        "weak",
    ]
    assert (joined.exit_code, whole.exit_code, refused.exit_code) == (1, 1, 3), joined
    assert "missing: shard 2/3" in refused.stderr
    assert not read_report(place.top).written


def test_a_shard_that_is_none_is_a_usage_error(tmp_path: Path, invertgate: Invertgate) -> None:
    two_commits(tmp_path / "repo", {"readme.md": ""}, {"shop.py": SHOP})
    place = Place(tmp_path / "repo")

    codes = [invertgate(place, "run", "--shard", text).exit_code for text in ("3/2", "", "x")]

    assert codes == [2, 2, 2]
