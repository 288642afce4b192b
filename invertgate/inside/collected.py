"""What pytest collects in this process, and why a test may not be among it. PYTEST_DONT_REWRITE."""

import re
from collections.abc import Iterator
from typing import Final

import pytest

_POOL: Final = 20_000
_ADDRESS: Final = re.compile(r"\bat 0x[0-9a-fA-F]{5,16}\b|\b0x(?:7f|55|56)[0-9a-f]{10}\b")


class Collected:
    """What this process collected, and what was deselected or could not be collected."""

    def __init__(self) -> None:
        self.items: dict[str, pytest.Item] = {}
        self.twice: set[str] = set()
        self.deselected: set[str] = set()
        self.errors: dict[str, str] = {}

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(
        self, session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
    ) -> Iterator[None]:
        """Look at the items before and after all others have chosen."""
        before = {item.nodeid for item in items}
        yield
        for item in items:
            if item.nodeid in self.items:
                self.twice.add(item.nodeid)
            self.items[item.nodeid] = item
        self.deselected = before - self.items.keys()
        items[:] = self.replaced(session, items)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note what could not be collected."""
        if report.failed:
            self.errors[report.nodeid] = _last_line(report)
        elif report.skipped:
            self.errors[report.nodeid] = "skipped as a whole"

    def replaced(self, session: pytest.Session, items: list[pytest.Item]) -> list[pytest.Item]:
        """Return the items that are run in place of those that were collected: by default these."""
        return list(items)

    def stand_of(self, test: str) -> tuple[str, str]:
        """Say why a test cannot be run: an ending and a sentence, or two empty texts."""
        if _ADDRESS.search(test):
            return "not collected", "its id holds an address, which is another one in every process"
        if test in self.twice:
            return "not collected", "pytest collects more than one test of this name"
        if test in self.items:
            return "", ""
        if test in self.deselected:
            return "deselected", "it is deselected by the project's options or hooks"
        for nodeid, message in self.errors.items():
            if nodeid and (test == nodeid or test.startswith((nodeid + "::", nodeid + "/"))):
                return "collection error", message
        return "not collected", ""

    def pool(self, test: str) -> list[str]:
        """Return collected tests that a claim could mean: those of its file, or else all."""
        file = test.split("::", 1)[0]
        same_file = [each for each in self.items if each.split("::", 1)[0] == file]
        return (same_file or list(self.items))[:_POOL]


def _last_line(report: pytest.CollectReport) -> str:
    lines = [line.strip() for line in str(report.longrepr).splitlines() if line.strip()]
    errors = [line[1:].strip() for line in lines if line.startswith("E ")]
    return (errors or lines or ["no message"])[-1][:400]
