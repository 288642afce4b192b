"""What `doctor` says of the tools beside a project: Python, pytest, plugins, coverage."""

import importlib
import os
import platform
import sys
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Final

from invertgate.report.checkup import Check, ok, problem, warning

_OLDEST_PYTHON: Final = (3, 11)
_NEWEST_PYTHON: Final = (3, 13)
_OLDEST_PYTEST: Final = (7, 4)

PLUGINS: Final[Mapping[str, str]] = {
    "pytest-xdist": "gives the workers",
    "pytest-cov": "switched off while rows are judged; `--coverage` is how coverage helps",
    "pytest-randomly": "each test is run alone, so its order does not matter; a test that needs "
    "a certain seed may be unstable",
    "pytest-timeout": "switched off while rows are judged: CPU time is the limit of a run",
    "pytest-rerunfailures": "switched off while rows are judged: a second try would hide a kill",
    "pytest-asyncio": "its tests are run as always",
    "pytest-django": "each worker has its own database, as under `pytest -n`",
}
"""Plugins that change how tests run, and what becomes of that while rows are judged."""


def tools() -> Iterator[Check]:
    """Look at the interpreter that runs this, and at what is installed beside it."""
    yield _python()
    yield _fork()
    yield _pytest()
    yield from _plugins()
    yield _coverage()


def _python() -> Check:
    found = f"{platform.python_version()}, {platform.python_implementation()}, {sys.executable}"
    if sys.implementation.name != "cpython":
        return problem("python", found, "use CPython: what tests take is seen in its bytecode")
    if sys.version_info < _OLDEST_PYTHON:
        return problem("python", found, "use Python 3.11 or newer for this environment")
    if sys.version_info[:2] > _NEWEST_PYTHON:
        newest = ".".join(map(str, _NEWEST_PYTHON))
        return warning("python", found, f"nobody has tried it beyond {newest}; watch the verdicts")
    return ok("python", found)


def _fork() -> Check:
    if sys.platform == "win32" or not hasattr(os, "fork"):
        cure = "run the gate on Linux, in CI or in WSL"
        return problem("fork", f"{sys.platform} has no fork, and Windows is not supported", cure)
    if sys.platform != "linux":
        cure = "take the verdicts of CI on Linux for those that count"
        return warning("fork", f"there, but nobody has tried it on {sys.platform}", cure)
    return ok("fork", "there: rows are judged in forked processes")


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def _pytest() -> Check:
    found = _version("pytest")
    if not found:
        return problem("pytest", "is not installed here", "install invertgate beside your pytest")
    numbers = tuple(int(part) for part in found.split(".")[:2] if part.isdigit())
    if numbers < _OLDEST_PYTEST:
        return problem("pytest", found, "bring it to 7.4 or newer")
    return ok("pytest", found)


def _plugins() -> Iterator[Check]:
    for name, what in PLUGINS.items():
        if found := _version(name):
            yield ok("plugin", f"{name} {found}: {what}")
        elif name == "pytest-xdist":
            yield problem("plugin", f"{name} is missing", "pip install pytest-xdist")


def _coverage() -> Check:
    found = _version("coverage")
    if not found:
        cure = "pip install coverage, if you want `--coverage`"
        return warning("coverage", "is not installed; it is not needed, and saves runs", cure)
    try:
        importlib.import_module("coverage.tracer")
    except ImportError:
        cure = "install a build of coverage with its C extension, or do without `--coverage`"
        return warning("coverage", f"{found}, without the C tracer that tells tests apart", cure)
    if os.environ.get("COVERAGE_CORE") == "sysmon":
        cure = "set COVERAGE_CORE=ctrace where you make data with --cov-context=test"
        return warning("coverage", f"{found}, core sysmon, which may not tell tests apart", cure)
    return ok("coverage", f"{found}, core ctrace (the C tracer)")
