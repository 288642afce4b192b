"""Run one test by pytest's own protocol in this process, and record what its reports say."""

import os
import sys
from collections.abc import Generator
from types import FrameType, TracebackType
from typing import Any, Final

import pytest
from _pytest._code.code import ReprExceptionInfo, ReprTraceback
from _pytest.outcomes import Exit, Failed

from . import boot
from .loading import note_bare_modules
from .switch import FLAG_LOST_CHILD, FLAG_OLD_PYTHON, SWITCH

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

    def __init__(self, item: pytest.Item) -> None:
        self._item = item
        self._phases: dict[str, str] = {}
        self._call_errors: list[BaseException] = []
        self._errors: dict[str, BaseException] = {}

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Keep the exception of a phase: the report itself is asked for no text."""
        report = yield
        if item is self._item and call.excinfo is not None and report.outcome == "failed":
            self._errors.setdefault(call.when, call.excinfo.value)
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note how a phase ended; a subtest that fails makes its test's call phase fail."""
        if report.nodeid != self._item.nodeid:
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

    def record(self) -> Record:
        """Return ending, phase and exception of the run."""
        for phase, said in self._phases.items():
            if said == "passed" or (phase == "teardown" and self._phases.get("call") == "failed"):
                continue
            ending = said if said != "failed" else "failed" if phase == "call" else "error"
            return {
                "ending": ending,
                "phase": phase,
                **_described(self._item, self._errors.get(phase)),
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


def run(item: pytest.Item, *, look_around: bool) -> Record:
    """Run an item alone, set-up and teardown with it, and return what happened.

    Args:
        item: a collected item; nothing else has run in this process.
        look_around: also note which files with rows this process holds without being woven.
    """
    recorder = Recorder(item)
    _ask_for_no_traceback(item)
    manager = item.config.pluginmanager
    manager.register(recorder, "invertgate-recorder")
    item.session.items = [item]
    item.session.testscollected = 1
    try:
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
        record = recorder.record()
    except Exit as error:
        record = {"ending": "exited", "message": str(error)}
    except KeyboardInterrupt as error:
        recorder.interrupted(error)
        record = recorder.record()
    if look_around:
        note_bare_modules(boot.Here.loading, list(sys.modules.values()))
    return record


def protocol(item: pytest.Item) -> None:
    """Run one item as pytest does, without the ways of plugins that would run it again."""
    from _pytest.runner import runtestprotocol

    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    runtestprotocol(item, nextitem=None)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)


def _ask_for_no_traceback(item: pytest.Item) -> None:
    """Ask for no traceback as text: it costs more than the run that it tells of."""
    for name in ("repr_failure", "_repr_failure_py"):
        setattr(item, name, _short_representation)


def _short_representation(
    excinfo: pytest.ExceptionInfo[BaseException], *_: object, **__: object
) -> object:
    """Return what hooks of a project may look at: where it crashed, and a message."""
    try:
        return ReprExceptionInfo(
            reprcrash=excinfo._getreprcrash(),  # noqa: SLF001  # hooks read it; it has no other maker
            reprtraceback=ReprTraceback([], None, style="short"),
        )
    except Exception:  # noqa: BLE001  # an exception that cannot be shown, or another pytest
        return "not asked for"


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
    """Let a fork recurse as deep as plain pytest could: it begins on a deeper stack."""
    extra = depth() + _FRAMES_OF_OURS - _plain_depth
    if _plain_depth and 0 < extra < _MOST_EXTRA_FRAMES:
        sys.setrecursionlimit(sys.getrecursionlimit() + extra)


_FRAMES_OF_OURS: Final = 2
"""``run`` and ``protocol``, in place of pytest's loop and its own protocol, and one above."""


def notes_of_board() -> list[str]:
    """Return what the board says stood in the way of proof."""
    board = SWITCH.board
    notes = []
    if board is not None and board.flagged(FLAG_LOST_CHILD):
        notes.append("child without the switch")
    if board is not None and board.flagged(FLAG_OLD_PYTHON):
        notes.append("child on a Python older than 3.11")
    return notes
