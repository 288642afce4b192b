"""One row out of a patch, and its mutant."""

import shlex
from collections.abc import Iterator
from dataclasses import replace

from invertgate.errors import UsageError
from invertgate.model import Outcome, PolicySource
from invertgate.options import OPTIONS, Inversion
from invertgate.outcomes.mutant import Mutant, NotWritableError, mutant
from invertgate.patch.git import open_repository
from invertgate.request import Request
from invertgate.survey import ProjectSurvey, Survey, survey
from invertgate.table.check import Scope
from invertgate.table.selection import find_begun, written


def mutant_of(request: Request, text: str) -> Mutant:
    """Write the mutant of one row; nothing is run.

    Args:
        request: What the user asked for.
        text: The row's id, or the beginning of it, or ``PATH:`` and either.

    Raises:
        UsageError: There is no such row, or no edit of its text does just that.
    """
    seen = survey(request, open_repository(request.root, request.environment))
    seen, project, outcome = chosen(seen, text)
    return written_mutant(seen, project, outcome)


def written_mutant(seen: Survey, project: ProjectSurvey, outcome: Outcome) -> Mutant:
    """Write the mutant of an outcome, by the operator that the project has chosen.

    Raises:
        UsageError: No edit of its text does just that.
    """
    negate = project.config.operator is Inversion.NEGATE
    try:
        return mutant(outcome, seen.sources()[outcome.path], negate=negate)
    except NotWritableError as error:
        raise UsageError(
            f"this outcome cannot be inverted in a file ({error}); `invertgate explain` and "
            "`invertgate run` invert it all the same"
        ) from error


def chosen(seen: Survey, text: str) -> tuple[Survey, ProjectSurvey, Outcome]:
    """Narrow what is judged to one row.

    Raises:
        UsageError: There is no such row, or there are several.
    """
    projects = {outcome.key: project for project in seen.projects for outcome in project.outcomes}
    try:
        key = find_begun(text, projects)
    except UsageError as error:
        raise UsageError(f"{error}{_left_over(seen, text)}") from error
    [outcome] = [each for each in seen.listing.outcomes if each.key == key]
    project = replace(projects[key], outcomes=(outcome,))
    narrowed = replace(
        seen,
        listing=replace(seen.listing, outcomes=(outcome,)),
        projects=(project,),
        scope=Scope(seen.scope.paths, frozenset({key})),
    )
    return narrowed, project, outcome


def _left_over(seen: Survey, text: str) -> str:
    """Say that a row of a table means what the patch does not have."""
    wanted = text.rpartition(":")[2]
    for project in seen.projects:
        if any(entry.id == wanted for entry in project.table.entries):
            return f"; {project.table_path} has a row for it, of an outcome that this patch lacks"
    return ""


def repeat(request: Request, outcome: Outcome) -> tuple[str, ...]:
    """Return the commands that judge a row again, and that show its inverted run."""
    given = tuple(_given(request))
    name = written(outcome.key)
    return (
        shlex.join(("invertgate", "run", *given, "--id", name, *request.paths)),
        shlex.join(("invertgate", "try", *given, name, *request.paths)),
    )


def _given(request: Request) -> Iterator[str]:
    """Yield what was said beside the row, as flags."""
    if request.head:
        yield from ("--head", request.head)
    if request.policy is not PolicySource.BASE:
        yield from ("--policy", str(request.policy))
    for option in OPTIONS:
        value = request.overrides.get(option.name)
        if value is None or not option.about.flags:
            continue
        flag = option.about.flags[0]
        if isinstance(value, bool):
            yield flag if value else f"--no-{flag.removeprefix('--')}"
            continue
        for each in value if isinstance(value, tuple) else (value,):
            yield from (flag, str(each))
