"""`--cluster`: lets the workers of a Dask cluster judge shards, and joins what they say."""

import json
import shutil
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from math import inf
from os import path
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from msgspec import ValidationError, convert

from invertgate import deepening, gate, merge, sweep
from invertgate.cluster_shard import Job, job_of
from invertgate.errors import EngineError, IncompleteSetError, UsageError
from invertgate.isolation.trees import Selection, private_trees
from invertgate.markers import files_bearing_markers
from invertgate.merge import Given
from invertgate.model import Shard, Verdict
from invertgate.nightly import cluster, hand
from invertgate.nightly.archive import pack
from invertgate.nightly.cluster import Archive, Cluster
from invertgate.nightly.hand import Answer
from invertgate.nightly.shards import in_shard
from invertgate.patch.base import Base
from invertgate.patch.git import Repository, open_repository
from invertgate.patch.private import lend_repository, own_objects
from invertgate.patch.worktree import files_of_worktree
from invertgate.policy_files import policy_file_notes
from invertgate.report import store
from invertgate.report.build import with_rows
from invertgate.report.depth_words import DEPTH, depth_in_words
from invertgate.report.document import Facts, Report, ReportRow
from invertgate.report.joined import key_of
from invertgate.request import Request
from invertgate.survey import Configured, Survey, survey
from invertgate.whole import whole_digest

_A_WORKER: Final = 2
"""Shards that are made for each worker, so that a slow one does not keep all others waiting."""


@dataclass(frozen=True, slots=True)
class _Plan:
    """What is divided."""

    asked: Request
    """As a run on this machine would have it."""
    seen: Survey
    job: Job
    remember: Callable[[Request, Repository, Report], Report]
    worth: bool
    """There is something to run."""


def run(request: Request) -> Report:
    """Judge a patch on a cluster; what comes of it is what one machine would say.

    Args:
        request: What the user asked for, with the address of a scheduler.

    Raises:
        InvertgateError: It cannot be judged; the message says what to do.
    """

    def plan(repository: Repository) -> _Plan:
        seen = survey(request, repository)
        job = job_of(request, repository.top, _base(request, seen), 1)
        worth = not request.list_only and _has_claims(seen)
        return _Plan(request, seen, job, gate.remembered, worth)

    return _divided(request, plan) or gate.run(request)


def run_sweep(request: Request, wish: sweep.Wish) -> Report:
    """Do the same with a sweep.

    Verdicts are kept only in a folder that is named, which all machines have to share.

    Args:
        request: What the user asked for, with the address of a scheduler.
        wish: What is asked of sweeps alone.

    Raises:
        InvertgateError: It cannot be done; the message says what to do.
    """
    if wish.budget < inf:
        raise UsageError("--budget is for one machine; leave it away with --cluster")

    def plan(repository: Repository) -> _Plan:
        asked, sweeping = sweep.planned(request, wish)
        seen = sweeping.prepared(survey(asked, repository))
        start = sweeping.start.commit if sweeping.start else ""
        kept = str(wish.cache.resolve()) if wish.cache and wish.use_cache else ""
        job = job_of(request, repository.top, None, 1)
        job = replace(job, sweep=True, since=start or wish.since, cache=kept)
        worth = any(not outcome.exempt for outcome in seen.listing.outcomes)
        return _Plan(asked, seen, job, sweep.remembered, worth)

    return _divided(request, plan) or sweep.run(request, wish)


def _divided(request: Request, make: Callable[[Repository], _Plan]) -> Report | None:
    """Let a cluster do what was asked for; None if there is nothing to run."""
    cluster.ready()
    if request.deep:
        deepening.ready()
    if request.shard is not None:
        raise UsageError("--cluster divides the rows by itself; leave --shard away")
    repository = open_repository(request.root, request.environment)
    folder = repository.top / store.FOLDER
    facts = Facts(request.command, datetime.now(UTC).isoformat(timespec="seconds"))
    with store.opened(folder, facts):
        plan = make(repository)
        if not plan.worth:
            return None
        report = plan.remember(plan.asked, repository, _judged(plan, facts.started))
        store.write(report, folder)
        return report


def _has_claims(seen: Survey) -> bool:
    return any(
        any(row.claims for row in seen.matched(project).rows)
        or files_bearing_markers(seen, project)
        for project in seen.projects
    )


def _judged(plan: _Plan, started: str) -> Report:
    """Divide the rows, let shards be judged, and join them."""
    clock = time.monotonic()
    request, seen = plan.asked, plan.seen
    with cluster.connected(request.cluster) as there, _packed(request, seen) as archive:
        rows = sum(not outcome.exempt for outcome in seen.listing.outcomes)
        count = max(1, min(_A_WORKER * max(1, len(there.addresses())), rows))
        job = replace(plan.job, count=count)
        given = list(_answers(request, there, archive, job))
        joined = merge.joined_shards(given, request.command)
        if joined.whole != whole_digest(request, seen):
            raise IncompleteSetError(
                "the workers judged something else than what is here; did files change meanwhile?"
            )
        if request.deep:
            joined = _deepened(request, there, archive, job, joined)
    told = _told_here(seen)
    others = (note for note in joined.notes if note not in told)
    return replace(
        joined,
        joined=(),
        base_name=seen.patch.base_name,
        started=started,
        seconds=round(time.monotonic() - clock, 3),
        notes=tuple(dict.fromkeys((*told, *others, *there.notes))),
    )


