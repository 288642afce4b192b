"""The bare floor: collect once, then fork for each run, run one item, wait. No switch, no verdict.

``_floor.py ORDERS ANSWER [PYTEST ARGUMENTS]``: ORDERS is a JSON list of nodeids, one a run; ANSWER
becomes a JSON object of CPU seconds. Needs pytest alone.
"""

import json
import os
import resource
import sys
from pathlib import Path

import pytest
from _pytest.runner import runtestprotocol


class Floor:
    """Runs items in forks, in place of pytest's loop."""

    def __init__(self, nodeids: list[str]) -> None:
        self._nodeids = nodeids
        self.told: dict[str, float] = {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run each nodeid of the orders."""
        items = {item.nodeid: item for item in session.items}
        whole = _cpu(resource.RUSAGE_SELF) + _cpu(resource.RUSAGE_CHILDREN)
        forks = _cpu(resource.RUSAGE_CHILDREN)
        for nodeid in self._nodeids:
            _run_in_fork(items[nodeid])
        self.told = {
            "runs": len(self._nodeids),
            "cpu": _cpu(resource.RUSAGE_SELF) + _cpu(resource.RUSAGE_CHILDREN) - whole,
            "forks": _cpu(resource.RUSAGE_CHILDREN) - forks,
        }
        return True


def _run_in_fork(item: pytest.Item) -> None:
    pid = os.fork()
    if pid == 0:
        reports = runtestprotocol(item, log=False, nextitem=None)
        os._exit(0 if all(report.passed for report in reports) else 1)
    _, status, _ = os.wait4(pid, 0)
    if status != 0:
        raise AssertionError(f"{item.nodeid} does not pass in a fork")


def _cpu(who: int) -> float:
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def main(orders: str, answer: str, *arguments: str) -> int:
    """Measure; 0 if every run passed."""
    floor = Floor(json.loads(Path(orders).read_text("utf-8")))
    code = pytest.main(["-q", "-p", "no:cacheprovider", *arguments], plugins=[floor])
    Path(answer).write_text(json.dumps(floor.told), "utf-8")
    return 0 if floor.told else int(code) or 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
