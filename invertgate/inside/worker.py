"""A worker of pytest-xdist that carries out experiments. PYTEST_DONT_REWRITE."""

import fnmatch
from collections.abc import Sequence
from typing import Any, Final

import pytest

from . import boot, record
from .budget import Options
from .collected import Collected
from .items import ExperimentItem, experiment_item, report_of
from .keeper import Keeper, OtherKeeper, OwnKeeper, interactor
from .opens import all_opened
from .record import Record
from .runs import Order
from .steps import Experiment, Quest, RowAtWork, look
from .zygote import Answer

_INTERNAL: Final = frozenset(("taken", "bare", "opened"))


class Worker(Collected):
    """Gets experiments from pytest-xdist as its items, and carries them out."""

    def __init__(self, config: pytest.Config, plan: dict[str, Any]) -> None:
        super().__init__()
        self._config = config
        self._plan = plan
        self._options = Options(**plan["options"])
        self._session: pytest.Session | None = None
        self._keeper: OwnKeeper | None = None
        self._other: OtherKeeper | None = None
        self._at_import: list[int] = []
        self._is_unlike = False

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
        interactor(self._config).pytest_collection_finish(session)
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> None:
        """Fork the process that holds pytest as it is now, before any test was collected."""
        self._keeper = OwnKeeper(session, self, self._plan)
        for plugin in _others_that_run_tests(self._config):
            self._config.pluginmanager.unregister(plugin)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> bool:
        """Carry out an experiment; in a fork, run the test itself."""
        if isinstance(item, ExperimentItem):
            told = self._carried_out(item.orders)
            interactor(self._config).pytest_runtest_logreport(report_of(item, told))
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
        quest = Quest(orders["beyond"])
        for test in orders["tests"]:
            rows = [
                RowAtWork(each["number"], each["slot"], tuple(each["inverted"]), each["file"])
                for each in orders["rows"]
            ]
            tried.append(self._tried(test, rows))
            if orders["first"] and quest.is_over(rows):
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
            experiment = Experiment(test, self._options, self._carry_out)
            experiment.run(rows, self._at_import, unlike=self._is_unlike)
            answer["opened"] = all_opened(run for row in rows for run in row.runs)
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
        self._is_unlike = self._keeper.is_unlike
        return self._keeper.stand_of(test)

    def _carry_out(self, order: Order) -> Record:
        keeper = self._keeper if not order.other else self._other_keeper()
        assert keeper is not None  # noqa: S101  # made before any item is run
        return keeper.carry_out(order)

    def _other_keeper(self) -> Keeper:
        """Return the other process, started when it is first needed."""
        if self._other is None:
            number = boot.Here.loading.number + self._plan["other_trees"]
            self._other = OtherKeeper(number, self._plan, self._config)
        return self._other


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
