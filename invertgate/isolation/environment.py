"""The environment of everything that runs on a private tree."""

import os
import shutil
import site
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Final

from invertgate.inside import settings
from invertgate.isolation.trees import Trees

_NOT_PASSED_ON: Final = frozenset(
    (
        "COVERAGE_PROCESS_START",
        "COVERAGE_PROCESS_CONFIG",
        "PYTEST_CURRENT_TEST",
        "PYTEST_XDIST_WORKER",
        "PYTEST_XDIST_WORKER_COUNT",
        "PYTEST_XDIST_TESTRUNUID",
        "XDG_CACHE_HOME",
        "XDG_CONFIG_HOME",
        "XDG_DATA_HOME",
        "XDG_STATE_HOME",
        "XDG_RUNTIME_DIR",
    )
)
"""Variables that would lead a test back to the user's own folders, or to another tool."""
_NOT_PASSED_ON_PREFIXES: Final = ("GIT_", "COV_CORE_", "INVERTGATE_")
ORIGINAL: Final = "INVERTGATE_ORIGINAL"
"""The variable that names the user's tree, where it is another one than that which is judged."""
_BOOTSTRAP: Final = "b"
_PACKAGE: Final = "_invertgate_inside"


def original_of(given: Mapping[str, str], top: Path) -> Path:
    """Return the user's tree, of which modules are found that are to come from a copy.

    On a worker of a cluster the tree that is judged came from another machine, and what is
    installed for editing is looked for where it lies there.

    Args:
        given: The environment that we were started in.
        top: The tree that is judged.
    """
    return Path(given.get(ORIGINAL) or top)


def install_inside(trees: Trees) -> None:
    """Put what runs inside the user's processes into the scratch folder."""
    inside = Path(str(files("invertgate.inside")))
    bootstrap = trees.scratch / _BOOTSTRAP
    package = bootstrap / _PACKAGE
    package.mkdir(parents=True)
    for source in inside.glob("*.py"):
        target = bootstrap if source.name == "sitecustomize.py" else package
        shutil.copyfile(source, target / source.name)


def environment(given: Mapping[str, str], trees: Trees, project: str) -> dict[str, str]:
    """Return the environment of the first process that runs on the trees.

    Args:
        given: The user's environment.
        trees: The private trees; their workers change what differs between trees.
        project: The project's folder, relative to the top of a tree.
    """
    kept = {
        name: value
        for name, value in given.items()
        if name not in _NOT_PASSED_ON and not name.startswith(_NOT_PASSED_ON_PREFIXES)
    }
    bootstrap = str(trees.scratch / _BOOTSTRAP)
    path = os.pathsep.join(filter(None, (bootstrap, given.get("PYTHONPATH", ""))))
    home = given.get("HOME", str(Path.home()))
    kept.update(_where_tools_look(home, kept))
    kept.update(
        {
            settings.RUN: str(trees.scratch),
            **settings.private_variables(str(trees.place(0)), 0),
            "PYTHONPATH": path,
            "PWD": str(trees.top(0) / project),
        }
    )
    return kept


def _where_tools_look(home: str, given: Mapping[str, str]) -> dict[str, str]:
    """Name the folders in the user's home without which Python itself would not be found."""
    found = {"PYTHONUSERBASE": given.get("PYTHONUSERBASE") or site.getuserbase()}
    pyenv = Path(home, ".pyenv")
    if "PYENV_ROOT" not in given and pyenv.is_dir():
        found["PYENV_ROOT"] = str(pyenv)
    return found
