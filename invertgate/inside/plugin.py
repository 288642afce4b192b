"""The pytest plugin of a run: collected tests give way to experiments with them.

One plugin for all processes of a run, with a part for each: the controller lends every
pytest-xdist worker a tree and passes on what they report; a worker carries out experiments; a
cold process runs the one test that it is for. PYTEST_DONT_REWRITE
"""

import contextlib
import itertools
import json
import os
import sys
from typing import Any, Final

import pytest

from . import boot, measure, record, settings
from .cold import Cold
from .items import PROPERTY, report_on
from .keeper import OtherKeeping
from .limits import die_with_parent
from .loading import keep_rewritten_tests, move_to_front, rebased_path
from .observe import Collecting, Searching
from .worker import Worker

EVENTS: Final = "INVERTGATE_EVENTS"
"""Environment variable of the controller: the descriptor on which it tells what happens."""

DEPTH: Final = "invertgate_depth"
"""Key in what a worker is told: how many frames lie below a run in plain pytest."""
_WELL_KNOWN: Final = frozenset(("_pytest", "xdist", "_invertgate_inside"))

sys.path[:] = rebased_path(boot.Here.loading)  # xdist brings along the controller's
move_to_front()
keep_rewritten_tests(boot.Here.loading)
measure.start()


def pytest_configure(config: pytest.Config) -> None:
    """Register the part that this process plays."""
    move_to_front()
    if settings.COLD in os.environ:
        config.pluginmanager.register(Cold(os.environ[settings.COLD]), "invertgate-cold")
    elif settings.KEEPER in os.environ:
        config.pluginmanager.register(OtherKeeping(_plan()), "invertgate-keeper")
    elif hasattr(config, "workerinput"):
        config.pluginmanager.register(_worker(config, _plan()), "invertgate-worker")
    else:
        config.pluginmanager.register(Controller(), "invertgate-controller")


def _plan() -> dict[str, Any]:
    """Read what the session is to do: all of it, so that only those do who need it."""
    with open(os.path.join(boot.Here.boot.scratch, "plan.json"), encoding="utf-8") as file:
        plan: dict[str, Any] = json.load(file)
    return plan


def _worker(config: pytest.Config, plan: dict[str, Any]) -> object:
    record.expect_depth(getattr(config, "workerinput", {}).get(DEPTH, 0))
    if plan["mode"] == "collect":
        return Collecting()
    if plan["mode"] == "search":
        return Searching()
    if plan["mode"] == "measure":
        return measure.Measuring(plan, report_on)
    return Worker(config, plan)


@pytest.hookimpl(optionalhook=True)
def pytest_timeout_set_timer() -> bool:
    """Keep pytest-timeout from failing a test on the clock: a busy machine is no verdict."""
    return True


@pytest.hookimpl(optionalhook=True)
def pytest_timeout_cancel_timer() -> bool:
    """Do nothing where nothing was set."""
    return True


class Controller:
    """Lends trees to workers, and passes on what they report."""

    def __init__(self) -> None:
        die_with_parent()
        self._events = os.fdopen(int(os.environ.pop(EVENTS)), "wb", buffering=0)
        os.set_inheritable(self._events.fileno(), False)
        self._lent: dict[str, int] = {}
        self._depth = 0

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Move a new worker to a tree that no other has; a replacement gets its predecessor's."""
        number = next(each for each in itertools.count() if each not in self._lent.values())
        self._lent[node.gateway.id] = number
        top = boot.Here.boot.tree(number)
        node.workerinput[DEPTH] = self._depth
        folder = os.path.join(top, os.path.relpath(boot.Here.folder, boot.Here.boot.tree(0)))
        channel = node.gateway.remote_exec(
            "import os\n"
            f"os.chdir({os.path.normpath(folder)!r})\n"
            "from _invertgate_inside import boot\n"
            f"boot.enter({number})\n"
        )
        channel.waitclose()

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """See how deep the stack is, and keep our reports from the hooks of the project."""
        self._depth = record.depth() + 1  # pytest's loop is called one frame further up
        hook = session.config.hook.pytest_runtest_logreport
        for impl in hook.get_hookimpls():
            module = str(getattr(impl.function, "__module__", ""))
            if module.split(".", maxsplit=1)[0] not in _WELL_KNOWN:
                with contextlib.suppress(Exception):
                    hook._remove_plugin(impl.plugin)  # noqa: SLF001  # it stays for all else

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Pass on what a worker tells with a report."""
        for name, value in report.user_properties:
            if name == PROPERTY:
                self._tell(json.loads(str(value)))

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        """Take back the tree of a worker that is gone."""
        self._lent.pop(node.gateway.id, None)

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        """Tell that the session came to its end."""
        self._tell({"event": "finished", "status": int(exitstatus)})

    def _tell(self, event: dict[str, Any]) -> None:
        line = json.dumps(event).encode("utf-8", "backslashreplace") + b"\n"
        view = memoryview(line)
        while view:
            view = view[self._events.write(view) or 0 :]
