"""What a user may rely on, whatever the project: one fact a test, read from outside only."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from support.repo import Repo, two_commits
from support.run import Ended, Invertgate, Place, ended, read_report, start
from support.trees import fingerprint

Build = Callable[[str], Place]

PATIENCE = 60

WAITS = """\
import time
from pathlib import Path


def wait(stay):
    if stay:
        return "stayed"
    Path({started!r}).touch()
    time.sleep(600)
"""
WAITS_TEST = """\
import pytest

from shop import wait


@pytest.mark.branch("{id}")
def test_wait():
    assert wait(True) == "stayed"
"""
STAY_TRUE = "9f066feeb8d6"


def interrupted_by(send: Callable[[subprocess.Popen[str]], None], top: Path) -> Ended:
    """Start a run whose mutant sleeps, send it a signal while it does, and wait for its end."""
    started = top.parent / "started"
    test = WAITS_TEST.format(id=STAY_TRUE)
    files = {"shop.py": WAITS.format(started=str(started)), "test_shop.py": test}
    two_commits(top, {"readme.md": "# Shop\n"}, files)
    place = Place(top)
    limits = ("--wall-floor", "500", "--workers", "2", "--contain", "none")  # it tells us by a file
    args = ("run", "--changed", *limits)
    with start(place, args) as (process, mark):
        wait_for(started)
        send(process)
        stdout, stderr = process.communicate(timeout=PATIENCE)
        return ended(place, process.returncode, (stdout, stderr), mark)


def wait_for(path: Path) -> None:
    end = time.monotonic() + PATIENCE
    while not path.exists():
        assert time.monotonic() < end, f"{path} never came"
        time.sleep(0.02)


def press_ctrl_c(process: subprocess.Popen[str]) -> None:
    os.killpg(process.pid, signal.SIGINT)


def terminate(process: subprocess.Popen[str]) -> None:
    process.terminate()


@pytest.mark.parametrize("send", [press_ctrl_c, terminate])
def test_interrupt_kills_all_children_and_removes_the_copy(
    send: Callable[[subprocess.Popen[str]], None], tmp_path: Path
) -> None:
    run = interrupted_by(send, tmp_path / "repo")

    assert run.exit_code == 130, str(run)
    assert (run.processes, run.scratch) == ((), ())
    assert (run.report.complete, run.report.exit_code) == (False, 130)


def test_hanging_mutant_is_unproven_and_the_run_goes_on(
    repo: Build, invertgate: Invertgate
) -> None:
    run = invertgate(repo("hangs_when_inverted"), "run", "--changed", "--workers", "1")

    verdicts = [row.verdict for row in run.report.rows]
    assert (verdicts.count("unproven"), verdicts.count("bound")) == (3, 3), str(run)


def test_work_tree_is_untouched_when_a_git_hook_runs_the_gate(
    repo: Build, invertgate: Invertgate
) -> None:
    place = repo("tests_use_git")
    hook = {"GIT_DIR": str(place.top / ".git"), "GIT_INDEX_FILE": str(place.top / ".git/index")}
    before = fingerprint(place.top)

    run = invertgate(replace(place, variables=hook), "run", "--changed")

    assert run.report.counts["bound"] == 3, str(run)
    assert fingerprint(place.top) == before


def test_no_merge_base_says_how_to_fetch(repo: Build, invertgate: Invertgate) -> None:
    run = invertgate(repo("shallow_clone"), "run", "--changed")

    assert run.exit_code == 5, str(run)
    assert "fetch-depth: 0" in run.stderr


def test_history_without_a_common_commit_is_told_of_the_base_option(
    tmp_path: Path, invertgate: Invertgate
) -> None:
    repo = Repo(tmp_path / "repo")
    repo.commit("base", {"shop.py": "x = 1\n"})
    repo.remote_branch("main")
    repo.git("checkout", "--quiet", "--orphan", "island")
    repo.commit("head", {"shop.py": "if x:\n    y = 1\n"})

    run = invertgate(Place(repo.path), "run", "--changed")

    assert run.exit_code == 5, str(run)
    assert "--base" in run.stderr


def test_empty_diff_is_success(repo: Build, invertgate: Invertgate) -> None:
    run = invertgate(repo("no_changes"), "run", "--changed")

    assert run.exit_code == 0, str(run)
    assert run.report.rows == []


@pytest.mark.parametrize("tree", ["kind_if", "worker_resources", "import_time"])
def test_result_is_the_same_with_one_and_with_four_workers(
    tree: str, repo: Build, invertgate: Invertgate
) -> None:
    place = repo(tree)

    one = invertgate(place, "run", "--changed", "--workers", "1")
    rows_of_one = one.report.rows
    four = invertgate(place, "run", "--changed", "--workers", "4")

    assert four.report.rows == rows_of_one
    assert four.exit_code == one.exit_code


def test_stub_is_written_and_gate_fails_with_its_path(repo: Build, invertgate: Invertgate) -> None:
    place = repo("no_tests")

    run = invertgate(place, "run", "--changed")

    assert run.exit_code == 1
    assert "branch_rows.json" in run.stdout
    table = json.loads(place.top.joinpath("branch_rows.json").read_bytes())
    assert [(row["predicate"], row["side"], row["test"]) for row in table] == [
        ("total > 100", "true", None),
        ("total > 100", "false", None),
    ]


def test_bind_then_run_is_green(repo: Build, invertgate: Invertgate) -> None:
    place = repo("negate")
    place.top.joinpath("branch_rows.json").unlink()

    bind = invertgate(place, "bind")
    run = invertgate(place, "run", "--changed")

    assert bind.exit_code == 0, str(bind)
    assert run.exit_code == 0, str(run)
    assert run.report.counts["bound"] == 2
    assert (bind.processes, bind.scratch) == ((), ())


def test_bind_names_what_nothing_kills(repo: Build, invertgate: Invertgate) -> None:
    place = repo("demo")
    place.top.joinpath("branch_rows.json").unlink()

    bind = invertgate(place, "bind")

    assert bind.exit_code == 1, str(bind)
    table = json.loads(place.top.joinpath("branch_rows.json").read_bytes())
    unkilled = [f"{row['predicate']} {row['side']}" for row in table if row["test"] is None]
    assert unkilled == ["amount < 0 true"]


def test_json_flag_prints_the_report(repo: Build, invertgate: Invertgate) -> None:
    place = repo("negate")

    run = invertgate(place, "run", "--changed", "--json")

    written = place.top.joinpath("invertgate.out", "report.json").read_bytes()
    assert json.loads(run.stdout) == json.loads(written)


def test_list_flag_runs_nothing(repo: Build, invertgate: Invertgate) -> None:
    place = repo("red_baseline")

    run = invertgate(place, "run", "--list", "--json")

    assert run.exit_code == 0, str(run)
    assert [row["verdict"] for row in json.loads(run.stdout)["rows"]] == [None, None]


def test_list_flag_lists_the_whole_of_a_deep_elif(tmp_path: Path, invertgate: Invertgate) -> None:
    arms = "".join(f"    elif number == {n}:\n        return {n}\n" for n in range(1, 700))
    source = f"def find(number):\n    if number == 0:\n        return 0\n{arms}    return None\n"
    repo = two_commits(tmp_path / "repo", {"shop.py": "x = 1\n"}, {"shop.py": source})

    run = invertgate(Place(repo.path), "run", "--list", "--json")

    assert len(json.loads(run.stdout)["rows"]) == 1400, str(run)


def test_list_flag_writes_no_stub(repo: Build, invertgate: Invertgate) -> None:
    place = repo("no_tests")

    invertgate(place, "run", "--list")

    assert not place.top.joinpath("branch_rows.json").exists()


def test_id_flag_judges_one_row(repo: Build, invertgate: Invertgate) -> None:
    place = repo("negate")
    listed = json.loads(invertgate(place, "run", "--list", "--json").stdout)["rows"]

    run = invertgate(place, "run", "--changed", "--id", listed[0]["id"])

    assert run.exit_code == 0, str(run)
    assert [row.id for row in run.report.rows] == [listed[0]["id"]]


def test_table_write_removes_what_a_merge_left_over(repo: Build, invertgate: Invertgate) -> None:
    place = repo("merged_tables")

    write = invertgate(place, "table", "--write")
    run = invertgate(place, "run", "--changed")

    assert write.exit_code == 0, str(write)
    assert run.exit_code == 0, str(run)
    assert {row.path for row in run.report.rows} == {"wrap.py"}


def test_table_check_runs_nothing(repo: Build, invertgate: Invertgate) -> None:
    run = invertgate(repo("leftover_row"), "table", "--check")

    assert run.exit_code == 1, str(run)
    assert "leftover" in run.stdout


def test_head_of_another_commit_is_judged_from_its_own_files(
    repo: Build, invertgate: Invertgate
) -> None:
    place = repo("negate")
    place.top.joinpath("shop.py").write_text("broken = \n", encoding="utf-8")

    run = invertgate(place, "run", "--changed", "--head", "HEAD")

    assert run.exit_code == 0, str(run)
    assert run.report.counts["bound"] == 2


def test_path_makes_every_outcome_in_it_new(repo: Build, invertgate: Invertgate) -> None:
    place = repo("docs_only_after_merge")

    run = invertgate(place, "run", "shop.py")

    assert run.exit_code == 0, str(run)
    assert run.report.counts["bound"] == 2


def test_ci_host_names_the_base(repo: Build, invertgate: Invertgate) -> None:
    place = repo("negate")
    top = Repo(place.top)
    top.git("update-ref", "refs/remotes/origin/release", "refs/remotes/origin/main")
    top.git("update-ref", "-d", "refs/remotes/origin/main")

    run = invertgate(replace(place, variables={"GITHUB_BASE_REF": "release"}), "run", "--changed")

    assert run.exit_code == 0, str(run)
    assert "origin/release" in run.said


ERRORS = [
    pytest.param(("run", "--no-such-option"), 2, "--no-such-option", id="unknown option"),
    pytest.param(("run", "--workers", "-1"), 2, "--workers", id="negative workers"),
    pytest.param(("run", "--workers", "100000"), 2, "--workers", id="too many workers"),
    pytest.param(("run", "--operator", "swap"), 2, "swap", id="unknown operator"),
    pytest.param(("run", "--changed", "shop.py"), 2, "--changed", id="changed and a path"),
    pytest.param(("run", "nothing.py"), 2, "nothing.py", id="path that is not there"),
    pytest.param(("run", "--id", "0123456789ab"), 2, "0123456789ab", id="unknown id"),
    pytest.param(("run", "--base", "nowhere"), 5, "nowhere", id="unknown base"),
    pytest.param(("run", "--head", "nowhere"), 5, "nowhere", id="unknown head"),
    pytest.param(("run", "--project", "nowhere"), 2, "nowhere", id="unknown project"),
]


@pytest.mark.parametrize(("args", "exit_code", "part"), ERRORS)
def test_mistake_ends_with_its_code_and_one_sentence(
    args: tuple[str, ...], exit_code: int, part: str, repo: Build, invertgate: Invertgate
) -> None:
    run = invertgate(repo("no_tests"), *args)

    assert run.exit_code == exit_code, str(run)
    assert part in run.stderr
    assert "Traceback" not in run.said


def test_folder_without_repository_has_no_base(tmp_path: Path, invertgate: Invertgate) -> None:
    top = tmp_path / "plain"
    top.mkdir()

    run = invertgate(Place(top), "run")

    assert run.exit_code == 5, str(run)
    assert "repository" in run.stderr


def test_repository_without_origin_is_told_of_the_base_option(
    tmp_path: Path, invertgate: Invertgate
) -> None:
    repo = Repo(tmp_path / "repo")
    repo.commit("base", {"shop.py": "x = 1\n"})

    run = invertgate(Place(repo.path), "run")

    assert run.exit_code == 5, str(run)
    assert "--base" in run.stderr


def test_stale_report_does_not_outlive_the_start_of_a_run(
    repo: Build, invertgate: Invertgate
) -> None:
    place = repo("negate")
    invertgate(place, "run", "--changed")
    assert read_report(place.top).exit_code == 0

    run = invertgate(place, "run", "--changed", "--base", "nowhere")

    report = place.top / "invertgate.out" / "report.json"
    assert run.exit_code == 5
    assert not report.exists() or read_report(place.top).exit_code == 5
