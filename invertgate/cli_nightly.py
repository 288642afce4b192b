"""The commands for large projects: what joins reports, and what compares them over time."""

# What is imported within functions is needed only by these commands.
# ruff: noqa: PLC0415

import json
import os
import shlex
import sys
from collections.abc import Callable, MutableMapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, TextIO

import click

from invertgate.errors import ExitCode
from invertgate.report.document import Report
from invertgate.report.store import FOLDER, encode
from invertgate.request import UseCases
from invertgate.streams import put, writable

if TYPE_CHECKING:
    from rich.console import Console

Action = Callable[[UseCases], int]
Command = Callable[..., Action]

_DEEP_MOST: Final = 10


@dataclass(frozen=True, slots=True)
class Large:
    """What was asked for with :func:`large_flags`."""

    deep: int = 0
    """How many of mutmut's changes are tried in each bound row; 0 is none."""
    cluster: str = ""
    """Address of a Dask scheduler; empty for this machine."""


def large_flags(function: Command) -> Command:
    """Add the flags for what takes its time; :func:`large_taken` reads them."""
    limit = click.option(
        "--deep-limit",
        type=click.IntRange(1, 1000),
        metavar="N",
        help=f"Changes that --deep tries in each row, at most.  [default: {_DEEP_MOST}]",
    )
    deep = click.option(
        "--deep", is_flag=True, help="Advice: try mutmut's small changes within bound rows too."
    )
    cluster = click.option(
        "--cluster",
        metavar="ADDRESS",
        help="Judge on the workers of this Dask scheduler (tcp://host:8786).",
    )
    return deep(limit(cluster(function)))


def large_taken(values: MutableMapping[str, object]) -> Large:
    """Take what :func:`large_flags` added out of what a command was given."""
    deep, limit = values.pop("deep"), values.pop("deep_limit")
    if limit is not None and not deep:
        raise click.UsageError("--deep-limit says how much --deep tries; give both")
    most = limit if isinstance(limit, int) else _DEEP_MOST
    return Large(deep=most if deep else 0, cluster=str(values.pop("cluster") or ""))


_history = click.option(
    "--history",
    type=click.Path(path_type=Path, dir_okay=False),
    help=f"Where the history of reports lies.  [default: {FOLDER}/history.sqlite]",
)
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
@_history
@_json
@click.option("-v", "--verbose", is_flag=True, help="Also list bound rows and runs.")
def merge(
    *,
    paths: tuple[Path, ...],
    matrix: bool,
    out: Path,
    history: Path | None,
    as_json: bool,
    verbose: bool,
) -> Action:
    """Join reports to one: the shards of a run, or the runs of several machines.

    Takes reports, and folders that hold some at any depth. Ends as the whole run would have; ends 3
    if a shard is missing, is there twice, did not get to its end, or belongs to another run.
    """
    return partial(
        _merge, paths, out, _command(), history, matrix=matrix, as_json=as_json, verbose=verbose
    )


@click.command()
@click.option(
    "--of",
    "series",
    type=click.Choice(("sweep", "run")),
    help="Which reports to compare; by default those of sweeps, or else of runs.",
)
@click.option(
    "--last",
    type=click.IntRange(1, 100),
    default=30,
    help="Reports that are told of at most.  [default: 30]",
)
@_history
@click.option(
    "--svg",
    "drawing",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Also draw it into this file.",
)
@_json
def trend(
    *, series: str | None, last: int, history: Path | None, drawing: Path | None, as_json: bool
) -> Action:
    """Compare the last report with those before it on the same machine.

    Ranks weak tests, and tells which rows are newly weak, which are bound now, which are flaky, and
    which tests are slow. Nothing is run.
    """
    return partial(_trend, series or "", last, history, drawing, as_json=as_json)


COMMANDS: Final[tuple[click.Command, ...]] = (merge, trend)


def _command() -> str:
    return shlex.join(("invertgate", *click.get_current_context().obj))


def _merge(
    paths: tuple[Path, ...],
    out: Path,
    command: str,
    history: Path | None,
    _: UseCases,
    *,
    matrix: bool,
    as_json: bool,
    verbose: bool,
) -> int:
    from invertgate import merge as use_case

    report = use_case.run(paths, out, command, matrix=matrix, history=history)
    if as_json:
        put(encode(report), writable(sys.stdout))
    _show(report, as_json=as_json, verbose=verbose)
    return report.exit_code


def _show(report: Report, *, as_json: bool, verbose: bool) -> None:
    from invertgate.report.terminal import show_report

    stream = writable(sys.stderr if as_json else sys.stdout)
    _page(lambda console: show_report(report, console, verbose=verbose), stream)


def _page(show: "Callable[[Console], None]", stream: TextIO) -> None:
    """Write a page in one go."""
    from invertgate.report.terminal import console_for

    console = console_for(stream, os.environ)
    with console.capture() as page:
        show(console)
    put(page.get(), stream)


def _trend(
    series: str,
    last: int,
    history: Path | None,
    drawing: Path | None,
    _: UseCases,
    *,
    as_json: bool,
) -> int:
    from invertgate import trends
    from invertgate.report.trend_page import show_trend

    path = history or trends.history_of(trends.top_of(Path.cwd(), os.environ))
    found = trends.read(path, series, last)
    if drawing is not None:
        trends.draw(found, drawing)
    if as_json:
        put(json.dumps(asdict(found), indent=2) + "\n", writable(sys.stdout))
        return ExitCode.OK
    _page(lambda console: show_trend(found, console), writable(sys.stdout))
    return ExitCode.OK
