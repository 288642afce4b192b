"""One test, run by plain pytest in a fresh copy of a project, with or without an edited file."""

import json
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from _environments import ScriptError, must, run

PLUGIN_FILE: Final = Path(__file__).with_name("_oracle_plugin.py")
LEFT_BEHIND: Final = frozenset(
    {"__pycache__", "invertgate.out", ".pytest_cache", ".hypothesis", ".mypy_cache", ".ruff_cache"}
    | {".tox", ".nox", ".corpus", ".check", ".demo"}
)
"""Folders that a copy does without; virtual environments are left behind too."""
NEUTRAL: Final = {
    "xdist": ("-n0",),
    "pytest_cov": ("--no-cov",),
    "rerunfailures": ("--reruns=0",),
}
"""By the name of a pytest plugin: what turns off a habit that would hide one test's result."""
ASK: Final = """
import importlib.metadata, json, sys
roots = [path for path in sys.path if path]
for module in list(sys.modules.values()):
    if type(module).__name__ == "module" and module.__name__.startswith("__editable__"):
        for name, path in getattr(module, "MAPPING", {}).items():
            roots.append("/".join(path.split("/")[: -len(name.split("."))]))
plugins = [point.name for point in importlib.metadata.entry_points(group="pytest11")]
print(json.dumps({"roots": roots, "plugins": plugins, "prefix": sys.prefix}))
"""


class Ending(StrEnum):
    """What the reports of one test say of its run."""

    PASSED = "passed"
    FAILED = "failed"
    """In the call phase."""
    ERROR = "error"
    """In setup or teardown."""
    SKIPPED = "skipped"
    XFAILED = "xfailed"
    XPASSED = "xpassed"
    NO_REPORT = "no report"
    TIMEOUT = "timeout"


@dataclass(frozen=True, slots=True)
class Trial:
    """What one run showed."""

    ending: Ending
    message: str = ""
    imported: bool = False
    """The edited file was imported from the copy, in the process of the test."""
    foreign: str = ""
    """The original of the edited file, if that was imported in its place."""
    marked: bool = False
    """The mark that stands at the outcome was left."""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Project:
    """A project as the oracle copies and runs it."""

    top: Path
    """The top of the repository; paths of a report start here."""
    folder: str
    """What was asked about, below the top; ``.`` if it is all of it."""
    head: str
    """The commit that is judged; empty for the working tree."""
    python: Path
    roots: tuple[str, ...]
    """Folders below the top that the project's environment imports from."""
    options: tuple[str, ...]
    """What pytest is told besides the nodeid."""
    limit: float
    """Seconds for one run."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A test, and the file that decides."""

    folder: str
    """Where pytest runs, below the top of the repository."""
    test: str
    """A nodeid."""
    path: str
    """The file, below the top."""
    mark: Path
    """What the edited file makes when the outcome is taken."""


def open_project(folder: Path, python: Path, head: str, limit: float) -> Project:
    """Look at a project and its environment.

    Raises:
        ScriptError: It lies in no git repository, or its Python does not run.
    """
    folder = folder.resolve()
    top = next((place for place in (folder, *folder.parents) if (place / ".git").exists()), None)
    if top is None:
        raise ScriptError(f"{folder} lies in no git repository")
    told = json.loads(must([python, "-c", ASK], cwd=folder).splitlines()[-1])
    return Project(
        top=top,
        folder=folder.relative_to(top).as_posix(),
        head=head,
        python=python,
        roots=tuple(_roots_below(top, told["roots"], told["prefix"])),
        options=tuple(word for name in told["plugins"] for word in NEUTRAL.get(name, ())),
        limit=limit,
    )


def read_file(project: Project, path: str) -> bytes:
    """Read a file of the judged head."""
    if project.head:
        with _copy(project) as copy:
            return (copy / path).read_bytes()
    return (project.top / path).read_bytes()


def try_test(project: Project, subject: Subject, content: bytes | None) -> Trial:
    """Run one test in a copy of its own.

    Args:
        project: What is copied.
        subject: The test and the file.
        content: What is written into the file; None leaves it as it is.
    """
    subject.mark.unlink(missing_ok=True)
    with _copy(project) as copy:
        file, report = copy / subject.path, copy.parent / "report.jsonl"
        if content is not None:
            file.write_bytes(content)
        argv: list[str | Path] = [project.python, "-m", "pytest", "-p", "oracle_plugin"]
        argv += [*project.options, "-o", f"cache_dir={copy.parent / 'cache'}"]
        finished = run(
            [*argv, subject.test],
            cwd=copy / subject.folder,
            environ=_environ(project, subject, copy, report),
            limit=project.limit,
        )
        _end_leftovers(copy.parent)
        entries = _entries(report)
        imported = _imported(entries)
        ending, message = ending_of(entries, subject.test)
        if finished.returncode is None and not _is_over(entries, subject.test):
            ending, message = Ending.TIMEOUT, f"more than {project.limit:g} s"
        return Trial(
            ending=ending,
            message=message
            or ("" if ending is Ending.PASSED else (finished.output + finished.errors)[-500:]),
            imported=os.path.realpath(file) in imported,
            foreign=_foreign(project, subject.path, imported),
            marked=subject.mark.exists(),
            seconds=finished.seconds,
        )


