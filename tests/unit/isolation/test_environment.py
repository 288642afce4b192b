from pathlib import Path

import pytest

from invertgate.isolation.environment import environment, install_inside
from invertgate.isolation.trees import Trees


@pytest.fixture
def trees(tmp_path: Path) -> Trees:
    return Trees(tmp_path, "project", 1)


def test_private_folders_take_the_place_of_the_users(trees: Trees) -> None:
    made = environment({"HOME": "/home/me", "XDG_CACHE_HOME": "/home/me/.cache"}, trees, "")

    assert made["HOME"] == str(trees.scratch / "0" / "home")
    assert made["TMPDIR"] == str(trees.scratch / "0" / "tmp")
    assert "XDG_CACHE_HOME" not in made


def test_git_and_other_tools_do_not_reach_in(trees: Trees) -> None:
    given = {"GIT_DIR": "/repo/.git", "COV_CORE_SOURCE": "x", "INVERTGATE_RUN": "/tmp/other"}

    made = environment({**given, "KEPT": "yes"}, trees, "")

    assert not {"GIT_DIR", "COV_CORE_SOURCE"} & made.keys()
    assert made["INVERTGATE_RUN"] == str(trees.scratch)
    assert made["KEPT"] == "yes"


def test_users_python_path_comes_after_ours(trees: Trees) -> None:
    made = environment({"PYTHONPATH": "/lib"}, trees, "")

    assert made["PYTHONPATH"] == f"{trees.scratch / 'b'}:/lib"


def test_packages_of_the_users_home_are_still_found(trees: Trees) -> None:
    assert environment({"PYTHONUSERBASE": "/mine"}, trees, "")["PYTHONUSERBASE"] == "/mine"
    assert environment({}, trees, "")["PYTHONUSERBASE"]


def test_what_runs_inside_is_put_where_every_python_finds_it(trees: Trees) -> None:
    install_inside(trees)

    assert (trees.scratch / "b" / "sitecustomize.py").is_file()
    assert (trees.scratch / "b" / "_invertgate_inside" / "switch.py").is_file()
