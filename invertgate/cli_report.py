"""Reports for people and machines: `invertgate report`, and the same flags of `run`."""

# What is imported within functions is needed only where somebody asks for it.
# ruff: noqa: PLC0415

import os
import sys
from collections.abc import Callable, Generator, Mapping, MutableMapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, TextIO

import click

from invertgate.errors import ExitCode, InvertgateError, UsageError
from invertgate.help_pages import examples
from invertgate.report import targets
from invertgate.report.build import failed
from invertgate.report.document import Facts, Report
from invertgate.report.formats import FORMATS
from invertgate.report.store import FILE, FOLDER
from invertgate.report.targets import Target
from invertgate.report.words import nothing_new
from invertgate.request import Request, UseCases
from invertgate.streams import command, complain, put, writable

Action = Callable[[UseCases], int]

Command = Callable[..., Action]

_PREFIX: Final = "to_"
_LEAST: Final = 1024
"""Bytes of a step's summary below which nothing of use can be said."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What somebody wants of a report beside what is shown to people."""

    targets: tuple[Target, ...] = ()
    annotations: bool = False
    """Print commands of a GitHub workflow."""
    summary: str = ""
    """File that the summary of a step is added to, or empty."""
    outputs: str = ""
    """File that the outputs of a step are added to, or empty."""

    @property
    def takes_stdout(self) -> bool:
        """Tell whether a format goes to standard output, so that nothing else may."""
        return any(target.is_stdout for target in self.targets)


def format_flags(function: Command) -> Command:
    """Make a flag of each format, in the order of the table of formats."""
    for each in reversed(FORMATS):
        function = click.option(
            each.flag,
            f"{_PREFIX}{each.name}",
            metavar="FILE",
            type=click.Path(allow_dash=True),  # and so the shell completes it
            help=f"Write {each.about}; - is standard output.",
        )(function)
    return function


def taken(options: MutableMapping[str, object]) -> tuple[Target, ...]:
    """Take out of what click hands over which formats are wanted.

    Raises:
        UsageError: Two of them are wanted in one place, or one has no place.
    """
    found = [(each, options.pop(f"{_PREFIX}{each.name}", None)) for each in FORMATS]
    wanted = tuple(Target(each, path) for each, path in found if isinstance(path, str))
    targets.check(wanted)
    return wanted


def of_run(
    asked: tuple[Target, ...], environment: Mapping[str, str], *, annotations: bool
) -> Wanted:
    """Say what a run has to give: what was asked for, and what its CI host takes."""
    return Wanted(
        asked,
        annotations=annotations and environment.get("GITHUB_ACTIONS") == "true",
        summary=environment.get("GITHUB_STEP_SUMMARY", ""),
        outputs=environment.get("GITHUB_OUTPUT", ""),
    )


@contextmanager
def promised(request: Request, wanted: Wanted, stream: TextIO) -> Generator[None]:
    """Keep what was promised of a run, also if it does not get to its end.

    What an earlier run wrote is gone on entry. Whatever stops the run is written in its place and
    goes on; what cannot be written then is only complained of, because the run has its exit code.

    Raises:
        UsageError: A file cannot be written, told before anything is run.
    """
    targets.clear(wanted.targets)
    try:
        yield
    except BaseException as error:
        report = failed(_facts(request), _exit_code(error), _message(error))
        with _only_complaining():
            give(report, wanted, stream)
        raise


def give(report: Report, wanted: Wanted, stream: TextIO) -> None:
    """Write files, print annotations, and add to the files of a GitHub step.

    Args:
        report: What was found.
        wanted: What somebody wants of it.
        stream: Where annotations go.

    Raises:
        UsageError: A file cannot be written; the others are, and the rest is done.
    """
    try:
        for target, text in targets.write(report, wanted.targets):
            put(_unchanged(target, text), writable(sys.stdout))
    finally:
        if wanted.annotations or wanted.summary or wanted.outputs:
            _tell_github(report, wanted, stream)


def show(report: Report, stream: TextIO, *, listing: bool = False, verbose: bool = False) -> None:
    """Show a report to people."""
    if not report.rows and not report.not_parsed and report.complete:
        put(f"{nothing_new(report)}\n", stream)
        return
    from invertgate.report import terminal

    console = terminal.console_for(stream, os.environ)
    with console.capture() as page:
        if listing:
            terminal.show_list(report, console)
        else:
            terminal.show_report(report, console, verbose=verbose)
    put(page.get(), stream)


