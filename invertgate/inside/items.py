"""Items of ours, and reports that carry what a worker has to tell. PYTEST_DONT_REWRITE."""

import json
import os
from typing import Any, Final

import pytest

PROPERTY: Final = "invertgate"
"""The user property of a report under which a worker tells something."""


class ExperimentItem(pytest.Item):
    """Stands in for collected tests: an experiment with them is what is run."""

    orders: dict[str, Any]

    def runtest(self) -> None:
        """Never called: the worker carries out the experiment in place of pytest's protocol."""
        raise AssertionError(self.name)


def experiment_item(session: pytest.Session, name: str, orders: dict[str, Any]) -> ExperimentItem:
    """Make an item of ours."""
    item: ExperimentItem = ExperimentItem.from_parent(session, name=name)
    item.orders = orders
    return item


def act_as_worker(config: pytest.Config, told: dict[str, Any]) -> None:
    """Let tests in a process that xdist did not start see the ids of the worker it belongs to.

    Called after configuration: xdist itself is not to believe it.
    """
    if told:
        config.workerinput = told  # type: ignore[attr-defined]
        os.environ["PYTEST_XDIST_WORKER"] = told["workerid"]
        os.environ["PYTEST_XDIST_WORKER_COUNT"] = str(told["workercount"])
        os.environ["PYTEST_XDIST_TESTRUNUID"] = told["testrunuid"]


def report_on(item: pytest.Item, told: dict[str, Any]) -> None:
    """Tell the controller something, by a report on an item."""
    item.ihook.pytest_runtest_logreport(report=report_of(item, told))


def report_of(item: pytest.Item, told: dict[str, Any]) -> pytest.TestReport:
    """Return the report by which the controller is told something."""
    return pytest.TestReport(
        item.nodeid,
        item.location,
        {},
        "passed",
        None,
        "call",
        user_properties=[(PROPERTY, json.dumps(told))],
    )
