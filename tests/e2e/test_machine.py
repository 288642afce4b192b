"""What machines, installations and people do to a run: one fact a test, read from outside only."""

import importlib.util
import json
import os
import py_compile
import shutil
import signal
import sys
import time
import venv
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from support.repo import two_commits
from support.run import Ended, Invertgate, Place, descendants, ended, start

PATIENCE = 110
SHOP = """\
def price(total):
    if total > 100:
        return total - 5
    return total
"""
TRUE, FALSE = "72e79bbc9120", "a72a88b41b16"
TEST = f"""\
import pytest
from shop import price


@pytest.mark.branch("{TRUE}")
def test_large():
    assert price(101) == 96


@pytest.mark.branch("{FALSE}")
def test_small():
    price(1)
"""
VERDICTS = {"true": "bound", "false": "weak"}


def verdicts(run: Ended) -> dict[str | None, str | None]:
    return {row.side: row.verdict for row in run.report.rows}


def reasons(run: Ended) -> dict[str | None, str]:
    return {row.side: row.reason for row in run.report.rows}


def project(top: Path, **files: str) -> Place:
    """Build a project whose patch adds one ``if``; keywords are more files, ``__`` for a slash."""
    more = {name.replace("__", "/"): text for name, text in files.items()}
    two_commits(top, {"readme.md": "# Shop\n"}, {"shop.py": SHOP, "test_shop.py": TEST} | more)
    return Place(top)


def installed(home: Path, package: Path) -> str:
    """Make an environment in which a copy of the package lies, as from a wheel."""
    venv.create(home, symlinks=True)
    [site] = home.glob("lib/python*/site-packages")
    ours = [entry for entry in sys.path if entry.endswith("site-packages")]
    lines = [f"import site; site.addsitedir({entry!r})" for entry in ours]
    site.joinpath("ours.pth").write_text("\n".join(lines) + "\n", encoding="utf-8")
    shutil.copy(package, site)
    return str(home / "bin" / "python")


@pytest.mark.slow
def test_package_that_is_installed_as_a_wheel_is_not_the_one_that_is_judged(
    tmp_path: Path, invertgate: Invertgate
) -> None:
    files = {"src/shop.py": SHOP, "tests/test_shop.py": TEST, "pytest.ini": "[pytest]\n"}
    two_commits(tmp_path / "repo", {"readme.md": "# Shop\n"}, files)
    python = installed(tmp_path / "venv", tmp_path / "repo/src/shop.py")

    run = invertgate(Place(tmp_path / "repo", python), "run", "--changed", "--workers", "1")

    assert set(verdicts(run).values()) == {"unproven"}, str(run)


@pytest.mark.slow
def test_stale_byte_code_is_not_run(tmp_path: Path, invertgate: Invertgate) -> None:
    helper = "def limit():\n    return 100\n"
    place = project(
        tmp_path / "repo",
        **{
            "helper.py": helper,
            "shop.py": "from helper import limit\n\n\n" + SHOP.replace("100", "limit()"),
        },
    )
    caches = tmp_path / "caches"
    run = invertgate(place, "run", "--list", "--json")
    ids = [row["id"] for row in json.loads(run.stdout)["rows"]]
    test = TEST.replace(TRUE, ids[0]).replace(FALSE, ids[1])
    place.top.joinpath("test_shop.py").write_text(test, encoding="utf-8")
    for name in ("helper.py", "shop.py"):
        source = place.top / name
        good, looks = source.read_text(encoding="utf-8"), source.stat()
        source.write_text(good.replace("100", "900").replace("- 5", "- 9"), encoding="utf-8")
        os.utime(source, ns=(looks.st_atime_ns, looks.st_mtime_ns))
        cached = Path(importlib.util.cache_from_source(str(source)))
        unchecked = py_compile.PycInvalidationMode.UNCHECKED_HASH
        py_compile.compile(str(source), str(cached), invalidation_mode=unchecked)
        py_compile.compile(str(source), str(caches) + str(cached.parent.parent / cached.name))
        source.write_text(good, encoding="utf-8")
        os.utime(source, ns=(looks.st_atime_ns, looks.st_mtime_ns))

    run = invertgate(
        replace(place, variables={"PYTHONPYCACHEPREFIX": str(caches)}),
        "run",
        "--changed",
        "--workers",
        "1",
    )
    assert verdicts(run) == VERDICTS, str(run)


