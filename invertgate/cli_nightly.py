"""The commands for large projects: what joins reports, and what compares them over time."""

# What is imported within functions is needed only by these commands.
# ruff: noqa: PLC0415

import os
import shlex
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

import click

from invertgate.report.document import Report
from invertgate.report.store import FOLDER, encode
from invertgate.request import UseCases
from invertgate.streams import put, writable

Action = Callable[[UseCases], int]

_json = click.option("--json", "as_json", is_flag=True, help="Print JSON; all else goes to stderr.")


@click.command()
@click.argument(
    "paths",
    nargs=-1,
    required=True,
    type=click.Path(path_type=Path),
    metavar="DIR|FILE...",
)
@click.option(
    "--matrix",
    is_flag=True,
    help="They come from several machines: bound anywhere is bound, red anywhere is red.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=FOLDER,
    help=f"Folder for the joined report.  [default: {FOLDER}]",
)
@_json
@click.option("-v", "--verbose", is_flag=True, help="Also list bound rows and runs.")
def merge(
    *, paths: tuple[Path, ...], matrix: bool, out: Path, as_json: bool, verbose: bool
) -> Action:
    """Join reports to one: the shards of a run, or the runs of several machines.

    Takes reports, and folders that hold some at any depth. Ends as the whole run would have; ends 3
    if a shard is missing, is there twice, did not get to its end, or belongs to another run.
    """
    return partial(_merge, paths, out, _command(), matrix=matrix, as_json=as_json, verbose=verbose)


COMMANDS: Final[tuple[click.Command, ...]] = (merge,)


def _command() -> str:
    return shlex.join(("invertgate", *click.get_current_context().obj))


def _merge(
    paths: tuple[Path, ...],
    out: Path,
    command: str,
    _: UseCases,
    *,
    matrix: bool,
    as_json: bool,
    verbose: bool,
) -> int:
    from invertgate import merge as use_case

    report = use_case.run(paths, out, command, matrix=matrix)
    if as_json:
        put(encode(report), writable(sys.stdout))
    _show(report, as_json=as_json, verbose=verbose)
    return report.exit_code


def _show(report: Report, *, as_json: bool, verbose: bool) -> None:
    from invertgate.report.terminal import console_for, show_report

    stream = writable(sys.stderr if as_json else sys.stdout)
    console = console_for(stream, os.environ)
    with console.capture() as page:
        show_report(report, console, verbose=verbose)
    put(page.get(), stream)
