"""A worker of pytest-xdist that carries out experiments. PYTEST_DONT_REWRITE."""

import contextlib
import fnmatch
import json
import marshal
import os
import socket
import subprocess
import sys
import warnings
from collections.abc import Sequence
from typing import Any, Final

import pytest

from . import boot, record, settings
from .budget import Options
from .collected import Collected
from .items import ExperimentItem, act_as_worker, experiment_item, report_of
from .limits import adopt_orphans
from .record import Record
from .runs import Order, Runner, understood
from .steps import Experiment, RowAtWork, holds, look, never_ended
from .zygote import Answer, Request, Zygote, keep

_IDS: Final = ("workerid", "workercount", "testrunuid")
_ENDLESS: Final = 3
"""When a row is searched for a test: how many may use up their time before it is given up."""
_INTERNAL: Final = frozenset(("taken", "bare"))


class Worker(Collected):
    """Gets experiments from pytest-xdist as its items, and carries them out."""

    def __init__(self, config: pytest.Config, plan: dict[str, Any]) -> None:
        super().__init__()
        self._config = config
        self._plan = plan
        self._options = Options(**plan["options"])
        self._session: pytest.Session | None = None
        self._keeper: _Keeper | None = None
        self._other: _OtherKeeper | None = None
        self._at_import: list[int] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self, session: pytest.Session) -> bool | None:
        """Take the experiments of the plan for items; collection is for the zygotes."""
        if self._session is not None:
            return None
        self._session = session
        session.items = [
            experiment_item(session, f"experiment-{orders['number']}", orders)
            for orders in self._plan["experiments"]
        ]
        session.testscollected = len(session.items)
        _interactor(self._config).pytest_collection_finish(session)
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> None:
        """Fork the process that holds pytest as it is now, before any test was collected."""
        zygote = zygote_of(session, self, self._plan)
        self._keeper = _Keeper(self._config, zygote) if hasattr(os, "fork") else _NoKeeper(zygote)
        for plugin in _others_that_run_tests(self._config):
            self._config.pluginmanager.unregister(plugin)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> bool:
        """Carry out an experiment; in a fork, run the test itself."""
        if isinstance(item, ExperimentItem):
            told = self._carried_out(item.orders)
            _interactor(self._config).pytest_runtest_logreport(report_of(item, told))
        else:
            record.protocol(item)
        return True

    def pytest_sessionfinish(self) -> None:
        """Let the keeper go."""
        for keeper in (self._keeper, self._other):
            if keeper is not None:
                keeper.close()

    def _carried_out(self, orders: dict[str, Any]) -> dict[str, Any]:
        if not orders["rows"]:
            return self._looked_at(orders)
        tried = []
        endless = 0
        for test in orders["tests"]:
            rows = [
                RowAtWork(each["number"], each["slot"], tuple(each["inverted"]), each["file"])
                for each in orders["rows"]
            ]
            tried.append(self._tried(test, rows))
            endless += any(map(never_ended, rows))
            if orders["first"] and (all(map(holds, rows)) or endless == _ENDLESS):
                break
        return {"event": "experiment", "number": orders["number"], "tests": tried}

    def _looked_at(self, orders: dict[str, Any]) -> dict[str, Any]:
        """Run tests alone and as they are, to see which outcomes each takes."""
        seen = []
        for test in orders["tests"]:
            if not self._stand_of(test).get("ending"):
                control = look(test, self._options, self._carry_out)
                passed = control["ending"] == "passed"
                seen.append([test, passed, control["taken"], control.get("seconds", 0.0)])
        return {"event": "looked", "number": orders["number"], "tests": seen}

    def _tried(self, test: str, rows: Sequence[RowAtWork]) -> dict[str, Any]:
        answer: dict[str, Any] = {"test": test, "stand": "", "reason": "", "rows": []}
        stand = self._stand_of(test)
        if stand.get("ending"):
            answer.update(stand=stand["ending"], reason=stand.get("reason", ""))
            answer["pool"] = stand.get("pool", [])
        elif stand.get("external") or self._is_external(test):
            answer.update(stand="external")
        else:
            Experiment(test, self._options, self._carry_out).run(rows, self._at_import)
            answer["rows"] = [
                {"number": row.number, "runs": [_told(run, row) for run in row.runs]}
                for row in rows
            ]
        return answer

    def _is_external(self, test: str) -> bool:
        return any(fnmatch.fnmatchcase(test, glob) for glob in self._plan["external"])

    def _stand_of(self, test: str) -> Answer:
        assert self._keeper is not None  # noqa: S101  # made before any item is run
        self._at_import = self._keeper.open(test)
        return self._keeper.ask({"stand": test})

    def _carry_out(self, order: Order) -> Record:
        limits = (order.limits.cpu, order.limits.wall, order.limits.memory)
        told = {"test": order.test, "slots": order.slots, "cold": order.cold, "limits": limits}
        keeper = self._keeper if not order.other else self._other_keeper()
        assert keeper is not None  # noqa: S101  # made before any item is run
        keeper.open(order.test)
        return understood(keeper.ask({"run": told}), order)

    def _other_keeper(self) -> "_Keeper | None":
        """Return the other process, started when it is first needed."""
        if not hasattr(os, "fork"):
            return self._keeper
        if self._other is None:
            number = boot.Here.loading.number + self._plan["other_trees"]
            self._other = _OtherKeeper(number, self._plan["arguments"], self._config)
        return self._other


