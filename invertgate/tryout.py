"""Runs a test once on the inverted outcome, before the eyes of a person."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Final

from invertgate import process
from invertgate.copies import Copies, copies
from invertgate.errors import ExitCode, UsageError
from invertgate.experiment.session import calming_options
from invertgate.isolation.contain import held, launcher
from invertgate.markers import files_bearing_markers, marked
from invertgate.model import Outcome
from invertgate.one_row import chosen, written_mutant
from invertgate.options import Contain
from invertgate.outcomes.mutant import Mutant
from invertgate.patch.git import open_repository
from invertgate.process import Answer
from invertgate.request import Request
from invertgate.source_text import json_of
from invertgate.survey import ProjectSurvey, Survey, survey
from invertgate.table.selection import written
from invertgate.trial import laboratory

_ANSWER: Final = "INVERTGATE_ANSWER"
_PLUGIN: Final = "_invertgate_inside.witness"
_SHOWN: Final = 0
_CONTROL: Final = 1
"""Numbers of the copies."""
_SECONDS: Final = 600.0
_MOST_PRINTED: Final = 1 << 22
_LAST_LINES: Final = 30
_GREEN: Final = (
    "the test stayed green on the inverted outcome; `invertgate explain` tells whether it takes it"
)
_NO_EXTERNAL: Final = ("-m", "not external")


@dataclass(frozen=True, slots=True)
class Tryout:
    """What is run, and on what."""

    outcome: Outcome
    test: str
    mutant: Mutant


@dataclass(frozen=True, slots=True)
class Tried:
    """How it went."""

    exit_code: ExitCode
    """0 if the test failed in its call phase, as it should; 1 if it stayed green; 3 if it was not
    run to its end, and nothing can be said; 4 if it does not pass without the inversion either."""
    said: str


def prepare(request: Request, text: str, test: str) -> tuple[Survey, ProjectSurvey, Tryout]:
    """Find out what is to be run.

    Args:
        request: What the user asked for.
        text: The row's id, or the beginning of it, or ``PATH:`` and either.
        test: The nodeid of the test; empty for the one that claims the row.

    Raises:
        UsageError: There is no such row, or no test to run.
    """
    seen = survey(request, open_repository(request.root, request.environment))
    seen, project, outcome = chosen(seen, text)
    if outcome.exempt:
        raise UsageError(f"{written(outcome.key)} is exempt: {outcome.exempt}")
    named = test or _claimed(request, seen, project)
    if not named:
        raise UsageError(f"no test claims {written(outcome.key)}; name one with --test NODEID")
    if any(fnmatchcase(named, glob) for glob in project.config.external):
        raise UsageError(f"{named} has an outside cost, and is never run on inverted code")
    return seen, project, Tryout(outcome, named, written_mutant(seen, project, outcome))


def _claimed(request: Request, seen: Survey, project: ProjectSurvey) -> str:
    """Return the first test that claims the row, by the table or by a marker."""
    matched = seen.matched(project)
    bearing = files_bearing_markers(seen, project)
    if not any(row.claims for row in matched.rows) and bearing:
        with laboratory(request, seen, project, project.outcomes, most_workers=1) as lab:
            matched = seen.matched(project, marked(lab, project, bearing).tests)
    tests = [claim.test for row in matched.rows for claim in row.claims]
    return tests[0] if tests else ""


def run(
    request: Request,
    seen: Survey,
    project: ProjectSurvey,
    tryout: Tryout,
    *,
    pdb: bool,
) -> Tried:
    """Run the test on the inverted outcome, in a private copy, on the user's terminal.

    Before that it is run unseen in another copy with nothing inverted, and has to pass there.

    Args:
        request: What the user asked for.
        seen: What is judged.
        project: The row's.
        tryout: What is run.
        pdb: Let a failure end in the debugger.

    Raises:
        InvertgateError: The copy cannot be made.
    """
    head = seen.patch.head if request.head else ""
    with copies(seen.repository, head, project.config, 2, request.environment) as lent:
        for number in (_SHOWN, _CONTROL):
            for path, content in seen.sources().items():
                (lent.trees.top(number) / path).write_bytes(content)
        (lent.trees.top(_SHOWN) / tryout.outcome.path).write_bytes(tryout.mutant.source)
        level, red = _held(lent, project, tryout.test)
        if red:
            return Tried(ExitCode.RED, red)
        argv = _pytest(lent, project, tryout.test, level, ("--pdb",) if pdb else ())
        code = process.on_terminal(
            argv,
            cwd=lent.folder(_SHOWN, project.folder),
            env=_environment(lent, project, _SHOWN),
        )
        return judged(_told(lent, _SHOWN), code)


def _held(lent: Copies, project: ProjectSurvey, test: str) -> tuple[Contain, str]:
    """Choose how far the inverted code is held: as far as the test bears it without an inversion.

    Returns:
        The level; and why there is nothing to be seen, if the test does not pass under any.
    """
    why = ""
    for level in held(project.config.contain).levels:
        answer = process.ask(
            _pytest(lent, project, test, level, ()),
            cwd=lent.folder(_CONTROL, project.folder),
            env=_environment(lent, project, _CONTROL),
            seconds=_SECONDS,
            most=_MOST_PRINTED,
        )
        told = _told(lent, _CONTROL)
        if judged(told, answer.code).exit_code is ExitCode.FINDINGS:
            return level, ""
        why = _red(test, told, answer)
    return Contain.NONE, why


def _red(test: str, told: Mapping[str, Any] | None, answer: Answer) -> str:
    """Say how the test went without an inversion.

    Raises:
        UsageError: There is no such test.
    """
    printed = answer.stdout.decode(errors="replace")
    if told is not None and not told["tests"] and not told["errors"]:
        if "deselected" in printed:
            why = "one that is marked external is never run on inverted code"
            raise UsageError(f"pytest deselects {test}; {why}")
        raise UsageError(f"pytest collects no test {test}; `pytest --collect-only -q` lists them")
    last = [*printed.strip().splitlines(), *answer.stderr.decode(errors="replace").splitlines()]
    head = "the test does not pass although nothing is inverted; pytest said:"
    return "\n".join([head, *last[-_LAST_LINES:]])


def _environment(lent: Copies, project: ProjectSurvey, number: int) -> dict[str, str]:
    answer = lent.trees.place(number) / "answer.json"
    return {**lent.environment(number, project.folder), _ANSWER: str(answer)}


def _pytest(
    lent: Copies, project: ProjectSurvey, test: str, level: Contain, more: Sequence[str]
) -> tuple[str, ...]:
    options = (*calming_options(lent.trees.scratch), *project.config.pytest_args)
    return (
        *launcher(level, lent.trees.scratch),
        *(sys.executable, "-m", "pytest", "-p", _PLUGIN, "-p", "xdist", "--rootdir=."),
        *("--maxfail=0", "--tb=long", "-vv", *options, *more, "-n0", *_NO_EXTERNAL, test),
    )


def _told(lent: Copies, number: int) -> dict[str, Any] | None:
    answer = lent.trees.place(number) / "answer.json"
    try:
        told = json_of(answer.read_bytes())
    except (OSError, ValueError):
        return None
    answer.unlink()
    return told if isinstance(told, dict) else None


def judged(told: Mapping[str, Any] | None, code: int) -> Tried:
    """Judge a run by what the test's own reports say, never by an exit code.

    Args:
        told: What our plugin wrote down; None if it did not come to that.
        code: What pytest ended with.
    """
    if told is None:
        return Tried(ExitCode.UNPROVEN, f"pytest did not come to its end (it ended with {code})")
    if not told["tests"]:
        why = "; ".join(told["errors"]) or "none of that name, or it was deselected"
        return Tried(ExitCode.UNPROVEN, f"pytest collected no test: {why}")
    reports = [each for each in (*told["reports"], *told["failures"]) if not each["expected"]]
    calls = [each for each in reports if each["phase"] == "call"]
    if any(each["outcome"] == "failed" for each in calls):
        return Tried(ExitCode.OK, "the test failed on the inverted outcome, as it should")
    if calls and all(each["outcome"] == "passed" for each in reports):
        return Tried(ExitCode.FINDINGS, _GREEN)
    return Tried(ExitCode.UNPROVEN, "the test neither failed in its call phase nor passed")
