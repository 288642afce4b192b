"""What a report says of the whole that it is about, or a part of: what may be joined with what."""

import json
from hashlib import sha256
from typing import Final

from invertgate import __version__
from invertgate.model import Shard
from invertgate.nightly.shards import Place, keys_digest
from invertgate.options import OPTIONS
from invertgate.report.document import ReportShard
from invertgate.request import Request
from invertgate.survey import ProjectSurvey, Survey

_POLICY: Final = tuple(option.name for option in OPTIONS if option.about.policy)
"""Options that decide verdicts; others, such as the number of workers, may differ by machine."""


def whole_digest(request: Request, seen: Survey) -> str:
    """Return a digest of all that decides which rows there are and what they must show.

    It is equal on every machine and every version of Python that looks at the same commit.

    Args:
        request: What the user asked for.
        seen: What is judged.
    """
    patch = seen.patch
    told = [
        __version__,
        patch.base,
        patch.head or _commit(seen),
        sorted(request.ids),
        str(request.policy),
        sorted((path, sha256(content).hexdigest()) for path, content in seen.sources().items()),
        [_of_project(project) for project in seen.projects],
    ]
    return sha256(json.dumps(told).encode()).hexdigest()


def shard_of_report(seen: Survey, shard: Shard) -> ReportShard:
    """Return what the report of a part says of the whole.

    Args:
        seen: What is judged.
        shard: The part.
    """
    outcomes = seen.listing.outcomes
    places: list[Place] = [(one.path, one.id, False) for one in outcomes]
    needed = {one.key for one in outcomes if not one.exempt}
    for project in seen.projects:
        keys = (entry.key for entry in project.table.entries if seen.scope.covers(entry.key))
        places += [(*key, True) for key in keys if key not in needed]
    return ReportShard(shard.index, shard.count, len(outcomes), keys_digest(places))


def _commit(seen: Survey) -> str:
    """Return the commit on which a working tree stands; empty before the first one."""
    answer = seen.repository.ask("rev-parse", "--verify", "--quiet", "HEAD")
    return answer.stdout.decode().strip() if answer.code == 0 else ""


def _of_project(project: ProjectSurvey) -> list[object]:
    policy = [str(getattr(project.config, name)) for name in _POLICY]
    rows = sorted((*entry.key, entry.test or "") for entry in project.table.entries)
    return [project.folder, policy, rows]
