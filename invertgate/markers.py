"""Claims that tests make by markers: which files may bear any, and what pytest says they claim."""

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from invertgate.errors import EngineError
from invertgate.experiment.told import SessionError
from invertgate.patch.worktree import files_mentioning
from invertgate.survey import ProjectSurvey, Survey
from invertgate.table.claims import MarkerClaims, marker_claims
from invertgate.trial import Laboratory

_SPELLED: Final = "mark.branch"
WHOLE_SUITE: Final = ("",)
"""Stands for all that pytest collects by itself."""


def files_bearing_markers(survey: Survey, project: ProjectSurvey) -> Sequence[str]:
    """Return the files, relative to the project, that may hold markers which claim rows.

    A marker in a file that is no test module (a conftest, a base class) may count for any test.
    """
    if not any(not outcome.exempt for outcome in project.outcomes):
        return ()
    found = files_mentioning(survey.repository, _SPELLED, survey.patch.head)
    inside = [_from_project(project, path) for path in found if _is_inside(project, path)]
    makers = [path for path in inside if not _is_test_module(path)]
    return WHOLE_SUITE if makers else inside


def _is_inside(project: ProjectSurvey, path: str) -> bool:
    return not project.folder or path.startswith(project.folder + "/")


def _from_project(project: ProjectSurvey, path: str) -> str:
    return path[len(project.folder) + 1 :] if project.folder else path


def _is_test_module(path: str) -> bool:
    name = posixpath.basename(path)
    return name.startswith("test_") or name.endswith("_test.py")


def marked(lab: Laboratory, project: ProjectSurvey, bearing: Sequence[str]) -> MarkerClaims:
    """Collect the tests of files that may bear markers, and return which rows they claim.

    Raises:
        UsageError: A marker's id is that of several outcomes.
        EngineError: pytest cannot collect them.
    """
    if not bearing:
        return MarkerClaims({})
    whole = bearing == WHOLE_SUITE
    try:
        collected = lab.collect(lab.config.tests if whole else lab.existing(bearing))
    except SessionError as error:
        raise EngineError(f"pytest could not be run on a copy of the project: {error}") from error
    bearers = ((each.test, each.markers) for each in collected.tests if each.markers)
    claims = marker_claims(bearers, [outcome.key for outcome in project.outcomes])
    unread = _unread(lab.place.folder, collected.errors)
    return replace(claims, notes=(*claims.notes, *unread))


def _unread(folder: Path, errors: Mapping[str, str]) -> Iterator[str]:
    """Name files that bear markers and that pytest cannot collect."""
    for nodeid, error in errors.items():
        path = folder / nodeid.split("::", 1)[0]
        if path.is_file() and _SPELLED.encode() in path.read_bytes():
            yield f"the markers in {nodeid} claim nothing, as pytest cannot collect it: {error}"
