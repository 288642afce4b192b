"""Workers that only look: at what is collected, or at what tests take. PYTEST_DONT_REWRITE."""

import time
from collections.abc import Iterator
from typing import Any

import pytest

from .collected import Collected
from .items import ExperimentItem, experiment_item, report_on
from .switch import SWITCH


class Collecting(Collected):
    """A worker that only tells what it collects, and which rows the tests claim."""

    def replaced(self, session: pytest.Session, items: list[pytest.Item]) -> list[pytest.Item]:
        """Keep one item, for a report to travel with."""
        tests = [(item.nodeid, _marked(item)) for item in items]
        told = {"event": "collected", "tests": tests, "errors": self.errors}
        return [experiment_item(session, "collected", told)]

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: ExperimentItem) -> bool:
        """Tell what was collected."""
        report_on(item, item.orders)
        return True


def _marked(item: pytest.Item) -> list[str]:
    return [str(each) for mark in item.iter_markers("branch") for each in mark.args]


class Searching:
    """A worker that runs the suite as always, and tells which outcomes each test takes."""

    def __init__(self) -> None:
        self._passed = False
        self._at_import: list[int] | None = None

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[Any]:
        """Attach what a test took to its last report."""
        board = SWITCH.board
        if board is not None:
            if self._at_import is None:
                self._at_import = board.all_taken()
            board.clear()
        self._passed = False
        started = time.monotonic()
        result = yield
        told = {
            "event": "taken",
            "test": item.nodeid,
            "passed": self._passed,
            "taken": board.all_taken() if board is not None else [],
            "at_import": self._at_import,
            "seconds": time.monotonic() - started,
            "external": item.get_closest_marker("external") is not None,
        }
        report_on(item, told)
        return result

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note whether the test passed."""
        if report.when == "call":
            self._passed = report.outcome == "passed"