def _told_here(seen: Survey) -> tuple[str, ...]:
    """Return the notes with which the report of one machine begins."""
    return (*seen.patch.notes, *seen.listing.notes, *seen.notes, *policy_file_notes(seen))


def _base(request: Request, seen: Survey) -> Base | None:
    base = Configured(seen.repository, request).base
    return None if base is None else replace(base, commit=seen.patch.base)


def _deepened(
    request: Request, there: Cluster, archive: Archive, job: Job, joined: Report
) -> Report:
    """Let the workers try small changes in the rows that are bound, each decision as a whole."""
    bound = [row for row in joined.rows if row.verdict is Verdict.BOUND]
    shards = [Shard(number, job.count) for number in range(1, job.count + 1)]
    parts = {shard: [row for row in bound if _decides_in(row, shard)] for shard in shards}
    jobs = {
        shard.index: replace(job, deep=request.deep, report=store.encode(with_rows(joined, rows)))
        for shard, rows in parts.items()
        if rows
    }
    said = [each.report for each in _asked(request, there, archive, jobs, "small changes")]
    deepened = {key_of(row): row for report in said for row in report.rows}
    rows = [deepened.get(key_of(row), row) for row in joined.rows]
    told = (note for report in said for note in report.notes if not note.startswith(DEPTH))
    notes = (*joined.notes, *told, depth_in_words(rows))
    return replace(with_rows(joined, rows), notes=tuple(filter(None, dict.fromkeys(notes))))


def _decides_in(row: ReportRow, shard: Shard) -> bool:
    """Tell whether a decision belongs to a part: rows of one are asked together."""
    anchor = row.anchor
    place = f"{row.kind} {anchor.line} {anchor.column}" if anchor else row.id
    return in_shard(row.path, place, shard)


def _answers(request: Request, there: Cluster, archive: Archive, job: Job) -> Iterator[Given]:
    jobs = dict.fromkeys(range(1, job.count + 1), job)
    return _asked(request, there, archive, jobs, "rows")


def _asked(
    request: Request, there: Cluster, archive: Archive, jobs: Mapping[int, Job], what: str
) -> Iterator[Given]:
    told = {number: json.dumps(job.of_shard(number)) for number, job in jobs.items()}
    request.progress.stage(f"judging shards of {what} on the cluster")
    request.progress.total(len(jobs))
    for number, address, answer in there.judged(archive, hand.stance(), told):
        name = f"shard {number}/{jobs[number].count}"
        request.progress.advance(None, f"{name} on {address}")
        yield Given(Path(name), _report(number, address, answer))


def _report(number: int, address: str, answer: Answer) -> Report:
    """Read what a worker says.

    Raises:
        EngineError: It is no report, or one of a run that could not judge.
    """
    said = answer.said.strip().splitlines()
    try:
        report = convert(json.loads(answer.report), Report)
    except (ValueError, ValidationError) as error:
        last = said[-1] if said else f"its process ended with {answer.code}"
        raise EngineError(f"shard {number} on worker {address} left no report: {last}") from error
    if not report.complete:
        why = report.error or (said[-1] if said else "it was stopped")
        raise EngineError(f"shard {number} on worker {address} could not be judged: {why}")
    return report


@contextmanager
def _packed(request: Request, seen: Survey) -> Generator[Archive]:
    """Lend an archive of the working tree with a repository of its own."""
    repository = seen.repository
    config = seen.projects[0].config
    selection = Selection(config.copy_exclude, config.copy_include)
    tracked = files_of_worktree(repository).tracked
    commits = [commit for commit in (seen.patch.base, seen.patch.head) if commit]
    request.progress.stage("packing the working tree")

    def furnish(copy: Path) -> None:
        _complete(repository, tracked, copy)
        lend_repository(repository, copy)
        own_objects(copy, repository, commits)

    with (
        private_trees(repository.top, 1, selection, furnish) as trees,
        TemporaryDirectory(prefix="invertgate-cluster-") as folder,
    ):
        target = Path(folder, "tree.tar.gz")
        yield Archive(target, pack(trees.top(0), target), trees.name)


def _complete(repository: Repository, tracked: Iterable[str], copy: Path) -> None:
    """Copy tracked files that no test needs: without them git would call them deleted."""
    for name in tracked:
        source, target = repository.top / name, copy / name
        if path.lexists(target) or not (source.is_file() or source.is_symlink()):
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target, follow_symlinks=False)
