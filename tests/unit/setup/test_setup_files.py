import json
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path

import pytest

from invertgate.cli import Installed, perform
from invertgate.errors import UsageError
from invertgate.recipe_texts import options_block
from invertgate.request import Request
from invertgate.setup_files import GITLAB, INCLUDED, WORKFLOW, Did, Host, Setup, init
from support.repo import Repo, hermetic_environment

FILES = ("pyproject.toml", ".gitignore", WORKFLOW, GITLAB)


def repository(tmp_path: Path, files: Mapping[str, str | bytes] | None = None) -> Path:
    repo = Repo(tmp_path / "shop")
    repo.write({"shop/__init__.py": "", **(files or {})})
    return repo.path


def set_up(root: Path, hosts: tuple[Host, ...] | None = None) -> Setup:
    return init(Request(root=root, environment=hermetic_environment()), hosts)


def did(setup: Setup) -> dict[str, Did]:
    return {step.path: step.did for step in setup.steps}


def contents(top: Path) -> dict[str, bytes]:
    return {
        path.relative_to(top).as_posix(): path.read_bytes()
        for path in top.rglob("*")
        if path.is_file() and ".git/" not in path.as_posix()
    }


def test_bare_repository_gets_everything(tmp_path: Path) -> None:
    top = repository(tmp_path)

    setup = set_up(top)

    assert did(setup) == dict.fromkeys(FILES, Did.WROTE)
    assert tomllib.loads((top / "pyproject.toml").read_text()) == {"tool": {"invertgate": {}}}
    assert (top / ".gitignore").read_text() == "invertgate.out/\n"


def test_second_time_changes_nothing(tmp_path: Path) -> None:
    top = repository(tmp_path)
    set_up(top)
    before = contents(top)

    setup = set_up(top)

    assert did(setup) == dict.fromkeys(FILES, Did.LEFT)
    assert contents(top) == before


def test_what_is_there_stays_byte_for_byte(tmp_path: Path) -> None:
    pyproject = b'# mine\n[tool.black]\nline-length=99 # why not\n\n\n[[tool.x.y]]\na = "b"'
    top = repository(tmp_path, {"pyproject.toml": pyproject, ".gitignore": "*.pyc"})

    setup = set_up(top)

    after = (top / "pyproject.toml").read_bytes()
    assert did(setup)["pyproject.toml"] is Did.ADDED
    assert after == pyproject + b"\n\n" + options_block().encode()
    assert (top / ".gitignore").read_bytes() == b"*.pyc\ninvertgate.out/\n"


def test_lines_end_as_those_before_them(tmp_path: Path) -> None:
    files = {"pyproject.toml": b"[tool.black]\r\n", ".gitignore": b"*.pyc\r\n"}
    top = repository(tmp_path, files)

    set_up(top)

    for name, before in files.items():
        written = (top / name).read_bytes()
        assert written.startswith(before)
        assert written.count(b"\n") == written.count(b"\r\n")
    assert "invertgate" in tomllib.loads((top / "pyproject.toml").read_text())["tool"]


@pytest.mark.parametrize(
    ("source", "why"),
    [
        (b"[tool.invertgate]\nconfirm = 3\n", "already"),
        (b"tool = {black = {}}\n", "closed"),
        (b"tool.invertgate.confirm = 3\n", "already"),
    ],
)
def test_options_that_cannot_be_added_are_left_alone(
    source: bytes, why: str, tmp_path: Path
) -> None:
    top = repository(tmp_path, {"pyproject.toml": source})

    setup = set_up(top)

    assert setup.steps[0].did is Did.LEFT
    assert why in setup.steps[0].what
    assert (top / "pyproject.toml").read_bytes() == source


def test_malformed_pyproject_stops_before_anything_is_written(tmp_path: Path) -> None:
    top = repository(tmp_path, {"pyproject.toml": "[tool\n"})
    before = contents(top)

    with pytest.raises(UsageError, match=r"pyproject\.toml is not valid TOML.*nothing was written"):
        set_up(top)

    assert contents(top) == before


def test_other_pipelines_of_gitlab_include_ours(tmp_path: Path) -> None:
    top = repository(tmp_path, {GITLAB: "test:\n  script: [pytest]\n"})

    setup = set_up(top)

    assert did(setup)[INCLUDED] is Did.WROTE
    assert (top / GITLAB).read_text() == "test:\n  script: [pytest]\n"
    assert any(f"include: [{{local: {INCLUDED}}}]" in line for line in setup.next)


