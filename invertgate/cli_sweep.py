"""The command that judges outcomes at large."""

# What is imported within functions is needed only by this command.
# ruff: noqa: PLC0415

import os
import re
import shlex
import sys
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from invertgate.cli_flags import flags
from invertgate.cli_nightly import Action, large_flags, large_taken
from invertgate.cli_report import Wanted, format_flags, give, of_run, promised, show, taken
from invertgate.report.document import Report
from invertgate.report.progress import progress_for
from invertgate.report.store import FOLDER, encode
from invertgate.request import Request, UseCases
from invertgate.streams import put, writable

if TYPE_CHECKING:
    from invertgate.sweep import Wish

_NOT_HERE: Final = frozenset({"base"})
_SECONDS: Final[Mapping[str, int]] = {"": 1, "s": 1, "m": 60, "h": 3600}
_BUDGET: Final = re.compile(r"(\d+(?:\.\d+)?)([smh]?)")


@click.command()
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option(
    "--since",
    metavar="REV|DATE",
    help='Outcomes that are new since then: a revision, 2026-03-14, "2 weeks ago".',
)
@click.option("--all", "everything", is_flag=True, help="All outcomes there are, or those in PATH.")
@click.option(
    "--budget", metavar="TIME", help="End in this time, as 3600s, 90m or 2h, and say what is left."
)
@click.option(
    "--cache",
    type=click.Path(path_type=Path, file_okay=False),
    help=f"Where verdicts are kept for the next night.  [default: {FOLDER}/cache]",
)
@click.option("--no-cache", is_flag=True, help="Judge everything anew; do so once a week.")
@click.option("--shard", metavar="I/N", help="Judge one of N parts; see `invertgate merge`.")
@large_flags
@click.option("--no-resume", is_flag=True, help="Judge again what a sweep that was killed judged.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON; all else goes to stderr.")
@format_flags
@click.option("--no-annotations", is_flag=True, help="Print no annotations under GitHub Actions.")
@click.option("-v", "--verbose", is_flag=True, help="Also list bound rows and runs.")
@flags(lambda option: option.name not in _NOT_HERE)
def sweep(  # noqa: PLR0913 (click hands over one by one what may be said)
    *,
    paths: tuple[str, ...],
    since: str | None,
    everything: bool,
    budget: str | None,
    cache: Path | None,
    no_cache: bool,
    shard: str | None,
    no_resume: bool,
    as_json: bool,
    no_annotations: bool,
    verbose: bool,
    **overrides: object,
) -> Action:
    """Judge outcomes at large: all that are new since a commit or a day, or all there are.

    A row that no test claims is tried against the tests that take it. Verdicts whose files have not
    changed are taken over from the night before. One pair of runs binds a row (see --confirm).
    Ends as `run` does; ends 3 at best if the budget was used up.
    """
    if everything == (since is not None):
        raise click.UsageError("choose --since REV|DATE or --all")
    if paths and not everything:
        raise click.UsageError("PATH says which outcomes there are of; it goes with --all")
    if cache is not None and no_cache:
        raise click.UsageError("choose --cache or --no-cache")
    wanted = Wanted(taken(overrides))
    large = large_taken(overrides)
    if as_json and wanted.takes_stdout:
        raise click.UsageError("--json and another format both write to standard output")
    request = Request(
        root=Path.cwd(),
        command=shlex.join(("invertgate", *click.get_current_context().obj)),
        overrides=overrides,
        paths=paths,
        resume=not no_resume,
        deep=large.deep,
        cluster=large.cluster,
        environment=dict(os.environ),
    )
    request = _with_shard(request, shard)
    wanted = of_run(wanted.targets, request.environment, annotations=not no_annotations)
    from invertgate.sweep import Wish

    wish = Wish(since or "", _seconds(budget), cache, use_cache=not no_cache)
    return partial(_sweep, request, wish, wanted, as_json=as_json, verbose=verbose)


COMMANDS: Final[tuple[click.Command, ...]] = (sweep,)


def _with_shard(request: Request, shard: str | None) -> Request:
    if shard is None:
        return request
    from invertgate.nightly.shards import parse

    return replace(request, shard=parse(shard))


def _seconds(budget: str | None) -> float:
    if budget is None:
        return float("inf")
    form = _BUDGET.fullmatch(budget.strip())
    if form is None or float(form[1]) == 0:
        raise click.UsageError(f"--budget {budget!r} is no time; write 3600s, 90m or 2h")
    return float(form[1]) * _SECONDS[form[2]]


def _sweep(
    request: Request,
    wish: "Wish",
    wanted: Wanted,
    _: UseCases,
    *,
    as_json: bool,
    verbose: bool,
) -> int:
    stream = writable(sys.stderr if as_json or wanted.takes_stdout else sys.stdout)
    with (
        promised(request, wanted, stream),
        closing(progress_for(writable(sys.stderr), request.environment)) as progress,
    ):
        report = _swept(replace(request, progress=progress), wish)
    try:
        if as_json:
            put(encode(report).replace("##[", r"#\u0023["), writable(sys.stdout))
        show(report, stream, verbose=verbose)
    finally:
        give(report, wanted, stream)
    return report.exit_code


def _swept(request: Request, wish: "Wish") -> Report:
    if request.cluster:
        from invertgate import on_cluster

        return on_cluster.run_sweep(request, wish)
    from invertgate import sweep as use_case

    return use_case.run(request, wish)
