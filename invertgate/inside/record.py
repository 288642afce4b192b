"""Run one test by pytest's own protocol in this process, and record what its reports say."""

import os
import sys
from collections.abc import Generator
from types import FrameType, ModuleType, TracebackType
from typing import Any, Final

import pytest
from _pytest._code.code import ReprTraceback
from _pytest.outcomes import Exit, Failed
from _pytest.runner import runtestprotocol
from pluggy import HookCaller

from . import boot
from .loading import note_bare_modules
from .refusals import REFUSED
from .switch import FLAG_LOST_CHILD, FLAG_OLD_PYTHON, refused_in

_LONGEST_MESSAGE: Final = 400
_TEST_FOLDERS: Final = frozenset(("test", "tests", "testing"))

_UNEXPECTED_SUCCESS: Final = ("[XPASS(strict)]", "Unexpected success")
"""How pytest begins the report of a strict xfail, or of unittest, that passes."""
NO_KILL: Final = frozenset(("MemoryError", "DeadlineExceeded"))
"""Exceptions that tell of memory and time, and not of the code."""

Record = dict[str, Any]
"""What one run told us, in the words of ``model.Run``, with ``taken`` (slots) beside them."""


class Recorder:
    """A plugin that follows one item through its phases."""

    def __init__(self) -> None:
        self._item: pytest.Item | None = None
        self._phases: dict[str, str] = {}
        self._call_errors: list[BaseException] = []
        self._errors: dict[str, BaseException] = {}

    def follow(self, item: pytest.Item) -> None:
        """Choose the item; there is one in the life of a process."""
        self._item = item

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Keep the exception of a phase: the report itself is asked for no text."""
        report = yield
        if item is self._item:
            if call.excinfo is not None and report.outcome == "failed":
                self._errors.setdefault(call.when, call.excinfo.value)
            if not _told_of_reports:
                self.pytest_runtest_logreport(report)
                item.session.pytest_runtest_logreport(report)
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note how a phase ended; a subtest that fails makes its test's call phase fail."""
        if self._item is None or report.nodeid != self._item.nodeid:
            return
        phase = str(report.when)
        if self._phases.get(phase) != "failed":
            self._phases[phase] = _said(report, phase in self._errors)

    def interrupted(self, error: BaseException) -> None:
        """Note what came out of the protocol itself: pytest lets it through."""
        phase = "setup" if "setup" not in self._phases else "call"
        if "call" in self._phases:
            phase = "teardown"
        self._errors[phase] = error
        self._phases[phase] = "failed"

    def record(self, item: pytest.Item) -> Record:
        """Return ending, phase and exception of the run."""
        for phase, said in self._phases.items():
            if said == "passed" or (phase == "teardown" and self._phases.get("call") == "failed"):
                continue
            ending = said if said != "failed" else "failed" if phase == "call" else "error"
            return {
                "ending": ending,
                "phase": phase,
                **_described(item, self._errors.get(phase)),
            }
        done = {"setup", "call", "teardown"} <= self._phases.keys()
        return {"ending": "passed" if done else "ended without a report"}


def _said(report: pytest.TestReport, has_error: bool) -> str:
    if hasattr(report, "wasxfail"):
        return "xfailed" if report.skipped else "xpassed"
    said = report.longrepr if isinstance(report.longrepr, str) else ""
    if report.failed and not has_error and said.startswith(_UNEXPECTED_SUCCESS):
        return "xpassed"
    return report.outcome


def _described(item: pytest.Item, error: BaseException | None) -> Record:
    if error is None:
        return {}
    telling = _telling(error)
    inside = _frames_inside(error.__traceback__)
    where = f"{inside[-1][0]}:{inside[-1][1]}" if inside else ""
    asserted = isinstance(error, AssertionError | Failed)
    by_test = not inside or _is_test_file(item, inside[-1][0])
    return {
        "exception": type(telling).__name__,
        "message": _message(error),
        "where": where,
        "killer": "assertion" if asserted and by_test else "exception",
    }


def _telling(error: BaseException) -> BaseException:
    """Return the exception within a group, or behind one, that tells of memory or time."""
    waiting, seen = [error], set[int]()
    while waiting:
        each = waiting.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        if type(each).__name__ in NO_KILL:
            return each
        if isinstance(each, BaseExceptionGroup):
            waiting += each.exceptions
        if type(each).__module__.startswith("hypothesis"):
            waiting += [other for other in (each.__cause__, each.__context__) if other is not None]
    return error


def _message(error: BaseException) -> str:
    try:
        return str(error)[:_LONGEST_MESSAGE]
    except BaseException:  # noqa: BLE001  # its __str__ is the user's code
        return "(its message cannot be shown)"


def _frames_inside(traceback: TracebackType | None) -> list[tuple[str, int]]:
    """Return path and line of those entries of a traceback that lie in the tree."""
    top = boot.Here.loading.rebase.tree + os.sep
    entries = []
    while traceback is not None:
        path = traceback.tb_frame.f_code.co_filename
        if path.startswith(top):
            entries.append((path[len(top) :].replace(os.sep, "/"), traceback.tb_lineno))
        traceback = traceback.tb_next
    return entries


def _is_test_file(item: pytest.Item, path: str) -> bool:
    *folders, name = path.split("/")
    stem = name.removesuffix(".py")
    return (
        stem.startswith("test_")
        or stem.endswith("_test")
        or stem == "conftest"
        or bool(_TEST_FOLDERS.intersection(folders))
        or str(item.path).replace(os.sep, "/").endswith("/" + path)
    )