@pytest.mark.parametrize(
    ("address", "left"),
    [
        ("git@github.com:ada/shop.git", {GITLAB}),
        ("https://token@github.example.org/ada/gitlab.git", {GITLAB}),
        ("https://gitlab.com/ada/github.git", {WORKFLOW}),
        ("ssh://git@gitlab.example.org:22/ada/shop.git", {WORKFLOW}),
        ("/srv/github/shop.git", set()),
        ("https://git.example.org/ada/shop.git", set()),
    ],
)
def test_address_of_origin_says_whose_ci_gets_jobs(
    address: str, left: set[str], tmp_path: Path
) -> None:
    top = repository(tmp_path)
    Repo(top).git("remote", "add", "origin", address)

    setup = set_up(top)

    assert {path for path, what in did(setup).items() if what is Did.LEFT} == left
    assert {path for path in (WORKFLOW, GITLAB) if not (top / path).exists()} == left


def test_subfolder_sets_up_the_repository(tmp_path: Path) -> None:
    top = repository(tmp_path, {"pyproject.toml": "[project]\nname = 'shop'\n"})

    set_up(top / "shop")

    assert "[tool.invertgate]" in (top / "pyproject.toml").read_text()
    assert (top / WORKFLOW).is_file()
    assert list((top / "shop").iterdir()) == [top / "shop" / "__init__.py"]


def test_project_of_its_own_in_a_monorepo_gets_its_own_options(tmp_path: Path) -> None:
    own = "[tool.pytest.ini_options]\n[project]\nname = 'pay'\n"
    top = repository(tmp_path, {"pay/pyproject.toml": own, "pay/src/pay/__init__.py": ""})

    setup = set_up(top / "pay" / "src")

    assert setup.steps[0].path == "pay/pyproject.toml"
    assert not (top / "pyproject.toml").exists()
    assert "install -e ./pay" in (top / WORKFLOW).read_text()


def test_what_cannot_be_written_is_told_and_the_rest_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    top = repository(tmp_path, {".github": "a file where a folder is needed"})
    monkeypatch.chdir(top)

    code = perform(["init"], Installed())

    said = capsys.readouterr().out
    assert code == 2
    assert "failed      .github/workflows/invertgate.yml" in said
    assert "cannot be written" in said
    assert (top / GITLAB).is_file()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_read_only_folder_is_told(tmp_path: Path) -> None:
    top = repository(tmp_path)
    top.chmod(0o555)

    setup = set_up(top)
    top.chmod(0o755)

    assert set(did(setup).values()) == {Did.FAILED}
    assert "Permission denied" in setup.steps[0].what


def test_link_out_of_the_repository_is_not_written(tmp_path: Path) -> None:
    outside = tmp_path / "ignore"
    outside.write_text("mine\n")
    top = repository(tmp_path)
    (top / ".gitignore").symlink_to(outside)

    setup = set_up(top)

    assert did(setup)[".gitignore"] is Did.FAILED
    assert outside.read_text() == "mine\n"


def test_outside_of_a_repository_is_one_line_and_exit_5(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)

    code = perform(["init"], Installed())

    assert code == 5
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(
    ("chosen", "hosts"),
    [("github", {WORKFLOW}), ("gitlab", {GITLAB}), ("both", {WORKFLOW, GITLAB}), ("none", set())],
)
def test_hosts_can_be_chosen(
    chosen: str, hosts: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    top = repository(tmp_path)
    monkeypatch.chdir(top)

    code = perform(["init", "--ci", chosen], Installed())

    assert code == 0
    assert {path for path in (WORKFLOW, GITLAB) if (top / path).exists()} == hosts


def test_options_written_change_nothing_of_how_the_project_is_judged(tmp_path: Path) -> None:
    top = repository(tmp_path)
    set_up(top)
    repo = Repo(top)
    repo.commit("base")
    repo.remote_branch("main")

    code = perform_in(top, "run", "--changed", "--json")

    assert code == 0
    assert json.loads((top / "invertgate.out" / "report.json").read_text())["exit_code"] == 0


def perform_in(folder: Path, *argv: str) -> int:
    before = Path.cwd()
    os.chdir(folder)
    try:
        return perform(argv, Installed())
    finally:
        os.chdir(before)
