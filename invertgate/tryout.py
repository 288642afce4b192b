"""Runs a test once on the inverted outcome, before the eyes of a person."""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final

from invertgate import process
from invertgate.copies import Copies, copies
from invertgate.errors import ExitCode, UsageError
from invertgate.experiment.session import calming_options
from invertgate.model import Outcome
from invertgate.one_row import chosen, written_mutant
from invertgate.outcomes.mutant import Mutant
from invertgate.patch.git import open_repository
from invertgate.request import Request
from invertgate.survey import ProjectSurvey, Survey, survey
from invertgate.table.selection import written
from invertgate.trial import files_bearing_markers, laboratory, marked

_ANSWER: Final = "INVERTGATE_ANSWER"
_PLUGIN: Final = "_invertgate_inside.witness"
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
    run to its end, and nothing can be said."""
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
    more: Sequence[str] = (),
) -> Tried:
    """Run the test on the inverted outcome, in a private copy, on the user's terminal.

    Args:
        request: What the user asked for.
        seen: What is judged.
        project: The row's.
        tryout: What is run.
        pdb: Let a failure end in the debugger.
        more: Arguments for pytest.

    Raises:
        InvertgateError: The copy cannot be made.
    """
    head = seen.patch.head if request.head else ""
    with copies(seen.repository, head, project.config, 1, request.environment) as lent:
        for path, content in seen.sources().items():
            (lent.trees.top(0) / path).write_bytes(content)
        (lent.trees.top(0) / tryout.outcome.path).write_bytes(tryout.mutant.source)
        answer = lent.trees.place(0) / "answer.json"
        environment = lent.environment(0, project.folder)
        calming = calming_options(lent.trees.scratch)
        options = (*calming, *project.config.pytest_args, *(("--pdb",) if pdb else ()), *more)
        code = _pytest(lent, project, tryout, options, {**environment, _ANSWER: str(answer)})
        return _judged(_told(answer), code)


def _pytest(
    lent: Copies,
    project: ProjectSurvey,
    tryout: Tryout,
    options: Sequence[str],
    environment: Mapping[str, str],
) -> int:
    argv = (
        *(sys.executable, "-m", "pytest", "-p", _PLUGIN, "-p", "xdist", "-n0", "--rootdir=."),
        *("--maxfail=0", "--tb=long", "-vv", *_NO_EXTERNAL, *options, tryout.test),
    )
    return process.on_terminal(argv, cwd=lent.folder(0, project.folder), env=environment)


def _told(answer: Path) -> dict[str, Any] | None:
    try:
        told: dict[str, Any] = json.loads(answer.read_bytes())
    except (OSError, ValueError):
        return None
    return told


def _judged(told: Mapping[str, Any] | None, code: int) -> Tried:
    """Judge by what the test's own reports say, never by an exit code."""
    if told is None:
        return Tried(ExitCode.UNPROVEN, f"pytest did not come to its end (it ended with {code})")
    if not told["tests"]:
        why = "; ".join(told["errors"]) or "see above; a test marked external is never run"
        return Tried(ExitCode.UNPROVEN, f"pytest collected no such test: {why}")
    reports = [each for each in told["reports"] if not each["expected"]]
    calls = [each for each in reports if each["phase"] == "call"]
    if any(each["outcome"] == "failed" for each in calls):
        return Tried(ExitCode.OK, "the test failed on the inverted outcome, as it should")
    if calls and all(each["outcome"] == "passed" for each in reports):
        return Tried(ExitCode.FINDINGS, "the test stayed green on the inverted outcome")
    return Tried(ExitCode.UNPROVEN, "the test neither failed in its call phase nor passed")