@click.command(
    short_help="Write a stored report in other formats.",
    epilog=examples(
        ("invertgate report", "show the last run again"),
        ("invertgate report --html report.html", "a page for people"),
        ("invertgate report old.json --sarif -", "another report, to standard output"),
    ),
)
@click.argument("file", required=False, type=click.Path(path_type=Path), metavar="[REPORT.json]")
@format_flags
@click.option(
    "--github", is_flag=True, help="Also print annotations, and write step summary and outputs."
)
@click.option("-v", "--verbose", is_flag=True, help="Also list bound rows and runs.")
def report(*, file: Path | None, github: bool, verbose: bool, **options: object) -> Action:
    """Write a report that a run left in the formats that are asked for; nothing is run.

    Reads invertgate.out/report.json, or REPORT.json. Without a format it is shown as the run showed
    it. Ends 0 if that can be done, whatever the report says of the patch.
    """
    wanted = Wanted(taken(options))
    if github:
        environment = os.environ | {"GITHUB_ACTIONS": "true"}
        wanted = of_run(wanted.targets, environment, annotations=True)
    return partial(_report, file, wanted, verbose=verbose)


COMMANDS: Final[tuple[click.Command, ...]] = (report,)


def _report(file: Path | None, wanted: Wanted, _: UseCases, *, verbose: bool) -> int:
    from invertgate.report import store

    stored = store.read(file or _last())
    if not wanted.targets and not wanted.annotations:
        show(stored, writable(sys.stdout), listing=not stored.judged, verbose=verbose)
    give(stored, wanted, _beside(wanted))
    return ExitCode.OK


def _beside(wanted: Wanted) -> TextIO:
    return writable(sys.stderr if wanted.takes_stdout else sys.stdout)


def _last() -> Path:
    """Find the report of the last run: here, or above up to the top of the repository."""
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / FOLDER / FILE).is_file():
            return folder / FOLDER / FILE
        if (folder / ".git").exists():
            break
    raise UsageError(
        f"there is no {FOLDER}/{FILE} here; `invertgate run` writes it, or name another report"
    )


def _tell_github(report: Report, wanted: Wanted, stream: TextIO) -> None:
    from invertgate.report import github, markdown

    if wanted.annotations:
        command(github.render(report), stream)
    if wanted.outputs:
        _add(wanted.outputs, github.outputs(report))
    if wanted.summary:
        room = github.SUMMARY_LIMIT - _size(wanted.summary)
        if room < _LEAST:
            complain("the summary of this step is full; what invertgate found is not in it")
        else:
            _add(wanted.summary, markdown.render(report, limit=room))


def _size(path: str) -> int:
    """Return how much of the step's summary others have written."""
    try:
        return Path(path).stat().st_size
    except OSError:
        return 0


def _add(path: str, text: str) -> None:
    """Add to a file that the CI host reads; that it cannot be written is no verdict on a patch."""
    try:
        with Path(path).open("a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
    except OSError as error:
        complain(f"{path} cannot be written: {error.strerror}")


def _unchanged(target: Target, text: str) -> str:
    """Return JSON in which a CI runner finds no command, and that says the same."""
    return text.replace("##[", r"#\u0023[") if target.format.is_json else text


def _facts(request: Request) -> Facts:
    started = request.now.isoformat(timespec="seconds")
    return Facts(request.command, started, complete=False, judged=not request.list_only)


def _exit_code(error: BaseException) -> ExitCode:
    match error:
        case InvertgateError():
            return error.exit_code
        case KeyboardInterrupt() | click.Abort():
            return ExitCode.INTERRUPTED
        case _:
            return ExitCode.BUG


def _message(error: BaseException) -> str:
    match error:
        case InvertgateError():
            return str(error)
        case KeyboardInterrupt() | click.Abort():
            return ""
        case _:
            return f"{type(error).__name__}: {error}"


@contextmanager
def _only_complaining() -> Generator[None]:
    try:
        yield
    except InvertgateError as error:
        complain(str(error))
