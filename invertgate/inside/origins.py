"""The pytest plugin of `invertgate doctor`: tells from where the project's modules came.

It comes beside `witness` into a pytest that only collects. What tests import was imported by then;
packages that no test has imported are imported now. PYTEST_DONT_REWRITE
"""

import importlib
import json
import os
import sys
import threading
from typing import Any, Final

import pytest

ORIGINS: Final = "INVERTGATE_ORIGINS"
"""Environment variable: the file to be written."""
PACKAGES: Final = "INVERTGATE_PACKAGES"
"""Environment variable: the packages to be imported, as a list in JSON."""


class _Threads:
    """Threads that the project's own code started: not those of plugins, as they are set up."""

    of_conftests: frozenset[str] = frozenset()
    of_plugins: frozenset[str] = frozenset()


@pytest.hookimpl(tryfirst=True)
def pytest_configure() -> None:
    """Note what conftests have started by now."""
    _Threads.of_conftests = _threads()


@pytest.hookimpl(trylast=True)
def pytest_sessionstart() -> None:
    """Note what plugins have started by now."""
    _Threads.of_plugins = _threads() - _Threads.of_conftests


def _threads() -> frozenset[str]:
    main = threading.main_thread()
    return frozenset(each.name for each in threading.enumerate() if each is not main)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish() -> None:
    """Import what is missing, and write down where all modules came from."""
    answer = os.environ.get(ORIGINS)
    if not answer:
        return
    threads = sorted(_threads() - _Threads.of_plugins)
    packages = {name: _imported(name) for name in json.loads(os.environ.get(PACKAGES, "[]"))}
    files = {
        name: file
        for name, module in list(sys.modules.items())
        if isinstance(file := getattr(module, "__file__", None), str)
    }
    told = {"packages": packages, "files": files, "threads": threads}
    with open(answer, "w", encoding="utf-8", errors="backslashreplace") as file:
        json.dump(told, file)


def _imported(name: str) -> dict[str, Any]:
    """Import a package; return its file, or why it cannot be imported."""
    try:
        module = importlib.import_module(name)
    except BaseException as error:  # noqa: BLE001  # the user's code may raise anything
        lines = str(error).splitlines()
        return {"error": f"{type(error).__name__}: {lines[0] if lines else ''}".rstrip(": ")}
    return {"file": getattr(module, "__file__", None) or ""}
