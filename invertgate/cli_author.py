"""The commands for who writes a patch, or looks at one row of it."""

# What is imported within functions is needed only by these commands.
# ruff: noqa: PLC0415

import json
import os
import shlex
import sys
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Final

import click

from invertgate import completing
from invertgate.cli_flags import flags
from invertgate.help_pages import examples
from invertgate.model import PolicySource, Verdict
from invertgate.report.progress import progress_for
from invertgate.report.words import MEANINGS, NEXT_STEPS, outcome_in_words, visible
from invertgate.request import Request, UseCases
from invertgate.streams import put, writable

Action = Callable[[UseCases], int]

_NOT_HERE: Final = frozenset({"tries", "coverage"})
_OTHERS: Final = 5

_head = click.option(
    "--head",
    default="",
    metavar="REV",
    shell_complete=completing.revisions,
    help="Judge a commit, not the working tree.",
)
_policy = click.option(
    "--policy",
    type=click.Choice(tuple(map(str, PolicySource))),
    default=str(PolicySource.BASE),
    help="Whose policies count.  [default: base]",
)
_row = click.argument("row", metavar="ID", shell_complete=completing.rows)
_paths = click.argument("paths", nargs=-1, metavar="[PATH]...")


@click.command(
    short_help="Show all there is to know of one row.",
    epilog=examples(
        ("invertgate explain 0e39ba", "the first digits of an id are enough"),
        ("invertgate explain shop/orders.py:0e39ba --json", "the same for a program"),
        ("invertgate explain 0e39ba --diff | git apply", "have the mutant in your files"),
        ("invertgate explain weak", "what a verdict means"),
    ),
)
@_row
@_paths
@_head
@click.option(
    "--others",
    type=click.IntRange(min=0),
    default=_OTHERS,
    show_default=True,
    metavar="N",
    help="Try as many other tests that take the outcome; 0 does not look for any.",
)
@click.option("--no-base", is_flag=True, help="Do not run the claimed test on the base's source.")
@click.option("--diff", is_flag=True, help="Print the mutant as `git apply` takes it; run nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@_policy
@flags(lambda option: option.name not in _NOT_HERE)
def explain(  # noqa: PLR0913 (click hands over one by one what may be said)
    *,
    row: str,
    paths: tuple[str, ...],
    head: str,
    others: int,
    no_base: bool,
    diff: bool,
    as_json: bool,
    policy: str,
    **overrides: object,
) -> Action:
    """Show all there is to know of one row, and what would help.

    The outcome in its source, its mutant as a diff, what each run of the claimed test said, whether
    the test also passes on the base's source, which other tests take the outcome and notice, and
    the shortest advice that is true. ID is a row's id, its first digits, or PATH:ID; with PATH all
    outcomes in those files count as new. Ends 0 whatever the verdict is.
    """
    if row in set(map(str, Verdict)):
        return partial(_meaning, Verdict(row))
    request = _request(overrides, paths=paths, head=head, policy=PolicySource(policy))
    if diff:
        return partial(_diff, request, row)
    return partial(_explain, request, row, others, on_base=not no_base, as_json=as_json)


@click.command(
    "try",
    short_help="Run a test on one inverted outcome, with its full traceback.",
    epilog=examples(
        ("invertgate try 0e39ba", "the claimed test, once, on the inverted outcome"),
        ("invertgate try 0e39ba --pdb", "and into the debugger where it fails"),
        ("invertgate try 0e39ba --test tests/test_orders.py::test_new", "another test"),
    ),
)
@_row
@_paths
@_head
@click.option("--test", default="", metavar="NODEID", help="The test, in place of the claimed one.")
@click.option("--pdb", is_flag=True, help="Open pytest's debugger where the test fails.")
@_policy
@flags(lambda option: option.name not in _NOT_HERE)
def try_(
    *,
    row: str,
    paths: tuple[str, ...],
    head: str,
    test: str,
    pdb: bool,
    policy: str,
    **overrides: object,
) -> Action:
    """Run a test once on one inverted outcome, and show what pytest shows.

    In a private copy into whose source the mutant was written; your files are not touched. Ends 0
    if the test fails, as it should; 1 if it stays green; 2 if there is no such row or test; 3 if
    the run did not get to its end; 4 if the test does not pass without the inversion either.
    """
    request = _request(overrides, paths=paths, head=head, policy=PolicySource(policy))
    return partial(_try, request, row, test, pdb=pdb)


COMMANDS: Final[tuple[click.Command, ...]] = (explain, try_)


def _request(
    overrides: dict[str, object], *, paths: tuple[str, ...], head: str, policy: PolicySource
) -> Request:
    return Request(
        root=Path.cwd(),
        command=shlex.join(("invertgate", *click.get_current_context().obj)),
        overrides=overrides,
        paths=paths,
        head=head,
        policy=policy,
        environment=dict(os.environ),
    )


def _meaning(verdict: Verdict, _: UseCases) -> int:
    lines = [f"{verdict.replace('_', ' ')}: {MEANINGS[verdict]}"]
    lines += [f"next: {NEXT_STEPS[verdict]}"] if verdict in NEXT_STEPS else []
    put("\n".join([*lines, ""]), writable(sys.stdout))
    return 0


def _diff(request: Request, row: str, _: UseCases) -> int:
    from invertgate.one_row import mutant_of
    from invertgate.streams import put_bytes

    put_bytes(mutant_of(request, row).diff, writable(sys.stdout))
    return 0


def _explain(
    request: Request, row: str, others: int, _: UseCases, *, on_base: bool, as_json: bool
) -> int:
    from invertgate.explain import Wanted
    from invertgate.explain import explain as use_case

    with _watched(request) as watched:
        told = use_case(watched, row, Wanted(others, on_base))
    stream = writable(sys.stdout)
    if as_json:
        text = json.dumps(asdict(told), indent=2)
        put(text.replace("##[", r"#\u0023[") + "\n", stream)  # no command in a CI log
        return 0
    from invertgate.report.explanation import show
    from invertgate.report.lines import console_for

    console = console_for(stream, os.environ)
    with console.capture() as page:
        show(told, console)
    put(page.get(), stream)
    return 0


def _try(request: Request, row: str, test: str, _: UseCases, *, pdb: bool) -> int:
    from invertgate import tryout

    seen, project, prepared = tryout.prepare(request, row, test)
    outcome = prepared.outcome
    words = outcome_in_words(outcome.kind, outcome.predicate, outcome.side)
    place = f"{outcome.path}:{outcome.line}"
    stream = writable(sys.stdout)
    put(f"inverted: {words} at {visible(place)}\n", stream)
    put("".join(f"  {visible(line)}\n" for line in _changes(prepared.mutant.text)), stream)
    tried = tryout.run(request, seen, project, prepared, pdb=pdb)
    put("".join(f"{visible(line)}\n" for line in ["", *tried.said.splitlines()]), stream)
    return tried.exit_code


def _changes(diff: str) -> list[str]:
    """Return the changed lines of a diff, without its head."""
    return [line for line in diff.splitlines()[2:] if line.startswith(("-", "+"))]


@contextmanager
def _watched(request: Request) -> Generator[Request]:
    """Lend a request that tells its progress."""
    with closing(progress_for(writable(sys.stderr), request.environment)) as progress:
        yield replace(request, progress=progress)
