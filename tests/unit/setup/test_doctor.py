import json
import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from invertgate.cli import Installed, perform
from invertgate.doctor import examine
from invertgate.doctor_imports import packages_of
from invertgate.patch.projects import Project
from invertgate.report.checkup import Check, State
from invertgate.request import Request
from support.repo import Repo, hermetic_environment, two_commits

BASE = {
    "pyproject.toml": '[tool.pytest.ini_options]\npythonpath = ["src"]\n',
    "src/shop/__init__.py": "",
    "src/shop/orders.py": "def total(x):\n    return x\n",
    "tests/test_orders.py": "from shop.orders import total\ndef test_total():\n    assert 1\n",
}
HEAD = {
    **BASE,
    "src/shop/orders.py": "def total(x):\n    if x < 0:\n        return 0\n    return x\n",
}

THREADS = "from threading import *\nThread(target=Event().wait, daemon=True).start()\n"


def examined(root: Path) -> dict[str, list[Check]]:
    environment = {**hermetic_environment(), "PATH": os.environ["PATH"]}
    found: dict[str, list[Check]] = {}
    for check in examine(Request(root=root, environment=environment)):
        found.setdefault(check.name, []).append(check)
    return found


def patched(tmp_path: Path, changes: Mapping[str, str]) -> Path:
    return two_commits(tmp_path / "shop", BASE, {**HEAD, **changes}).path


def worst(checks: list[Check]) -> Check:
    return max(checks, key=lambda check: list(State).index(check.state))


def test_project_that_is_set_up_has_no_problem(tmp_path: Path) -> None:
    top = patched(tmp_path, {})
    before = Repo(top).status()

    found = examined(top / "src")

    assert not [c for checks in found.values() for c in checks if c.state is State.PROBLEM]
    assert worst(found["base"]).text.startswith("merge base with origin/main (")
    assert worst(found["imports"]).text == "shop: 3 modules came from the private copy"
    assert worst(found["tests"]).text == "pytest collects 1 test in a private copy"
    assert "inverted code can be kept" in worst(found["contain"]).text
    assert worst(found["table"]).cure == "`invertgate bind` searches a test for each"
    assert Repo(top).status() == before


def test_modules_that_do_not_come_from_the_copy_are_a_problem(tmp_path: Path) -> None:
    elsewhere = tmp_path / "site"
    elsewhere.joinpath("shop").mkdir(parents=True)
    elsewhere.joinpath("shop", "__init__.py").write_text("")
    elsewhere.joinpath("shop", "orders.py").write_text("def total(x):\n    return x\n")
    conftest = f"import sys\nsys.path.insert(0, {str(elsewhere)!r})\n"
    top = patched(tmp_path, {"conftest.py": conftest})

    check = worst(examined(top)["imports"])

    assert check.state is State.PROBLEM
    assert f"shop came from {elsewhere / 'shop' / '__init__.py'}" in check.text
    assert "pip install -e ." in check.cure


@pytest.mark.parametrize(
    ("changes", "name", "state", "words"),
    [
        ({"src/shop/__init__.py": "import no_such_thing\n"}, "imports", State.PROBLEM, "no_such"),
        ({"tests/test_orders.py": "import nope\n"}, "tests", State.PROBLEM, "1 file cannot"),
        ({"pytest.ini": "[pytest]\naddopts = --nope\n"}, "tests", State.PROBLEM, "--nope"),
        ({"branch_rows.json": "[\n<<<<<<< x\n"}, "table", State.PROBLEM, "conflict"),
        ({"src/shop/orders.py": "def (\n"}, "table", State.PROBLEM, "orders.py:1 does not parse"),
        ({"pyproject.toml": "[tool.invertgate]\nconfrim = 3\n"}, "options", State.PROBLEM, "conf"),
        ({"pyproject.toml": "[tool\n"}, "options", State.PROBLEM, "not valid TOML"),
        ({"conftest.py": THREADS}, "fork", State.WARNING, "imports start threads"),
        ({".coverage": "no data"}, "data", State.WARNING, "cannot be read"),
    ],
)
def test_what_is_wrong_is_found_with_its_cure(
    changes: Mapping[str, str], name: str, state: State, words: str, tmp_path: Path
) -> None:
    top = patched(tmp_path, changes)

    check = worst(examined(top)[name])

    assert check.state is state
    assert words in check.text


def test_clone_that_is_too_shallow_is_told_how_to_get_deeper(tmp_path: Path) -> None:
    origin = two_commits(tmp_path / "origin", BASE, HEAD)
    origin.switch("main")
    clone = origin.clone(tmp_path / "clone", "--depth=1", "--no-single-branch", "--branch=patch")

    found = examined(clone.path)

    assert "a shallow clone" in worst(found["git"]).text
    assert worst(found["base"]).state is State.PROBLEM
    assert "git fetch --unshallow" in worst(found["base"]).cure
    assert worst(found["imports"]).state is State.OK


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (["shop/__init__.py", "shop/a/__init__.py", "shop/a/b.py"], {"shop"}),
        (["src/shop/__init__.py", "setup.py", "deploy.py"], {"shop"}),
        (["tests/__init__.py", "tests/test_a.py", "docs/conf.py"], set()),
        (["vendor/deep/lib/__init__.py"], set()),
        (["a-b/__init__.py"], set()),
    ],
)
def test_packages_are_imported_and_scripts_are_not(paths: list[str], names: set[str]) -> None:
    assert packages_of(paths, Project()) == names


def test_outside_of_a_repository_it_says_what_it_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)

    code = perform(["doctor", "--json"], Installed())

    told = json.loads(capsys.readouterr().out)
    names = {check["name"]: check for check in told["checks"]}
    assert code == 1
    assert told["counts"]["problem"] == 1
    assert names["git"]["cure"] == "run invertgate in one (git init)"
    assert names["python"]["text"].endswith(sys.executable)


def test_pages_say_the_cure_below_and_end_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)

    perform(["doctor"], Installed())

    lines = capsys.readouterr().out.splitlines()
    assert lines[-3].startswith("problem  git ")
    assert lines[-2].strip() == "cure: run invertgate in one (git init)"
    assert lines[-1] == "1 problem, 0 warnings: mend the problems"


def test_request_is_left_as_it_was(tmp_path: Path) -> None:
    request = Request(root=tmp_path, environment=hermetic_environment())

    examine(request)

    assert request == replace(request)
