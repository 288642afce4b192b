"""The pytest plugin of a plain run: what was collected and reported, written into a file.

Nothing is inverted. The file is written when the session ends; a session that does not come to its
end leaves none. PYTEST_DONT_REWRITE
"""

import json
import os
import sys
from typing import Any, Final

import pytest

from . import boot
from .limits import die_with_parent
from .loading import move_to_front, rebased_path

ANSWER: Final = "INVERTGATE_ANSWER"
"""Environment variable: the file to be written."""

_open: Final = open  # bound now: a test may leave its own in their places
_replace: Final = os.replace
_getpid: Final = os.getpid
_dumps: Final = json.dumps

sys.path[:] = rebased_path(boot.Here.loading)
move_to_front()


def pytest_configure(config: pytest.Config) -> None:
    """Begin to listen."""
    move_to_front()
    answer = os.environ.pop(ANSWER, "")
    if answer:
        die_with_parent()
        config.pluginmanager.register(Witness(answer), "invertgate-witness")


class Witness:
    """Listens to pytest, and writes down what it heard."""

    def __init__(self, answer: str) -> None:
        self._answer = answer
        self._process = os.getpid()
        self._collected: list[str] = []
        self._reports: list[dict[str, Any]] = []
        self._failures: list[dict[str, Any]] = []
        self._errors: list[str] = []

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Note what is collected."""
        self._collected = [item.nodeid for item in session.items]

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note what cannot be collected."""
        if report.failed:
            lines = str(report.longrepr).strip().splitlines()
            self._errors.append(f"{report.nodeid}: {lines[-1] if lines else 'collection error'}")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note what is reported of a test."""
        self._reports.append(_told(report))

    @pytest.hookimpl(tryfirst=True)
    def pytest_exception_interact(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        """Note a failure before a debugger opens: who leaves that may leave the session as well."""
        if isinstance(report, pytest.TestReport):
            self._failures.append(_told(report))

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        """Write it down, unless this is a child that a test forked and that came back here."""
        if _getpid() != self._process:
            return
        told = {
            "tests": self._collected,
            "reports": self._reports,
            "failures": self._failures,
            "errors": self._errors,
        }
        with _open(self._answer + ".part", "wb") as file:
            file.write(_dumps(told).encode("utf-8", "backslashreplace"))
        _replace(self._answer + ".part", self._answer)


def _told(report: pytest.TestReport) -> dict[str, Any]:
    return {
        "test": report.nodeid,
        "phase": report.when,
        "outcome": report.outcome,
        "expected": _is_expected(report),
        "message": _message(report),
    }


def _is_expected(report: pytest.TestReport) -> bool:
    """Tell whether the test is marked as one that fails, whatever it did."""
    return hasattr(report, "wasxfail") or str(report.longrepr).startswith("[XPASS(strict)]")


def _message(report: pytest.TestReport) -> str:
    crash = getattr(report.longrepr, "reprcrash", None)
    if crash is not None:
        lines = str(crash.message).strip().splitlines()
        return lines[0] if lines else ""
    return str(report.longrepr[2]) if isinstance(report.longrepr, tuple) else ""
