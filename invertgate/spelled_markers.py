"""Claims by markers as they are spelled in files, for who asks without running pytest.

Only pytest knows what a marker counts for; that some file spells the id of a row in one is enough
to say that the row is not forgotten. Nothing is bound by it.
"""

import ast
from collections.abc import Iterator, Mapping, Sequence

from invertgate.patch.worktree import files_mentioning
from invertgate.survey import ProjectSurvey, Survey
from invertgate.table.claims import marker_claims
from invertgate.table.selection import Key


def spelled_markers(seen: Survey, project: ProjectSurvey) -> Mapping[Key, Sequence[str]]:
    """Return which files claim which outcomes of a project by markers with literal ids.

    Args:
        seen: The working tree's survey.
        project: The project whose outcomes are asked for.

    Raises:
        UsageError: A bare id is that of several outcomes.
    """
    inside = f"{project.folder}/" if project.folder else ""
    spelled = (
        (f"{path} (by marker)", tuple(_ids_in((seen.repository.top / path).read_bytes())))
        for path in files_mentioning(seen.repository, "mark.branch")
        if path.startswith(inside)
    )
    keys = [outcome.key for outcome in project.outcomes]
    return marker_claims(spelled, keys).tests


def _ids_in(source: bytes) -> Iterator[str]:
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(attr="branch", value=ast.Attribute(attr="mark"))):
                words = (argument for argument in node.args if isinstance(argument, ast.Constant))
                yield from (word.value for word in words if isinstance(word.value, str))
            case _:
                pass
