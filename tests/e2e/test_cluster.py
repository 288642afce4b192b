"""What a cluster judges is what one machine judges."""

import json
import os
import shutil
import threading
import time
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from support.dask import DaskCluster, dask_cluster, is_gone, shards_below
from support.repo import two_commits
from support.run import Invertgate, Place

SHOP = """\
def price(n, member):
    if n > 100:
        return 2
    if member:
        return 1
    try:
        return int(n)
    except ValueError:
        return -1
"""
TEST_SHOP = """\
import pytest

from shop import price


def test_dear():
    assert price(500, False) == 2


def test_member():
    price(5, True)


def test_cheap():
    assert price(5, False) == 5
"""
CLAIMS = {"n > 100": ("test_dear", "test_cheap"), "member": ("test_member", "test_cheap")}
OTHER_TIMES = ("seconds", "cpu", "started", "command", "slowest")
ASKED = ("--workers", "1", "--confirm", "1")
PATIENCE = 60


def project(invertgate: Invertgate, top: Path) -> Place:
    """Build a project whose modules are found where the user has them, as if installed so."""
    two_commits(top, {"readme.md": "# Shop\n"}, {"src/shop.py": SHOP, "test_shop.py": TEST_SHOP})
    place = Place(top, variables={"PYTHONPATH": str(top / "src")})
    invertgate(place, "table", "--write")
    table = top / "branch_rows.json"
    rows = json.loads(table.read_bytes())
    for row in rows:
        if row["predicate"] in CLAIMS:
            name = CLAIMS[row["predicate"]][row["side"] == "false"]
            row["test"] = f"test_shop.py::{name}"
    table.write_text(json.dumps(rows))
    (top / "untracked.txt").write_text("it travels too\n")
    return place


def document(top: Path) -> object:
    """Return the report without times, which differ from run to run."""
    return without_times(json.loads((top / "invertgate.out" / "report.json").read_bytes()))


def without_times(value: object) -> object:
    if isinstance(value, dict):
        return {k: without_times(v) for k, v in value.items() if k not in OTHER_TIMES}
    return [without_times(each) for each in value] if isinstance(value, list) else value


class Killer(threading.Thread):
    """Kills a worker as soon as it judges a shard."""

    def __init__(self, worker: int) -> None:
        super().__init__(daemon=True)
        self.worker = worker
        self.shards: list[psutil.Process] = []

    def run(self) -> None:
        end = time.monotonic() + PATIENCE
        while not self.shards and time.monotonic() < end:
            self.shards = shards_below(self.worker)
            time.sleep(0.01)
        psutil.Process(self.worker).kill()


def differing(cluster: DaskCluster, path: str) -> dict[str, str]:
    """Return the environment of a worker on which another package is installed."""
    folder = cluster.folder / "packages"
    about = folder / "stranger-1.0.dist-info" / "METADATA"
    about.parent.mkdir(parents=True)
    about.write_text("Metadata-Version: 2.1\nName: stranger\nVersion: 1.0\n")
    return {"PYTHONPATH": os.pathsep.join((path, str(folder)))}


@pytest.mark.slow
def test_a_cluster_one_of_whose_workers_is_killed_says_what_one_machine_says(
    tmp_path: Path, invertgate: Invertgate
) -> None:
    place = project(invertgate, tmp_path / "shop")
    alone = invertgate(place, "run", *ASKED)
    expected = document(place.top)
    shutil.rmtree(place.top / "invertgate.out")
    with dask_cluster(tmp_path / "cluster") as cluster:
        cluster.worker("stays", place.variables)
        killer = Killer(cluster.worker("dies", place.variables))
        cluster.worker("differs", differing(cluster, place.variables["PYTHONPATH"]))
        killer.start()

        ended = invertgate(place, "run", *ASKED, "--cluster", cluster.address)

        cache = next(cluster.temporary.glob("invertgate-*"))
        archives = list(cache.glob("*.tar.gz"))
        trees = [each.name for each in cache.glob("trees/*")]
        orphans = [each for each in killer.shards if not is_gone(each)]

    assert ended.exit_code == alone.exit_code == 1, ended
    report = document(place.top)
    assert isinstance(report, dict)
    assert isinstance(expected, dict)
    told = [note for note in report["notes"] if note not in expected["notes"]]
    assert {**report, "notes": expected["notes"]} == expected
    assert any("what is installed differs: stranger 1.0 only there" in note for note in told), told
    assert any("went away; another one judges shard" in note for note in told), told
    assert len(archives) == 1
    assert all(name.endswith(f"-{killer.worker}") for name in trees)
    assert not orphans
    assert not ended.processes
    assert not ended.scratch


@pytest.mark.slow
def test_a_cluster_that_cannot_be_used_is_a_usage_error(
    tmp_path: Path, invertgate: Invertgate
) -> None:
    place = project(invertgate, tmp_path / "shop")
    broken = tmp_path / "broken" / "distributed"
    broken.mkdir(parents=True)
    (broken / "__init__.py").write_text("raise ImportError('no distributed here')\n")

    nobody = invertgate(place, "run", "--cluster", "tcp://127.0.0.1:9")
    without = replace(place, variables={"PYTHONPATH": str(broken.parent)})
    missing = invertgate(without, "run", "--cluster", "tcp://127.0.0.1:9")
    divided = invertgate(place, "run", "--cluster", "tcp://127.0.0.1:9", "--shard", "1/2")

    assert (nobody.exit_code, missing.exit_code, divided.exit_code) == (2, 2, 2), nobody
    assert "no scheduler answers there" in nobody.stderr
    assert "pip install 'invertgate[dask]'" in missing.stderr
    assert "leave --shard away" in divided.stderr
    assert "Traceback" not in nobody.said + missing.said + divided.said


@pytest.mark.slow
def test_a_deep_sweep_on_a_cluster_says_what_one_machine_says(
    tmp_path: Path, invertgate: Invertgate
) -> None:
    place = project(invertgate, tmp_path / "shop")
    asked = ("sweep", "--all", "--no-cache", *ASKED, "--deep", "--deep-limit", "2")
    alone = invertgate(place, *asked)
    expected = document(place.top)
    shutil.rmtree(place.top / "invertgate.out")
    with dask_cluster(tmp_path / "cluster") as cluster:
        cluster.worker("one", place.variables)

        ended = invertgate(place, *asked, "--cluster", cluster.address)

    assert ended.exit_code == alone.exit_code == 1, ended
    report = document(place.top)
    assert report == expected
    assert isinstance(report, dict)
    assert any(note.startswith("deep: ") for note in report["notes"])
