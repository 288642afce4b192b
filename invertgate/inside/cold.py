"""A fresh process that runs one test, and tells what happened. PYTEST_DONT_REWRITE."""

import json
import os
from typing import Any, Final

import pytest

from . import boot, record, settings
from .collected import Collected
from .items import act_as_worker
from .record import Record
from .switch import SWITCH

_exit: Final = os._exit  # bound now: a test may leave its own in their places
_open: Final = open
_replace: Final = os.replace
_getpid: Final = os.getpid
_dumps: Final = json.dumps


def _is_inverted() -> bool:
    return SWITCH.inverted != frozenset(boot.Here.boot.nothing())


class Cold(Collected):
    """A fresh process that runs one test and tells what happened."""

    def __init__(self, told: str) -> None:
        super().__init__()
        with open(told, encoding="utf-8") as file:
            orders = json.load(file)
        self._test: str = orders["test"]
        self._answer: str = orders["answer"]
        self._worker: dict[str, Any] = orders["worker"]
        self._process = os.getpid()
        os.environ.pop(settings.COLD)

    def replaced(self, session: pytest.Session, items: list[pytest.Item]) -> list[pytest.Item]:
        """Keep the one test."""
        return [item for item in items if item.nodeid == self._test]

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run the test, and end the process before anything else can."""
        act_as_worker(session.config, self._worker)
        ending, reason = self.stand_of(self._test)
        item = self.items.get(self._test)
        if _is_inverted() and item is not None and item.get_closest_marker("external"):
            self._tell({"ending": "ended without a report", "message": "it has an outside cost"})
        if ending:
            self._tell({"ending": ending, "message": reason})
        else:
            self._tell(record.run(self.items[self._test]))
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> bool:
        """Run a test once, whatever plugins would do with it."""
        record.protocol(item)
        return True

    def _tell(self, told: Record) -> None:
        if _getpid() != self._process:  # a child that the test forked, and that came back here
            _exit(0 if told["ending"] == "passed" else 1)
        temporary = self._answer + ".part"
        with _open(temporary, "wb") as file:
            file.write(_dumps(told).encode("utf-8", "backslashreplace") + b"\n")
        _replace(temporary, self._answer)
        _exit(0)
