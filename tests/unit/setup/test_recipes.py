import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from invertgate import config, options
from invertgate.recipe_texts import github_workflow, gitlab_jobs, options_block

INSTALL = "python -m pip install -e '.[test]' --group dev invertgate==1.0"


def github() -> dict[str, Any]:
    workflow: dict[str, Any] = yaml.safe_load(github_workflow(INSTALL))
    return workflow


def gitlab() -> dict[str, Any]:
    jobs: dict[str, Any] = yaml.safe_load(gitlab_jobs(INSTALL))
    return jobs


def step(job: str, name: str) -> dict[str, Any]:
    found = [each for each in github()["jobs"][job]["steps"] if each.get("name") == name]
    assert len(found) == 1
    return dict(found[0])


def run_script(
    script: str, folder: Path, variables: Mapping[str, str], exit_code: int
) -> tuple[int, str, str]:
    """Run a step as a runner does; `invertgate` is a stand-in that ends with a given code."""
    tools = folder / "tools"
    tools.mkdir()
    stand_in = tools / "invertgate"
    stand_in.write_text(f'#!/bin/sh\necho "$@" > {folder}/asked\nexit {exit_code}\n')
    stand_in.chmod(0o755)
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],  # noqa: S607
        cwd=folder,
        env={"PATH": f"{tools}{os.pathsep}{os.environ['PATH']}", **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, (folder / "asked").read_text().strip(), done.stdout


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ("vendor.github-workflows", github_workflow(INSTALL)),
        ("vendor.gitlab-ci", gitlab_jobs(INSTALL)),
    ],
)
def test_jobs_are_valid_by_the_published_schema(schema: str, text: str, tmp_path: Path) -> None:
    file = tmp_path / "jobs.yml"
    file.write_text(text, encoding="utf-8")
    more = ["--data-transform", "gitlab-ci"] if "gitlab" in schema else []

    done = subprocess.run(
        [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, *more, str(file)],
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stdout.strip()) == (0, "ok -- validation done")


def test_each_option_stands_in_the_block_with_its_default() -> None:
    block = options_block()
    lines = block.splitlines()
    keys = {option.name for option in options.OPTIONS}
    taken = [
        line.removeprefix("# ") if line.removeprefix("# ").partition(" = ")[0] in keys else ""
        for line in lines
    ]

    source = "\n".join(["[tool.invertgate]", *taken]).encode()

    assert set(config.read(source)) == keys
    assert config.load(source) == options.Config()


def test_block_as_it_is_written_sets_nothing() -> None:
    assert config.read(options_block().encode()) == {}


def test_block_fits_a_hundred_columns() -> None:
    assert max(map(len, options_block().splitlines())) <= 100


def test_history_is_fetched_where_rows_are_judged() -> None:
    checkout = github()["jobs"]["shard"]["steps"][0]

    assert checkout["with"]["fetch-depth"] == 0
    assert gitlab()[".invertgate"]["variables"]["GIT_DEPTH"] == "0"


def test_reports_are_kept_whatever_happens() -> None:
    uploads = [
        each
        for job in github()["jobs"].values()
        for each in job["steps"]
        if "upload-artifact" in each.get("uses", "")
    ]

    assert [each["if"] for each in uploads] == ["always()", "always()"]
    assert gitlab()["invertgate-shard"]["artifacts"]["when"] == "always"
    assert gitlab()["invertgate"]["artifacts"]["when"] == "always"


def test_gate_job_waits_for_the_shards_and_is_never_skipped() -> None:
    gate = github()["jobs"]["gate"]

    assert (gate["name"], gate["needs"], gate["if"]) == ("invertgate", "shard", "always()")
    assert gitlab()["invertgate"]["rules"][0]["when"] == "always"


def test_install_command_is_where_projects_are_installed() -> None:
    assert github()["env"]["INSTALL"] == INSTALL
    assert gitlab()[".invertgate"]["before_script"] == [INSTALL]


def test_label_counts_only_in_the_run_that_setting_it_starts() -> None:
    policy = step("shard", "Judge the rows of this shard")["env"]["POLICY"]

    assert "github.event.action == 'labeled'" in policy
    assert "github.event.label.name == 'invertgate-policy-head'" in policy
    assert policy.endswith("&& 'head' || 'base' }}")


@pytest.mark.parametrize(
    ("exit_code", "job"),
    [(0, 0), (1, 0), (3, 0), (4, 0), (8, 0), (2, 2), (5, 5), (6, 6), (7, 7), (70, 70), (130, 130)],
)
def test_shard_that_was_judged_leaves_the_word_to_the_gate(
    exit_code: int, job: int, tmp_path: Path
) -> None:
    script = step("shard", "Judge the rows of this shard")["run"]
    variables = {"SHARD": "2/4", "POLICY": "base"}

    code, asked, _ = run_script(script, tmp_path, variables, exit_code)

    assert (code, asked) == (job, "run --changed --shard 2/4 --policy base")


@pytest.mark.parametrize(
    ("exit_code", "shards", "on_3", "on_8", "job"),
    [
        (0, "success", "fail", "fail", 0),
        (1, "success", "warn", "warn", 1),
        (4, "success", "warn", "warn", 4),
        (3, "success", "fail", "warn", 3),
        (3, "success", "warn", "fail", 0),
        (8, "success", "warn", "fail", 8),
        (8, "success", "fail", "warn", 0),
        (3, "failure", "warn", "warn", 3),
        (0, "failure", "fail", "fail", 3),
        (0, "cancelled", "warn", "warn", 3),
        (6, "failure", "fail", "fail", 6),
        (2, "skipped", "warn", "warn", 2),
    ],
)
def test_gate_job_ends_as_the_joined_run_unless_a_person_chose_otherwise(
    exit_code: int, shards: str, on_3: str, on_8: str, job: int, tmp_path: Path
) -> None:
    script = step("gate", "Join the shards")["run"]
    variables = {"SHARDS": shards, "ON_EXIT_3": on_3, "ON_EXIT_8": on_8}

    code, asked, said = run_script(script, tmp_path, variables, exit_code)

    assert (code, asked) == (job, "merge invertgate.shards")
    assert ("::error" in said) == (shards != "success")
    assert ("::warning" in said) == (job == 0 != exit_code)


@pytest.mark.parametrize(
    ("labels", "policy"),
    [
        ("", "base"),
        ("bug,invertgate-policy-head", "head"),
        ("invertgate-policy-head,bug", "head"),
        ("not-invertgate-policy-head", "base"),
        ("invertgate-policy-headless,bug", "base"),
    ],
)
def test_label_of_a_merge_request_chooses_the_policy(
    labels: str, policy: str, tmp_path: Path
) -> None:
    [script] = gitlab()["invertgate-shard"]["script"]
    variables = {
        "CI_NODE_INDEX": "1",
        "CI_NODE_TOTAL": "2",
        "CI_MERGE_REQUEST_LABELS": labels,
    }

    code, asked, _ = run_script(script, tmp_path, variables, 8)

    assert (code, asked) == (0, f"run --changed --shard 1/2 --policy {policy}")


def test_each_shard_of_gitlab_keeps_its_report_apart(tmp_path: Path) -> None:
    report = tmp_path / "invertgate.out" / "report.json"
    report.parent.mkdir()
    report.write_text("{}")

    script = "\n".join(gitlab()["invertgate-shard"]["after_script"])
    code, _, _ = run_script(f"invertgate; {script}", tmp_path, {"CI_NODE_INDEX": "2"}, 0)

    assert code == 0
    assert (tmp_path / "invertgate.shards" / "2" / "report.json").is_file()
