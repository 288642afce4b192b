"""The commands that set a project up, and look at how it is set up."""

# What is imported within functions is needed only by these commands.
# ruff: noqa: PLC0415

import os
import shlex
import sys
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Final

import click

from invertgate.errors import ExitCode, UsageError
from invertgate.help_pages import examples
from invertgate.report.progress import progress_for
from invertgate.report.words import visible
from invertgate.request import Request, UseCases
from invertgate.streams import put, writable

Action = Callable[[UseCases], int]

_HOSTS: Final = ("github", "gitlab", "both", "none")
_DID: Final = 11


@click.command(
    short_help="Write what a project needs, and ask nothing.",
    epilog=examples(
        ("invertgate init", "everything that is missing"),
        ("invertgate init --ci gitlab", "jobs for GitLab only"),
        ("invertgate init --ci none", "no CI jobs"),
    ),
)
@click.option(
    "--ci",
    "host",
    type=click.Choice(_HOSTS),
    help="Whose CI gets jobs.  [default: what origin's address says, or else both]",
)
def init(*, host: str | None) -> Action:
    """Write what a project needs: options, a line for .gitignore, CI jobs.

    Asks nothing and replaces nothing: what is there already is left alone, and said. The options
    are all commented out, each below its meaning. The jobs judge a patch on several machines, and
    one job, which you make a required check, joins what they found.
    """
    return partial(_init, _request(), host)


@click.command(
    short_help="Look at the set-up, and say how to mend it.",
    epilog=examples(
        ("invertgate doctor", "all that can be looked at"),
        ("invertgate doctor --json", "the same for a program"),
    ),
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def doctor(*, as_json: bool) -> Action:
    """Look at the set-up: each line is ok, a warning or a problem, with the cure.

    Looks at Python, git and the merge base, pytest and its plugins, coverage data and the table,
    and collects the tests in a private copy, to see that your modules come from there. No test is
    run. Ends 1 if there is a problem.
    """
    return partial(_doctor, _request(), as_json=as_json)


@click.command(
    short_help="Print a script that completes in your shell.",
    epilog=examples(
        ("invertgate completion bash >> ~/.bashrc", ""),
        ("invertgate completion zsh >> ~/.zshrc", "below compinit"),
        ("invertgate completion fish > ~/.config/fish/completions/invertgate.fish", ""),
    ),
)
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
def completion(*, shell: str) -> Action:
    """Print a script that completes commands, options and ids of rows in your shell."""
    return partial(_completion, shell)


COMMANDS: Final[tuple[click.Command, ...]] = (init, doctor, completion)


def _request() -> Request:
    try:
        here = Path.cwd()
    except FileNotFoundError as error:
        raise UsageError("the folder you stand in is gone; change to another one") from error
    return Request(
        root=here,
        command=shlex.join(("invertgate", *click.get_current_context().obj)),
        environment=dict(os.environ),
    )


def _init(request: Request, host: str | None, _: UseCases) -> int:
    from invertgate import setup_files

    both = tuple(setup_files.Host)
    meant = {None: None, "both": both, "none": ()} | {each.value: (each,) for each in both}
    done = setup_files.init(request, meant[host])
    width = max(len(step.path) for step in done.steps)
    lines = [f"in {done.top}"]
    lines += [f"{step.did:<{_DID}} {step.path:<{width}}  {step.what}" for step in done.steps]
    lines += [f"next: {line}" for line in done.next]
    put("".join(f"{visible(line).rstrip()}\n" for line in lines), writable(sys.stdout))
    return ExitCode.USAGE if done.has_failed else ExitCode.OK


def _doctor(request: Request, _: UseCases, *, as_json: bool) -> int:
    from dataclasses import replace

    from invertgate import doctor as use_case
    from invertgate.report import checkup
    from invertgate.report.terminal import console_for

    with closing(progress_for(writable(sys.stderr), request.environment)) as progress:
        checks = use_case.examine(replace(request, progress=progress))
    stream = writable(sys.stdout)
    if as_json:
        import json

        put(json.dumps(checkup.as_object(checks), ensure_ascii=False, indent=2) + "\n", stream)
    else:
        console = console_for(stream, os.environ)
        with console.capture() as page:
            checkup.show(checks, console)
        put(page.get(), stream)
    found = checkup.counts(checks)
    return ExitCode.FINDINGS if found[checkup.State.PROBLEM] else ExitCode.OK


def _completion(shell: str, _: UseCases) -> int:
    from click.shell_completion import BashComplete, FishComplete, ShellComplete, ZshComplete

    shells: dict[str, type[ShellComplete]] = {
        "bash": BashComplete,
        "zsh": ZshComplete,
        "fish": FishComplete,
    }
    asked = shells[shell](click.Command("invertgate"), {}, "invertgate", "_INVERTGATE_COMPLETE")
    # Not BashComplete.source: it starts bash, to look how old it is.
    put(f"{ShellComplete.source(asked)}\n", writable(sys.stdout))
    return ExitCode.OK
