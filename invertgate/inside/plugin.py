"""The pytest plugin of a run: collected tests give way to experiments with them.

One plugin for all processes of a run, with a part for each: the controller lends every
pytest-xdist worker a tree and passes on what they report; a worker carries out experiments; a
cold process runs the one test that it is for. PYTEST_DONT_REWRITE
"""

import contextlib
import fnmatch
import itertools
import json
import os
import re
import socket
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, Final

import pytest

from . import boot, measure, record, settings
from .limits import adopt_orphans, die_with_parent
from .loading import move_to_front, rebased_path
from .record import Record
from .runs import Order, Runner, serve
from .steps import Bench, Experiment, Options, RowAtWork, holds, look
from .switch import SWITCH

EVENTS: Final = "INVERTGATE_EVENTS"
"""Environment variable of the controller: the descriptor on which it tells what happens."""
_PROPERTY: Final = "invertgate"
_POOL: Final = 20_000
_ADDRESS: Final = re.compile(r"0x[0-9a-fA-F]{6,}")
_INTERNAL: Final = frozenset(("taken", "chance", "bare"))

sys.path[:] = rebased_path(boot.Here.loading)  # xdist brings along the controller's
move_to_front()
measure.start()


def pytest_configure(config: pytest.Config) -> None:
    """Register the part that this process plays."""
    with open(os.path.join(boot.Here.boot.scratch, "plan.json"), encoding="utf-8") as file:
        plan = json.load(file)
    move_to_front()
    if settings.COLD in os.environ:
        config.pluginmanager.register(Cold(os.environ[settings.COLD]), "invertgate-cold")
    elif hasattr(config, "workerinput"):
        config.pluginmanager.register(_worker(config, plan), "invertgate-worker")
    else:
        config.pluginmanager.register(Controller(), "invertgate-controller")


def _worker(config: pytest.Config, plan: dict[str, Any]) -> object:
    if plan["mode"] == "collect":
        return Collecting()
    if plan["mode"] == "search":
        return Searching(config)
    if plan["mode"] == "measure":
        return measure.Measuring(plan, _report_on)
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

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Move a new worker to a tree that no other has; a replacement gets its predecessor's."""
        number = next(each for each in itertools.count() if each not in self._lent.values())
        self._lent[node.gateway.id] = number
        top = boot.Here.boot.tree(number)
        folder = os.path.join(top, os.path.relpath(os.getcwd(), boot.Here.boot.tree(0)))
        channel = node.gateway.remote_exec(
            "import os\n"
            f"os.chdir({os.path.normpath(folder)!r})\n"
            "from _invertgate_inside import boot\n"
            f"boot.enter({number})\n"
        )
        channel.waitclose()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Pass on what a worker tells with a report."""
        for name, value in report.user_properties:
            if name == _PROPERTY:
                self._tell(json.loads(str(value)))
        if report.outcome == "failed" and not report.user_properties:
            self._tell({"event": "lost", "test": report.nodeid})

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        """Tell that a worker ended, which it should do without an error."""
        self._lent.pop(node.gateway.id, None)
        if error:
            self._tell(
                {"event": "worker down", "worker": str(node.gateway.id), "error": str(error)}
            )

    def pytest_internalerror(self, excrepr: object) -> None:
        """Tell what went wrong in pytest itself."""
        self._tell({"event": "internal error", "message": str(excrepr)[-4000:]})

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        """Tell that the session came to its end."""
        self._tell({"event": "finished", "status": int(exitstatus)})

    def _tell(self, event: dict[str, Any]) -> None:
        line = json.dumps(event).encode("utf-8", "backslashreplace") + b"\n"
        view = memoryview(line)
        while view:
            view = view[self._events.write(view) or 0 :]


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
        """Return the items that are run in place of those that were collected."""
        raise NotImplementedError

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


class Cold(Collected):
    """A fresh process that runs one test and tells what happened."""

    def __init__(self, told: str) -> None:
        super().__init__()
        with open(told, encoding="utf-8") as file:
            orders = json.load(file)
        self._test: str = orders["test"]
        self._answer: str = orders["answer"]
        self._inverted: bool = orders["inverted"]
        os.environ.pop(settings.COLD)

    def replaced(self, session: pytest.Session, items: list[pytest.Item]) -> list[pytest.Item]:
        """Keep the one test."""
        return [item for item in items if item.nodeid == self._test]

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run the test, and end the process before anything else can."""
        ending, reason = self.stand_of(self._test)
        if ending:
            self._tell({"ending": ending, "message": reason})
        else:
            self._tell(record.run(self.items[self._test], look_around=not self._inverted))
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> bool:
        """Run a test once, whatever plugins would do with it."""
        record.protocol(item)
        return True

    def _tell(self, told: Record) -> None:
        temporary = self._answer + ".part"
        with open(temporary, "wb") as file:
            file.write(json.dumps(told).encode("utf-8", "backslashreplace") + b"\n")
        os.replace(temporary, self._answer)
        os._exit(0)