def run(item: pytest.Item) -> Record:
    """Run an item alone, set-up and teardown with it, and return what happened.

    Notes also which files with rows this process holds without being woven.

    Args:
        item: a collected item; nothing else has run in this process.
    """
    recorder = _recorder(item.config)
    recorder.follow(item)
    _ask_for_no_traceback(item)
    item.session.items = [item]
    item.session.testscollected = 1
    try:
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
        record = recorder.record(item)
    except Exit as error:
        record = {"ending": "exited", "message": str(error)}
    except KeyboardInterrupt as error:
        recorder.interrupted(error)
        record = recorder.record(item)
    note_bare_modules(boot.Here.loading, _new_modules())
    return record


def prepare(config: pytest.Config) -> None:
    """Do once, in the process that is forked from, what every run would have to do.

    Each page of memory that a fork writes to is copied for it, and reading an object writes to it.
    """
    global _names, _newest, _told_of_items, _told_of_reports  # noqa: PLW0603
    _recorder(config)
    even_out_depth()
    hook = config.hook
    _told_of_items = _others_hear(hook.pytest_runtest_logstart, hook.pytest_runtest_logfinish)
    _told_of_reports = _others_hear(hook.pytest_runtest_logreport, hook.pytest_runtest_makereport)
    note_bare_modules(boot.Here.loading, list(sys.modules.values()))
    _names = len(sys.modules)
    for name, module in sys.modules.items():
        _modules[id(module)] = module
        _newest = (name, module)


def _others_hear(*hooks: HookCaller) -> bool:
    """Tell whether anybody else than pytest and we listen to hooks."""
    makers = [impl.function.__module__ for hook in hooks for impl in hook.get_hookimpls()]
    return any(maker != __name__ and not maker.startswith("_pytest.") for maker in makers)


_modules: dict[int, ModuleType] = {}
"""Modules, by their identity, that were looked at before the fork."""
_told_of_items = True
"""Somebody else than pytest wants to know when an item begins and ends."""
_told_of_reports = True
"""Somebody else wants to know of reports, or may change them."""
_names = 0
_newest: tuple[str, ModuleType] | None = None


def _new_modules() -> list[ModuleType]:
    if _newest is not None and len(sys.modules) == _names:
        name = next(reversed(sys.modules))
        if name == _newest[0] and sys.modules[name] is _newest[1]:
            return []
    return [module for module in list(sys.modules.values()) if id(module) not in _modules]


_RECORDER: Final = "invertgate-recorder"


def _recorder(config: pytest.Config) -> Recorder:
    known = config.pluginmanager.get_plugin(_RECORDER)
    if isinstance(known, Recorder):
        return known
    recorder = Recorder()
    config.pluginmanager.register(recorder, _RECORDER)
    return recorder


def protocol(item: pytest.Item) -> None:
    """Run one item as pytest does, without the ways of plugins that would run it again."""
    if _told_of_items:
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    runtestprotocol(item, nextitem=None, log=_told_of_reports)
    if _told_of_items:
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)


def _ask_for_no_traceback(item: pytest.Item) -> None:
    """Ask for no traceback as text: it costs more than the run that it tells of."""
    for name in ("repr_failure", "_repr_failure_py"):
        setattr(item, name, _Representation)


class _Representation:
    """What hooks of a project may look at: where it crashed, made out when it is asked for."""

    def __init__(
        self, excinfo: pytest.ExceptionInfo[BaseException], *_: object, **__: object
    ) -> None:
        self._excinfo = excinfo
        self.sections: list[tuple[str, str, str]] = []

    @property
    def reprcrash(self) -> object:
        """Return path, line and message of the crash."""
        return self._excinfo._getreprcrash()  # noqa: SLF001  # it has no other maker

    @property
    def reprtraceback(self) -> ReprTraceback:
        """Return an empty traceback."""
        return ReprTraceback([], None, style="short")

    def addsection(self, name: str, content: str, sep: str = "-") -> None:
        """Take a section, as pytest's own representations do."""
        self.sections.append((name, content, sep))

    def toterminal(self, terminal: object) -> None:
        """Write nothing: nobody reads it."""

    def __str__(self) -> str:
        return str(self.reprcrash)


_MOST_EXTRA_FRAMES: Final = 200
_plain_depth = 0


def expect_depth(frames: int) -> None:
    """Say how many frames lie below a run's in plain pytest."""
    global _plain_depth  # noqa: PLW0603
    _plain_depth = frames


def depth() -> int:
    """Return how many frames lie below the caller's."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001
    count = 0
    while frame is not None:
        frame = frame.f_back
        count += 1
    return count - 1


def even_out_depth() -> None:
    """Let forks of this process recurse as deep as plain pytest could: they begin deeper.

    Called where a file is opened, as deep as its runs begin: they have ``fork`` and ``run_in_fork``
    in place of ``open`` and ``prepare``.
    """
    extra = depth() + _FRAMES_OF_OURS - _plain_depth
    if _plain_depth and 0 < extra < _MOST_EXTRA_FRAMES:
        sys.setrecursionlimit(sys.getrecursionlimit() + extra)


_FRAMES_OF_OURS: Final = 2
"""``run`` and ``protocol``, in place of pytest's loop and its own protocol, and one above."""


def notes_of_board(content: bytes) -> list[str]:
    """Return what a board says stood in the way of proof."""
    notes = []
    if content and content[FLAG_LOST_CHILD]:
        notes.append("child without the switch")
    if content and content[FLAG_OLD_PYTHON]:
        notes.append("child on a Python older than 3.11")
    if refused := refused_in(content):
        notes.append(f"{REFUSED}{refused}")
    return notes
