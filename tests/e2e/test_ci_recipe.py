"""The jobs that `init` writes for GitHub, run step by step on a real patch."""

import os
import subprocess
from pathlib import Path
from typing import Any

import yaml

from support.repo import Repo, hermetic_environment, two_commits
from support.run import COMMAND

BASE = {
    "pyproject.toml": '[tool.pytest.ini_options]\npythonpath = ["."]\n',
    "shop.py": "def total(x):\n    return x\n",
    "tests/test_shop.py": "from shop import total\ndef test_total():\n    assert total(1) == 1\n",
}
HEAD = {
    **BASE,
    "shop.py": "def total(x):\n    if x < 0:\n        return 0\n    return x\n",
    "tests/test_shop.py": BASE["tests/test_shop.py"]
    + "\n\ndef test_none_below_zero():\n    assert total(-1) == 0\n",
}
SHARDS = 2


def invertgate(repo: Repo, *arguments: str) -> None:
    environment = {**hermetic_environment(), "PATH": search_path()}
    subprocess.run([COMMAND, *arguments], cwd=repo.path, env=environment, check=True)


def search_path() -> str:
    return f"{COMMAND.parent}{os.pathsep}{os.environ['PATH']}"


def step(repo: Repo, job: str, name: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a step of the workflow as GitHub's runner runs it."""
    workflow = repo.path / ".github" / "workflows" / "invertgate.yml"
    jobs: dict[str, Any] = yaml.safe_load(workflow.read_text(encoding="utf-8"))["jobs"]
    [script] = [each["run"] for each in jobs[job]["steps"] if each.get("name") == name]
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],  # noqa: S607
        cwd=repo.path,
        env={**hermetic_environment(), "PATH": search_path(), **variables},
        capture_output=True,
        text=True,
        check=False,
    )


def judge(repo: Repo, shard: int) -> int:
    """Do what the job of a shard does, its artifact laid where the gate's job downloads it."""
    name = "Judge the rows of this shard"
    done = step(repo, "shard", name, SHARD=f"{shard}/{SHARDS}", POLICY="base")
    kept = repo.path / "invertgate.shards" / f"invertgate-shard-{shard}"
    kept.mkdir(parents=True)
    (repo.path / "invertgate.out" / "report.json").rename(kept / "report.json")
    return done.returncode


def gate(repo: Repo, shards: str = "success") -> int:
    variables = {"SHARDS": shards, "ON_EXIT_3": "fail", "ON_EXIT_8": "fail"}
    return step(repo, "gate", "Join the shards", **variables).returncode


def test_patch_passes_by_its_shards_and_not_without_one_of_them(tmp_path: Path) -> None:
    repo = two_commits(tmp_path / "shop", BASE, HEAD)
    invertgate(repo, "init")
    invertgate(repo, "bind")
    repo.commit("set up")

    judged = [judge(repo, shard) for shard in (1, 2)]
    whole = gate(repo)
    step(repo, "gate", "Write a page for people")
    missing = repo.path / "invertgate.shards" / "invertgate-shard-2" / "report.json"
    missing.rename(tmp_path / "report.json")
    partial = gate(repo)

    assert judged == [0, 0]
    assert (whole, partial) == (0, 3)
    assert (repo.path / "invertgate.out" / "report.html").is_file()


def test_finding_in_one_shard_stops_the_gate_and_not_the_shard(tmp_path: Path) -> None:
    weak = {**HEAD, "tests/test_shop.py": BASE["tests/test_shop.py"]}
    repo = two_commits(tmp_path / "shop", BASE, weak)
    invertgate(repo, "init", "--ci", "github")
    invertgate(repo, "table", "--write")
    repo.commit("set up")

    judged = [judge(repo, shard) for shard in (1, 2)]

    assert judged == [0, 0]
    assert gate(repo) == 1