class ExperimentItem(pytest.Item):
    """Stands in for a collected test: an experiment is what is run."""

    orders: dict[str, Any]

    def runtest(self) -> None:
        """Never called: the worker carries out the experiment in place of pytest's protocol."""
        raise AssertionError(self.name)


class Worker(Collected):
    """A worker of pytest-xdist that carries out experiments."""

    def __init__(self, config: pytest.Config, plan: dict[str, Any]) -> None:
        super().__init__()
        self._config = config
        self._plan = plan
        self._options = Options(**plan["options"])
        self._requests: Any = None
        self._zygote = 0
        self._runner: Runner | None = None
        self._at_import: set[int] = set()

    def replaced(self, session: pytest.Session, items: list[pytest.Item]) -> list[pytest.Item]:
        """Put the experiments of the plan in place of the collected tests."""
        experiments = []
        for orders in self._plan["experiments"]:
            item = ExperimentItem.from_parent(session, name=f"experiment-{orders['number']}")
            item.orders = orders
            experiments.append(item)
        return list(experiments)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self) -> None:
        """Start the process that all warm runs are forked from, before any test has run."""
        if SWITCH.board is not None:
            self._at_import = set(SWITCH.board.all_taken())
        if hasattr(os, "fork"):
            adopt_orphans()
            self._start_zygote()
        else:
            self._runner = self._new_runner()
        for plugin in _others_that_run_tests(self._config):
            self._config.pluginmanager.unregister(plugin)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> bool:
        """Carry out an experiment; in a fork, run the test itself."""
        if not isinstance(item, ExperimentItem):
            record.protocol(item)
            return True
        started = time.time()
        answer = self._carried_out(item.orders)
        report = pytest.TestReport(
            nodeid=item.nodeid,
            location=item.location,
            keywords={},
            outcome="passed",
            longrepr=None,
            when="call",
            sections=(),
            duration=time.time() - started,
            start=started,
            stop=time.time(),
            user_properties=[(_PROPERTY, json.dumps(answer))],
        )
        item.ihook.pytest_runtest_logreport(report=report)
        return True

    def pytest_sessionfinish(self) -> None:
        """Let the process go that all runs were forked from."""
        if self._requests is not None:
            self._requests.close()
        if self._zygote:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(self._zygote, 0)

    def _carried_out(self, orders: dict[str, Any]) -> dict[str, Any]:
        if not orders["rows"]:
            return self._looked_at(orders)
        tried = []
        for test in orders["tests"]:
            rows = [
                RowAtWork(each["number"], each["slot"], tuple(each["inverted"]), each["file"])
                for each in orders["rows"]
            ]
            tried.append(self._tried(test, rows))
            if orders["first"] and all(holds(row) for row in rows):
                break
        return {"event": "experiment", "number": orders["number"], "tests": tried}

    def _looked_at(self, orders: dict[str, Any]) -> dict[str, Any]:
        """Run tests alone and as they are, to see which outcomes each takes."""
        tests = [test for test in orders["tests"] if not self.stand_of(test)[0]]
        seen = []
        for test in tests:
            control = look(test, self._options, self._carry_out)
            passed = control["ending"] == "passed"
            seen.append([test, passed, control["taken"], control.get("seconds", 0.0)])
        return {"event": "looked", "number": orders["number"], "tests": seen}

    def _tried(self, test: str, rows: Sequence[RowAtWork]) -> dict[str, Any]:
        answer: dict[str, Any] = {"test": test, "stand": "", "reason": "", "rows": []}
        ending, reason = self.stand_of(test)
        if ending:
            answer.update(stand=ending, reason=reason, pool=self.pool(test))
        elif self._is_external(self.items[test]):
            answer.update(stand="external")
        else:
            bench = Bench(self._carry_out, self._restore)
            Experiment(test, self._options, bench).run(rows, self._at_import)
            answer["rows"] = [
                {"number": row.number, "runs": [_told(run, row) for run in row.runs]}
                for row in rows
            ]
        return answer

    def _is_external(self, item: pytest.Item) -> bool:
        globs = self._plan["external"]
        return item.get_closest_marker("external") is not None or any(
            fnmatch.fnmatchcase(item.nodeid, glob) for glob in globs
        )

    def _carry_out(self, order: Order) -> Record:
        if self._runner is not None:
            return self._runner.carry_out(order)
        limits = order.limits
        told = {
            "test": order.test,
            "slots": order.slots,
            "cold": order.cold,
            "limits": [limits.cpu, limits.wall, limits.memory],
        }
        answer = self._asked(told)
        answer.update(test=order.test, inverted=bool(order.slots), cold=order.cold)
        return answer

    def _restore(self) -> int:
        done = self._asked({}) if self._runner is None else self._runner.restore()
        return int(done.get("differences", 0))

    def _asked(self, told: dict[str, Any]) -> Record:
        """Ask the process that carries out runs; an empty request restores the tree."""
        try:
            self._requests.write((json.dumps(told) + "\n").encode())
            self._requests.flush()
            line = self._requests.readline()
        except OSError:
            line = b""
        if not line:
            os._exit(1)  # pytest-xdist replaces this worker, and tells that the experiment is lost
        answer: Record = json.loads(line)
        return answer

    def _start_zygote(self) -> None:
        ours, theirs = socket.socketpair()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # xdist has threads of its own; none holds our locks
            pid = os.fork()
        if pid == 0:
            ours.close()
            self._become_zygote(theirs)
        theirs.close()
        self._zygote = pid
        self._requests = ours.makefile("rwb")

    def _become_zygote(self, theirs: socket.socket) -> None:
        for plugin in list(self._config.pluginmanager.get_plugins()):
            if type(plugin).__name__ == "WorkerInteractor":
                _leave_channel(plugin)
                self._config.pluginmanager.unregister(plugin)
        serve(self._new_runner, theirs.makefile("rwb"))

    def _new_runner(self) -> Runner:
        here = boot.Here
        folder = os.path.join(here.boot.scratch, str(here.loading.number))
        return Runner(self.items, self._plan["arguments"], folder)


