"""The command line: arguments in, exit code out."""

# What is imported within functions is not needed where a patch has nothing new, which is to be told
# in no time.
# ruff: noqa: PLC0415

import os
import shlex
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn, TextIO

import click

from invertgate import __version__, completing
from invertgate.cli_flags import flags
from invertgate.cli_nightly import COMMANDS as NIGHTLY
from invertgate.cli_nightly import large_flags, large_taken
from invertgate.cli_report import COMMANDS as REPORT
from invertgate.cli_report import Wanted, format_flags, give, of_run, promised, show, taken
from invertgate.errors import ExitCode, InvertgateError
from invertgate.help_pages import ROOT, Sections, furnish
from invertgate.model import PolicySource, Shard
from invertgate.report.document import BindReport, Report
from invertgate.report.progress import progress_for
from invertgate.report.store import encode
from invertgate.request import Request, UseCases
from invertgate.signals import interruptible
from invertgate.streams import complain, put, writable, write_anything

if TYPE_CHECKING:
    from rich.console import Console

ONLY_BIND: Final = frozenset({"tests", "tries"})
ONLY_RUN: Final = frozenset({"locked"})
TABLE_OPTIONS: Final = frozenset({"base", "include", "exclude", "extra_kinds", "table", "project"})


LATER: Final[Mapping[str, tuple[str, ...]]] = {
    "cli_author": ("explain", "try"),
    "cli_lanes": ("route", "lane", "quarantine"),
    "cli_setup": ("init", "doctor", "completion"),
    "cli_sweep": ("sweep",),
}
"""Modules of ours with commands that a run does not need, and their names."""