@pytest.mark.slow
def test_tests_in_a_linked_folder_are_run(tmp_path: Path, invertgate: Invertgate) -> None:
    top = tmp_path / "repo"
    place = project(top, **{"pytest.ini": "[pytest]\npythonpath = .\ntestpaths = tests\n"})
    place.top.joinpath("checks").mkdir()
    place.top.joinpath("test_shop.py").rename(place.top / "checks/test_shop.py")
    place.top.joinpath("tests").symlink_to("checks")

    run = invertgate(place, "run", "--changed", "--workers", "1")

    assert verdicts(run) == VERDICTS, str(run)


def test_configuration_elsewhere_is_found_by_the_arguments_of_pytest(
    tmp_path: Path, invertgate: Invertgate
) -> None:
    place = project(
        tmp_path / "repo",
        **{"cfg__pytest.ini": "[pytest]\npython_functions = test_*\npythonpath = ..\n"},
    )

    run = invertgate(
        place,
        "run",
        "--changed",
        "--workers",
        "1",
        "--pytest-arg=-c",
        "--pytest-arg=cfg/pytest.ini",
    )

    assert verdicts(run) == VERDICTS, str(run)


NESTED = f"""\
import pytest
from shop import price

pytest_plugins = ["pytester"]


@pytest.mark.branch("{TRUE}")
def test_large(pytester):
    pytester.makepyfile(
        test_inner='''
        import warnings

        warnings.simplefilter("error")

        def test_inner(tmp_path, request):
            assert request.config.pluginmanager.get_plugin("pytester") is None
            assert list(tmp_path.iterdir()) == []
        '''
    )
    pytester.runpytest_subprocess("-p", "no:cacheprovider").assert_outcomes(passed=1)
    assert pytester.runpytest_inprocess().ret == 0
    assert price(101) == 96


@pytest.mark.branch("{FALSE}")
def test_small():
    price(1)
"""


@pytest.mark.slow
def test_test_that_runs_pytest_itself_meets_a_plain_one(
    tmp_path: Path, invertgate: Invertgate
) -> None:
    place = project(tmp_path / "repo", **{"test_shop.py": NESTED})

    run = invertgate(place, "run", "--changed", "--workers", "1")

    assert verdicts(run) == VERDICTS, str(run)


WAITS = """\
import time
from pathlib import Path


def price(total):
    if total > 100:
        return total - 5
    Path("{started}").touch()
    time.sleep(1.5)
    return total
"""


def while_it_runs(top: Path, act: Callable[[psutil.Process, str], None]) -> Ended:
    """Judge a project, and do something to the run when its inverted code runs first."""
    started = top.parent / "started"
    place = project(top, **{"shop.py": WAITS.format(started=started), "test_shop.py": SLEEPY})
    limits = ("--wall-floor", "4", "--workers", "1", "--contain", "none")
    with start(place, ("run", "--changed", *limits)) as (process, mark):
        end = time.monotonic() + PATIENCE
        while not started.exists():
            assert time.monotonic() < end
            time.sleep(0.02)
        act(psutil.Process(process.pid), mark)
        stdout, stderr = process.communicate(timeout=PATIENCE)
        return ended(place, process.returncode, (stdout, stderr), mark)


SLEEPY = TEST.replace("    assert price(101) == 96", "    price(101)")


@pytest.mark.slow
def test_run_that_was_stopped_for_a_while_says_the_same(tmp_path: Path) -> None:
    def stop(_: psutil.Process, mark: str) -> None:
        for each in descendants(mark):
            each.send_signal(signal.SIGSTOP)
        time.sleep(6)
        for each in descendants(mark):
            each.send_signal(signal.SIGCONT)

    run = while_it_runs(tmp_path / "repo", stop)

    assert verdicts(run) == {"true": "weak", "false": "weak"}, str(run)


def test_worker_that_is_killed_is_no_verdict(tmp_path: Path) -> None:
    def kill(process: psutil.Process, _: str) -> None:
        for each in process.children(recursive=True):
            each.kill()

    run = while_it_runs(tmp_path / "repo", kill)

    assert "bound" not in verdicts(run).values()
    assert run.exit_code not in {0, 1}, str(run)
    assert (run.processes, run.scratch) == ((), ())
