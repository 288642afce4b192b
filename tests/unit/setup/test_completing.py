import json
import os
import shutil
import subprocess
from pathlib import Path

import click
import pytest

from invertgate.cli import Installed, perform
from invertgate.completing import revisions, rows
from support.repo import Repo
from support.run import COMMAND

CONTEXT = click.Context(click.Command("run"))
PARAM = click.Option(["--id"])
ROW = {
    "id": "0e39ba75e0ba",
    "path": "shop/orders.py",
    "line": 7,
    "predicate": "x < 0",
    "side": "true",
    "verdict": "weak",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    below = tmp_path / "shop"
    below.mkdir()
    monkeypatch.chdir(below)
    return tmp_path


def report(folder: Path, *found: dict[str, object]) -> None:
    (folder / "invertgate.out").mkdir()
    (folder / "invertgate.out" / "report.json").write_text(json.dumps({"rows": found}))


def test_ids_of_the_last_report_come_with_what_they_are(folder: Path) -> None:
    report(folder, ROW)

    [item] = rows(CONTEXT, PARAM, "0e")

    assert (item.value, item.help) == ("0e39ba75e0ba", "weak shop/orders.py:7 x < 0 true")


def test_ids_of_the_table_where_there_is_no_report(folder: Path) -> None:
    (folder / "branch_rows.json").write_text(json.dumps([{**ROW, "line": 0, "verdict": None}]))

    [item] = rows(CONTEXT, PARAM, "")

    assert (item.value, item.help) == ("0e39ba75e0ba", "shop/orders.py x < 0 true")


def test_other_ids_are_not_offered(folder: Path) -> None:
    report(folder, ROW)

    assert rows(CONTEXT, PARAM, "ff") == []


@pytest.mark.parametrize("content", ["", "[", "{}", '{"rows": 3}', '{"rows": [3]}', "\x00"])
def test_nothing_is_said_of_a_report_that_is_none(content: str, folder: Path) -> None:
    (folder / "invertgate.out").mkdir()
    (folder / "invertgate.out" / "report.json").write_text(content)

    assert rows(CONTEXT, PARAM, "") == []


def test_control_characters_stay_out_of_the_shell(folder: Path) -> None:
    report(folder, {**ROW, "predicate": "x == '\x1b[31m'\n"})

    [item] = rows(CONTEXT, PARAM, "")

    assert item.help is not None
    assert item.help.isprintable()


def test_branches_are_offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = Repo(tmp_path / "shop")
    repo.commit()
    repo.remote_branch("main")
    monkeypatch.chdir(repo.path)

    found = [item.value for item in revisions(CONTEXT, PARAM, "")]

    assert found == ["HEAD", "main", "origin/main"]


def test_no_branch_is_offered_outside_of_a_repository(folder: Path) -> None:
    assert folder.is_dir()
    assert revisions(CONTEXT, PARAM, "") == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_script_names_the_command(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    code = perform(["completion", shell], Installed())

    script = capsys.readouterr().out
    assert code == 0
    assert f"_INVERTGATE_COMPLETE={shell}_complete" in script
    if found := shutil.which(shell):
        subprocess.run([found, "-n"], input=script, text=True, check=True)


def test_bash_completes_a_row(folder: Path) -> None:
    report(folder, ROW)
    environment = {
        **os.environ,
        "COMP_WORDS": "invertgate run --id 0e",
        "COMP_CWORD": "3",
        "_INVERTGATE_COMPLETE": "bash_complete",
    }

    done = subprocess.run(
        [COMMAND], env=environment, capture_output=True, text=True, check=True, cwd=folder
    )

    assert done.stdout == "plain,0e39ba75e0ba\n"
