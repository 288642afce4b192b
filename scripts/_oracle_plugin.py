"""A pytest plugin that writes down what one run said: reports by nodeid, and the files imported.

The oracle gives it to pytest under the name ``oracle_plugin``, in a folder of its own.
"""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

# Kept from the start: a test may empty the environment.
REPORT_FILE: Final = os.environ.get("ORACLE_REPORT", os.devnull)


def _write(**entry: object) -> None:
    with Path(REPORT_FILE).open("a", encoding="utf-8") as report:
        report.write(json.dumps(entry) + "\n")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Write down one phase of one test."""
    crash = getattr(report.longrepr, "reprcrash", None)
    _write(
        test=report.nodeid,
        when=report.when,
        outcome=report.outcome,
        xfail=hasattr(report, "wasxfail"),
        message=str(crash or report.longrepr or "")[:500],
    )


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish() -> Iterator[None]:
    """Write down where the modules came from."""
    files = {getattr(module, "__file__", None) for module in list(sys.modules.values())}
    _write(imported=sorted(file for file in files if isinstance(file, str)))
    yield