class _Keeper:
    """The worker's end of a process that forks zygotes."""

    def __init__(self, config: pytest.Config, zygote: Zygote) -> None:
        self._file = ""
        self._at_import: list[int] = []
        adopt_orphans()
        ours, theirs = socket.socketpair()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # xdist has threads of its own; none holds our locks
            self._pid = os.fork()
        if self._pid == 0:
            ours.close()
            _leave_xdist(config)
            keep(zygote, theirs.makefile("rwb"))
        theirs.close()
        self._channel = ours.makefile("rwb")

    def open(self, test: str) -> list[int]:
        """See to it that a test's file is collected; return what was taken meanwhile."""
        file = test.split("::", 1)[0]
        if file != self._file:
            if self._file:
                self.ask({"close": True})
            self._file = file
            self._at_import = self.ask({"open": file}).get("at_import", [])
        return self._at_import

    def ask(self, request: Request) -> Answer:
        """Send a request and wait for its answer."""
        try:
            self._channel.write(marshal.dumps(request))
            self._channel.flush()
            answer: Answer = marshal.load(self._channel)  # noqa: S302  # written by our own fork
        except (OSError, EOFError, ValueError, TypeError):
            os._exit(1)  # pytest-xdist replaces this worker, and tells that the experiment is lost
        return answer

    def close(self) -> None:
        """Let it go; it ends when nobody asks any more."""
        with contextlib.suppress(OSError):
            self._channel.close()
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self._pid, 0)


class _OtherKeeper(_Keeper):
    """A process of its own, started anew: what chance gave the first is not its own."""

    def __init__(self, number: int, arguments: Sequence[str], config: pytest.Config) -> None:
        """Start it on a tree of its own."""
        self._file = ""
        self._at_import = []
        ours, theirs = socket.socketpair()
        theirs.set_inheritable(True)
        here = boot.Here
        inside = os.path.relpath(here.folder, here.boot.tree(here.loading.number))
        folder = os.path.normpath(os.path.join(here.boot.tree(number), inside))
        environment = {
            **here.environment,
            **settings.home_environment(here.boot, number),
            "PWD": folder,
            settings.KEEPER: str(theirs.fileno()),
            settings.WORKER: json.dumps(_worker_of(config)),
            settings.AS_IS: "1",
        }
        process = subprocess.Popen(
            [sys.executable, "-m", "pytest", *arguments, *config.args],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(theirs.fileno(),),
            start_new_session=True,
        )
        self._pid = process.pid
        theirs.close()
        self._channel = ours.makefile("rwb")


class OtherKeeping(Collected):
    """What that process does in place of a test session."""

    def __init__(self, plan: dict[str, Any]) -> None:
        super().__init__()
        self._plan = plan
        self._channel = socket.socket(fileno=int(os.environ.pop(settings.KEEPER)))
        self._channel.set_inheritable(False)
        self._worker = json.loads(os.environ.pop(settings.WORKER))
        self._is_open = False

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> bool | None:
        """Collect nothing here: collection is for the zygotes."""
        if self._is_open:
            return None
        self._is_open = True
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> None:
        """Serve the worker until it is gone."""
        act_as_worker(session.config, self._worker)
        keep(zygote_of(session, self, self._plan), self._channel.makefile("rwb"))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> bool:
        """Run a test once, whatever plugins would do with it."""
        record.protocol(item)
        return True


def zygote_of(session: pytest.Session, collected: Collected, plan: dict[str, Any]) -> Zygote:
    """Return what is forked for each test file, as it is before collection."""
    here = boot.Here
    folder = os.path.join(here.boot.scratch, str(here.loading.number))
    runner = Runner(collected.items, plan["arguments"], folder)
    runner.worker = _worker_of(session.config)
    return Zygote(session, collected, runner)


def _worker_of(config: pytest.Config) -> dict[str, Any]:
    """Return those ids of a worker that fixtures ask for."""
    told = getattr(config, "workerinput", {})
    return {name: told[name] for name in _IDS if name in told}


class _NoKeeper(_Keeper):
    """Takes its place where there is no fork: every run is a fresh process, which collects."""

    def __init__(self, zygote: Zygote) -> None:
        self._file = ""
        self._at_import = []
        self._zygote = zygote

    def ask(self, request: Request) -> Answer:
        """Answer a request here; how a test stands is said by its control."""
        if {"open", "close", "stand"} & request.keys():
            return {}
        return self._zygote.answer(request)

    def close(self) -> None:
        """Nothing was started."""


def _interactor(config: pytest.Config) -> Any:
    """Return xdist's part of a worker.

    What only xdist has to know is told to it alone: hooks of the project would take an item of
    ours for a test.
    """
    plugins = config.pluginmanager.get_plugins()
    return next(each for each in plugins if type(each).__name__ == "WorkerInteractor")


def _leave_xdist(config: pytest.Config) -> None:
    """Take xdist's part and the descriptors of its channel away from what is run."""
    interactor = _interactor(config)
    config.pluginmanager.unregister(interactor)
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