class Commands(Sections):
    """All commands; those of :data:`LATER` are imported when they are asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands; see `click.Group`."""
        for module in LATER:
            self._import(module)
        return super().list_commands(ctx)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command by its name; see `click.Group`."""
        for module, names in LATER.items():
            if cmd_name in names:
                self._import(module)
        return super().get_command(ctx, cmd_name)

    def _import(self, module: str) -> None:
        for command in import_module(f"invertgate.{module}").COMMANDS:
            self.add_command(command)
        furnish(self)


@dataclass(frozen=True, slots=True)
class Display:
    """How to show what was found."""

    as_json: bool = False
    verbose: bool = False
    beside: bool = False
    """Leave standard output to a format of the report."""


Action = Callable[[UseCases], int]
"""A command that was understood and only has to be done."""


class Installed:
    """The use cases of this package, imported when they are called."""

    def run(self, request: Request) -> Report:
        """Judge a patch."""
        if request.cluster:
            from invertgate import on_cluster

            return on_cluster.run(request)
        from invertgate import gate

        return gate.run(request)

    def bind(self, request: Request) -> BindReport:
        """Search a test for each row without one."""
        from invertgate import bind

        return bind.run(request)

    def table(self, request: Request, *, write: bool) -> Report:
        """Compare the table with the outcomes, and bring it up to date if asked."""
        from invertgate import gate

        return gate.table(request, write=write)


def main(argv: Sequence[str] | None = None) -> NoReturn:
    """Do what the command line says and exit with the code that tells how it went.

    Args:
        argv: The arguments without the program's name; those of the process by default.
    """
    sys.exit(int(perform(sys.argv[1:] if argv is None else argv, Installed())))


def perform(argv: Sequence[str], use_cases: UseCases) -> int:
    """Do what the command line says and return the exit code."""
    write_anything()
    try:
        with interruptible():
            # click only reads: what a command does is done outside of it, or else click would
            # have its own ideas of broken pipes and of Ctrl-C.
            action: Action | int | None = command_line.main(
                list(argv), prog_name="invertgate", standalone_mode=False, obj=tuple(argv)
            )
            if callable(action):
                return action(use_cases)
            return int(action or ExitCode.OK) if argv else ExitCode.USAGE
    except click.ClickException as error:
        page = StringIO()
        error.show(page)
        put(page.getvalue(), writable(sys.stderr))
        return ExitCode.USAGE
    except InvertgateError as error:
        complain(str(error))
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        complain("interrupted; the report is marked incomplete")
        return ExitCode.INTERRUPTED
    except Exception:  # noqa: BLE001 (a bug of ours, and it keeps its traceback)
        import traceback

        complain(
            f"this is a bug in invertgate {__version__}; please report it with these lines:\n"
            f"{traceback.format_exc()}"
        )
        return ExitCode.BUG


_ids = click.option(
    "--id",
    "ids",
    multiple=True,
    metavar="ID",
    shell_complete=completing.rows,
    help="Only this row, ID or PATH:ID; may be repeated.",
)
_json = click.option(
    "--json", "as_json", is_flag=True, help="Print the report as JSON; all else goes to stderr."
)
_policy = click.option(
    "--policy",
    type=click.Choice(tuple(map(str, PolicySource))),
    default=str(PolicySource.BASE),
    help="Whose policies count: head lets those of the patch count, which a person has reviewed.  "
    "[default: base]",
)
_verbose = click.option(
    "-v", "--verbose", is_flag=True, help="Also list bound rows, runs and files that were left out."
)
_paths = click.argument("paths", nargs=-1, metavar="[PATH]...")


@click.group(
    "invertgate",
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=ROOT,
)
@click.version_option(__version__, message="invertgate %(version)s")
def command_line() -> None:
    """Prove that a patch is tested: invert each new outcome of it and see its test fail.

    An outcome is one way that an if, except, case or else can go. A row is bound if the test that
    claims it passes as things are, and fails when just that outcome is inverted.
    """


for _command in (*NIGHTLY, *REPORT):
    command_line.add_command(_command)


@command_line.command()
@_paths
@click.option("--changed", is_flag=True, help="Judge the files that changed; the default.")
@click.option(
    "--head",
    default="",
    metavar="REV",
    shell_complete=completing.revisions,
    help="Judge a commit, not the working tree.",
)
@click.option("--list", "list_only", is_flag=True, help="List the new outcomes and run nothing.")
@click.option("--shard", metavar="I/N", help="Judge one of N parts; see `invertgate merge`.")
@click.option(
    "--against-base", is_flag=True, help="Advice: do the tests pass on the base's source too?"
)
@large_flags
@click.option(
    "--no-resume", is_flag=True, help="Judge again what a run that was killed has judged."
)
@_ids
@_policy
@_json
@format_flags
@click.option("--no-annotations", is_flag=True, help="Print no annotations under GitHub Actions.")
@_verbose
@flags(lambda option: option.name not in ONLY_BIND)
def run(  # noqa: PLR0913 (click hands over one by one what may be said)
    *,
    paths: tuple[str, ...],
    changed: bool,
    head: str,
    list_only: bool,
    shard: str | None,
    against_base: bool,
    no_resume: bool,
    ids: tuple[str, ...],
    policy: str,
    as_json: bool,
    no_annotations: bool,
    verbose: bool,
    **overrides: object,
) -> Action:
    """Judge a patch: every new outcome needs a test that fails when it is inverted.

    Compares the working tree with the merge base. With PATH, every outcome in those files counts
    as new. Ends 0 only if every row is bound or waived, or nothing is new.
    """
    if changed and paths:
        raise click.UsageError("choose --changed or PATH: with PATH all outcomes count as new")
    wanted = Wanted(taken(overrides))
    large = large_taken(overrides)
    if as_json and wanted.takes_stdout:
        raise click.UsageError("--json and another format both write to standard output")
    request = _request(overrides, paths=paths, ids=ids, head=head, list_only=list_only)
    request = replace(request, policy=PolicySource(policy), against_base=against_base)
    request = replace(request, shard=_shard(shard), resume=not no_resume)
    request = replace(request, deep=large.deep, cluster=large.cluster)
    if not list_only:
        wanted = of_run(wanted.targets, request.environment, annotations=not no_annotations)
    display = Display(as_json=as_json, verbose=verbose, beside=wanted.takes_stdout)
    return partial(_run, request, display, wanted)


@command_line.command()
@_paths
@_ids
@click.option("--rebind", is_flag=True, help="Search also for rows whose test does not hold.")
@click.option("--dry-run", is_flag=True, help="Say what would be written, and write nothing.")
@click.option("--markers", is_flag=True, help="Print marker lines to add; write no table.")
@click.option("--lock", is_flag=True, help="Also lock the claimed tests; see `run --locked`.")
@_policy
@_json
@flags(lambda option: option.name not in ONLY_RUN)
def bind(  # noqa: PLR0913 (click hands over one by one what may be said)
    *,
    paths: tuple[str, ...],
    ids: tuple[str, ...],
    rebind: bool,
    dry_run: bool,
    markers: bool,
    lock: bool,
    policy: str,
    as_json: bool,
    **overrides: object,
) -> Action:
    """Find a test for each row without one, and write it into the table.

    Tries the tests that take the outcome, cheapest first, on the inverted code. The first that
    fails because of it is named in the table, rather by an assertion than by an exception. Rows
    that no test notices are listed, with the tests that came nearest.
    """
    if markers and lock:
        raise click.UsageError("choose --markers or --lock: a claim by marker cannot be locked")
    request = _request(overrides, paths=paths, ids=ids)
    request = replace(request, lock=lock, policy=PolicySource(policy))
    request = replace(request, rebind=rebind, dry_run=dry_run, markers=markers)
    return partial(_bind, request, Display(as_json=as_json))


@command_line.command()
@click.option("--check", is_flag=True, help="End 1 unless the table has just the rows it should.")
@click.option("--write", is_flag=True, help="Add missing rows, remove left-over ones, keep claims.")
@_policy
@_json
@flags(lambda option: option.name in TABLE_OPTIONS)
def table(*, check: bool, write: bool, policy: str, as_json: bool, **overrides: object) -> Action:
    """Show the decision table beside the new outcomes; nothing is run."""
    if check and write:
        raise click.UsageError("choose --check or --write")
    request = replace(_request(overrides), policy=PolicySource(policy))
    return partial(_table, request, Display(as_json=as_json), write=write, check=check)


def _shard(text: str | None) -> Shard | None:
    if text is None:
        return None
    from invertgate.nightly.shards import parse

    return parse(text)


furnish(command_line)


def _request(
    overrides: Mapping[str, object],
    *,
    paths: tuple[str, ...] = (),
    ids: tuple[str, ...] = (),
    head: str = "",
    list_only: bool = False,
) -> Request:
    return Request(
        root=Path.cwd(),
        command=shlex.join(("invertgate", *click.get_current_context().obj)),
        overrides=overrides,
        paths=paths,
        ids=ids,
        head=head,
        list_only=list_only,
        environment=dict(os.environ),
    )


def _run(request: Request, display: Display, wanted: Wanted, use_cases: UseCases) -> int:
    stream = _stdout(display)
    with promised(request, wanted, stream), _watched(request) as watched:
        report = use_cases.run(watched)
    try:
        _show_json(report, display)
        show(report, stream, listing=request.list_only, verbose=display.verbose)
    finally:
        give(report, wanted, stream)
    return report.exit_code


def _bind(request: Request, display: Display, use_cases: UseCases) -> int:
    with _watched(request) as watched:
        report = use_cases.bind(watched)
    _show_json(report, display)
    from invertgate.report.bind_page import show_bind

    with _page(display) as console:
        show_bind(report, console)
    return report.exit_code


def _table(
    request: Request, display: Display, use_cases: UseCases, *, write: bool, check: bool
) -> int:
    report = use_cases.table(request, write=write)
    if not check and report.exit_code == ExitCode.FINDINGS:
        report = replace(report, exit_code=ExitCode.OK)  # who only looks is told, not stopped
    _show_json(report, display)
    from invertgate.report import terminal

    with _page(display) as console:
        terminal.show_table(report, console)
    return report.exit_code


@contextmanager
def _watched(request: Request) -> Generator[Request]:
    """Lend a request that tells its progress."""
    if request.list_only:
        yield request
        return
    with closing(progress_for(writable(sys.stderr), request.environment)) as progress:
        yield replace(request, progress=progress)


@contextmanager
def _page(display: Display) -> Generator["Console"]:
    """Lend a console, and write what it was given in one go."""
    from invertgate.report.terminal import console_for

    stream = _stdout(display)
    console = console_for(stream, os.environ)
    with console.capture() as page:
        yield console
    put(page.get(), stream)


def _show_json(report: Report | BindReport, display: Display) -> None:
    if display.as_json:
        text = encode(report)
        put(text.replace("##[", r"#\u0023["), writable(sys.stdout))  # no command in a CI log


def _stdout(display: Display) -> TextIO:
    """Choose where people read: not where JSON goes."""
    return writable(sys.stderr if display.as_json or display.beside else sys.stdout)
