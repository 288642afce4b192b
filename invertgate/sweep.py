"""Judge outcomes at large, night by night: what is known and unchanged is taken over."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import inf
from pathlib import Path

from invertgate import gate
from invertgate.errors import UsageError
from invertgate.gate import Found
from invertgate.model import PolicySource, Row, Verdict
from invertgate.past_claims import Claims, with_claims
from invertgate.patch.git import Repository, open_repository
from invertgate.policy import BY_REVIEW
from invertgate.report.document import Report
from invertgate.request import Request
from invertgate.since import Since, since
from invertgate.survey import ProjectSurvey, Survey
from invertgate.sweeping import Sweeping, Wishes
from invertgate.table.check import Matched
from invertgate.trends import history_of, last_said, recorded

_SERIES = "sweep"


@dataclass(frozen=True, slots=True)
class Wish:
    """What was asked of a sweep, beside the request."""

    since: str = ""
    """A revision or a date; empty for all outcomes there are."""
    budget: float = inf
    """Seconds on the clock."""
    cache: Path | None = None
    """Where verdicts are kept; None for the folder of reports."""
    use_cache: bool = True


def run(request: Request, wish: Wish) -> Report:
    """Judge the outcomes since a commit, or all of them.

    Writes nothing but the report, the history of reports and the verdicts that it keeps.

    Args:
        request: What the user asked for.
        wish: What is asked of sweeps alone.

    Raises:
        InvertgateError: They cannot be judged; the message says what to do.
    """
    asked, sweep = planned(request, wish)
    return gate.reported(
        asked, sweep.examine, judged=True, prepare=sweep.prepared, remember=remembered
    )


def planned(request: Request, wish: Wish) -> tuple[Request, "Sweep"]:
    """Find out what a sweep is about; its time begins.

    Args:
        request: What the user asked for.
        wish: What is asked of sweeps alone.

    Returns:
        The request that says so in the words of a run, and what knows the claims.

    Raises:
        InvertgateError: It cannot be found out; the message says what to do.
    """
    deadline = time.monotonic() + wish.budget
    if wish.since and request.paths:
        raise UsageError("--since looks at what changed; give PATH with --all only")
    repository = open_repository(request.root, request.environment)
    start = since(repository, wish.since) if wish.since else None
    last = last_said(history_of(repository.top), _SERIES)
    return _request(request, repository, start), Sweep(wish, deadline, start, last)


def _request(request: Request, repository: Repository, start: Since | None) -> Request:
    overrides = {name: value for name, value in request.overrides.items() if value is not None}
    overrides = {"confirm": 1, **overrides}
    paths = request.paths
    if start is not None and start.commit:
        overrides["base"] = start.commit
    elif not paths:
        paths = (str(repository.top),)
    return replace(request, overrides=overrides, paths=paths, policy=PolicySource.HEAD)


def remembered(request: Request, repository: Repository, report: Report) -> Report:
    """Keep what is said of a whole, and compare it with the nights before.

    Args:
        request: What :func:`planned` made of what the user asked for.
        repository: The user's.
        report: Complete.
    """
    tops = (str(repository.top),)
    if request.shard or request.ids or not report.found or request.paths not in ((), tops):
        return report
    return recorded(report, history_of(repository.top), _SERIES)


@dataclass(slots=True)
class Sweep:
    """What is gathered while the projects are examined."""

    wish: Wish
    deadline: float
    start: Since | None
    last: Mapping[str, str]
    """Verdicts of the sweep before, by ``PATH:ID``."""
    claims: dict[str, Claims] = field(default_factory=dict)
    undecided: int = 0
    rows: int = 0

    def prepared(self, seen: Survey) -> Survey:
        """Lay the claims of all versions of the tables beside the outcomes.

        Policies are those of the judged version: there is no patch that could excuse itself.
        """
        projects = []
        for project in seen.projects:
            claimed, self.claims[project.folder] = with_claims(seen, project)
            projects.append(claimed)
        notes = tuple(note for note in seen.notes if note != BY_REVIEW)
        name = f"since {self.start.name}" if self.start is not None else seen.patch.base_name
        patch = replace(seen.patch, base="", base_name=name)
        return replace(
            seen, projects=tuple(projects), patch=patch, notes=notes, policy=PolicySource.HEAD
        )

    def examine(self, request: Request, seen: Survey, project: ProjectSurvey, found: Found) -> None:
        """Judge the rows of a project."""
        matched = seen.matched(project)
        sweeping = Sweeping(request, seen, project, self._wishes(project))
        if matched.rows:
            matched = sweeping.judge(matched)
        self._add(found, project, matched, sweeping)

    def _wishes(self, project: ProjectSurvey) -> Wishes:
        claims = self.claims[project.folder]
        return Wishes(
            self.deadline,
            self.wish.cache,
            self.wish.use_cache,
            claims.hints,
            claims.old,
            self._is_urgent,
        )

    def _is_urgent(self, row: Row) -> bool:
        """Tell whether a row is new, or was not bound the last time."""
        return self.last.get(":".join(row.outcome.key)) != Verdict.BOUND

    def _add(
        self, found: Found, project: ProjectSurvey, matched: Matched, sweeping: Sweeping
    ) -> None:
        found.rows += matched.rows
        found.results += sweeping.results.values()
        found.notes += (*matched.notes, *sweeping.notes)
        found.trees |= {sweeping.tree} - {""}
        if project.has_table:
            found.tables.append(project.table_path)
        self.rows += len(matched.rows)
        self.undecided += len(matched.rows) - len(sweeping.results)
        if self.undecided:
            found.left = (
                f"the budget of {self.wish.budget:.0f} s was used up: {self.undecided} of "
                f"{self.rows} rows have no verdict; the next sweep goes on with them"
            )