def ending_of(entries: list[dict[str, object]], test: str) -> tuple[Ending, str]:
    """Say how a test ended by all of its reports, those of its subtests among them."""
    reports = [entry for entry in entries if entry.get("test") == test]
    failed = [report for report in reports if report["outcome"] == "failed"]
    in_call = [report for report in failed if report["when"] == "call"]
    for ending, chosen in ((Ending.FAILED, in_call), (Ending.ERROR, failed)):
        if chosen:
            return ending, str(chosen[0]["message"])
    for report in reports:
        if report["outcome"] == "skipped":
            return Ending.XFAILED if report["xfail"] else Ending.SKIPPED, str(report["message"])
        if report["xfail"]:
            return Ending.XPASSED, ""
    phases = {report["when"] for report in reports}
    return (Ending.PASSED if phases >= {"setup", "call", "teardown"} else Ending.NO_REPORT), ""


def _is_over(entries: list[dict[str, object]], test: str) -> bool:
    """Tell whether a test had its last report; threads that it left may keep the process."""
    return any(entry.get("test") == test and entry["when"] == "teardown" for entry in entries)


def _roots_below(top: Path, roots: list[str], prefix: str) -> Iterator[str]:
    for root in dict.fromkeys(os.path.realpath(root) for root in roots):
        in_environment = Path(root).is_relative_to(os.path.realpath(prefix))
        if Path(root).is_relative_to(top) and not in_environment:
            yield Path(root).relative_to(top).as_posix()


@contextmanager
def _copy(project: Project) -> Iterator[Path]:
    """Lend a copy of the tree; the folder above it is scratch space, and all is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="oracle-", ignore_cleanup_errors=True) as scratch:
        copy = Path(scratch, "copy")
        shutil.copytree(project.top, copy, symlinks=True, ignore=_left_behind)
        if project.head:
            must(["git", "checkout", "-q", "-f", "--detach", project.head], cwd=copy)
        yield copy


def _left_behind(folder: str, names: list[str]) -> set[str]:
    return {
        name
        for name in names
        if name in LEFT_BEHIND
        or Path(folder, name, "pyvenv.cfg").exists()
        # A file of that name leads to the user's own repository.
        or (name == ".git" and Path(folder, name).is_file())
    }


def _environ(project: Project, subject: Subject, copy: Path, report: Path) -> dict[str, str]:
    scratch = copy.parent
    for folder in ("home", "tmp", "plugin"):
        (scratch / folder).mkdir()
    shutil.copy(PLUGIN_FILE, scratch / "plugin" / "oracle_plugin.py")
    roots = [*project.roots, *_root_of_package(project, subject)]
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("GIT_", "COV_", "PYTEST_XDIST_"))
        and name not in {"PYTHONDONTWRITEBYTECODE", "PYTHONPATH"}
    }
    return {
        **inherited,
        "HOME": str(scratch / "home"),
        "TMPDIR": str(scratch / "tmp"),
        "PYTHONPYCACHEPREFIX": str(scratch / "bytecode"),
        "PYTHONPATH": os.pathsep.join(
            [*(str(copy / root) for root in roots), str(scratch / "plugin")]
        ),
        "ORACLE_REPORT": str(report),
    }


def _root_of_package(project: Project, subject: Subject) -> list[str]:
    """Find where the file's package is imported from, if no known root leads there."""
    path = Path(subject.path)
    if any(path.is_relative_to(root) for root in project.roots):
        return []
    folder = path.parent
    while (project.top / folder / "__init__.py").exists() and folder != Path():
        folder = folder.parent
    return [] if folder == Path(subject.folder) else [folder.as_posix()]


def _entries(report: Path) -> list[dict[str, object]]:
    if not report.exists():
        return []
    return [json.loads(line) for line in report.read_text("utf-8").splitlines()]


def _end_leftovers(scratch: Path) -> None:
    """End what a test started in a session of its own; its scratch space gives it away."""
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # gone already, or not ours to look at
            is_inside = (process / "cwd").readlink().is_relative_to(scratch)
            if is_inside or bytes(scratch) in (process / "environ").read_bytes():
                os.kill(int(process.name), signal.SIGKILL)


def _imported(entries: list[dict[str, object]]) -> set[str]:
    listed = [entry.get("imported") for entry in entries]
    files = [file for part in listed if isinstance(part, list) for file in part]
    return {os.path.realpath(file) for file in files}


def _foreign(project: Project, path: str, imported: set[str]) -> str:
    original = os.path.realpath(project.top / path)
    return original if original in imported else ""


if __name__ == "__main__":
    sys.exit("this is a part of oracle.py")