def _leave_channel(interactor: Any) -> None:
    """Take the descriptors of xdist's channel away from what is run: it would garble them."""
    with contextlib.suppress(Exception), open(os.devnull, "r+b") as nothing:
        io = interactor.channel.gateway._io  # noqa: SLF001  # execnet offers no other way
        for stream in (io.infile, io.outfile):
            os.dup2(nothing.fileno(), stream.fileno())


def _others_that_run_tests(config: pytest.Config) -> list[object]:
    """Return plugins that would set timers and filters around an experiment in the worker."""
    hook = config.hook.pytest_runtest_protocol
    return [
        each.plugin
        for each in hook.get_hookimpls()
        if not isinstance(each.plugin, Worker) and type(each.plugin).__name__ != "WorkerInteractor"
    ]


def _told(run: Record, row: RowAtWork) -> Record:
    told = {key: value for key, value in run.items() if key not in _INTERNAL}
    told["reached"] = row.slot in run["taken"]
    if row.file in run.get("bare", ()):
        told["notes"] = [*run.get("notes", ()), "its file was executed without being woven"]
    return told


class Collecting(Collected):
    """A worker that only tells what it collects, and which rows the tests claim."""

    def replaced(self, session: pytest.Session, items: list[pytest.Item]) -> list[pytest.Item]:
        """Keep one item, for a report to travel with."""
        tests = [(item.nodeid, _marked(item)) for item in items]
        item = ExperimentItem.from_parent(session, name="collected")
        item.orders = {"event": "collected", "tests": tests, "errors": self.errors}
        return [item]

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: ExperimentItem) -> bool:
        """Tell what was collected."""
        _report_on(item, item.orders)
        return True


def _marked(item: pytest.Item) -> list[str]:
    return [str(each) for mark in item.iter_markers("branch") for each in mark.args]


def _report_on(item: pytest.Item, told: dict[str, Any]) -> None:
    report = pytest.TestReport(
        item.nodeid,
        item.location,
        {},
        "passed",
        None,
        "call",
        user_properties=[(_PROPERTY, json.dumps(told))],
    )
    item.ihook.pytest_runtest_logreport(report=report)


class Searching:
    """A worker that runs the suite as always, and tells which outcomes each test takes."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
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
        _report_on(item, told)
        return result

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note whether the test passed."""
        if report.when == "call":
            self._passed = report.outcome == "passed"
