"""Measure coverage in a worker of pytest-xdist, while nothing is inverted.

Only the worker itself is measured, and only files with rows. What runs in its child processes is
not lost: the files are woven, and their probes mark what is taken on the board of the tree.
PYTEST_DONT_REWRITE
"""

import fnmatch
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final

import pytest

from . import boot
from .loading import note_bare_modules
from .settings import MEASURE

if TYPE_CHECKING:
    import coverage

_CORE: Final = "COVERAGE_CORE"


class _Running:
    """The measurement of this process, once it was started."""

    coverage: "coverage.Coverage | None" = None


def start() -> None:
    """Start measuring if this is a worker of a session that measures."""
    folder = os.environ.get(MEASURE)
    if not folder or "PYTEST_XDIST_WORKER" not in os.environ:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import coverage  # not loaded in any other run

        run = boot.Here.boot
        core = os.environ.get(_CORE)
        os.environ[_CORE] = "ctrace"  # the only core that tells tests apart on every Python
        measurement = coverage.Coverage(
            data_file=os.path.join(folder, f"{os.environ['PYTEST_XDIST_WORKER']}.{os.getpid()}"),
            branch=True,
            config_file=False,
            include=[os.path.join(run.scratch, "*", "*", file.path) for file in run.files],
        )
        measurement.start()
        if core is None:
            del os.environ[_CORE]
        else:
            os.environ[_CORE] = core
    _Running.coverage = measurement


class Measuring:
    """A worker that runs tests as always, and tells which passed while it measured."""

    def __init__(
        self, plan: dict[str, Any], tell: Callable[[pytest.Item, dict[str, Any]], None]
    ) -> None:
        self._only = frozenset(plan["only"])
        self._external = plan["external"]
        self._tell = tell
        self._clean = True
        self._called = False

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> Iterator[None]:
        """Keep the tests that are asked about; those with an outside cost are not run."""
        yield
        items[:] = [item for item in items if self._is_wanted(item)]

    def _is_wanted(self, item: pytest.Item) -> bool:
        if self._only and item.nodeid not in self._only:
            return False
        globs = any(fnmatch.fnmatchcase(item.nodeid, glob) for glob in self._external)
        return not globs and item.get_closest_marker("external") is None

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[Any]:
        """Give a test a context of its own."""
        self._clean, self._called = True, False
        _switch(item.nodeid)
        result = yield
        _switch("")
        passed = self._clean and self._called
        self._tell(item, {"event": "measured", "test": item.nodeid, "passed": passed})
        return result

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note whether a test passed, in every phase."""
        self._called = self._called or report.when == "call"
        self._clean = self._clean and report.passed and not hasattr(report, "wasxfail")

    def pytest_sessionfinish(self) -> None:
        """Write what was measured, and note what was run in some way that does not weave."""
        note_bare_modules(boot.Here.loading, list(sys.modules.values()))
        measurement = _Running.coverage
        if measurement is None:
            return
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            measurement.stop()
            measurement.save()


def _switch(context: str) -> None:
    if _Running.coverage is not None:
        _Running.coverage.switch_context(context)
