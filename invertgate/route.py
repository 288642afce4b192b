"""The lanes: plan what may be done with a patch, run its properties, write down the attempt."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Final

from invertgate.errors import WORST_FIRST, ExitCode, NoBaseError, UsageError
from invertgate.frozen import flaky_tests
from invertgate.lane_run import Ground, findings
from invertgate.lanes import log, properties
from invertgate.lanes.facts import Content
from invertgate.lanes.log import Made, Summary
from invertgate.lanes.paths import LOG_NAME, PathClass
from invertgate.lanes.probe import ProbeFacts, collect_facts, limits_of, probe
from invertgate.lanes.properties import Selection
from invertgate.lanes.router import Plan, Signals, concluded, plan
from invertgate.lanes.runners import Token
from invertgate.patch.base import Base
from invertgate.patch.git import open_repository
from invertgate.patch.globs import first_match
from invertgate.request import Request
from invertgate.survey import Configured

_EXIT_CODES: Final = {
    Token.HOLD: ExitCode.OK,
    Token.FAIL: ExitCode.FINDINGS,
    Token.UNRESOLVED: ExitCode.UNPROVEN,
    Token.QUARANTINED: ExitCode.HOLD,
}


@dataclass(frozen=True, slots=True)
class Routed:
    """What was planned for a patch, and done."""

    plan: Plan
    attempt: log.Attempt
    exit_code: ExitCode
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Planned:
    plan: Plan
    made: Made
    log: Path
    ground: Ground | None = None
    """None where there is no base."""
    notes: tuple[str, ...] = ()


def route(request: Request, log_path: Path | None = None) -> Routed:
    """Plan what may be done with a patch, and write it into the log.

    Args:
        request: What the user asked for.
        log_path: Where to write; by default a file at the top of the repository.

    Raises:
        UsageError: The configuration or a list is malformed, or the log cannot be written.
    """
    planned = _planned(request, log_path)
    return _logged(planned, log_path)


def run(request: Request, log_path: Path | None = None) -> Routed:
    """Plan, run the properties that the plan allows, and write both into the log.

    Args:
        request: What the user asked for.
        log_path: Where to write; by default a file at the top of the repository.

    Raises:
        UsageError: The configuration or a list is malformed, or the log cannot be written.
    """
    planned = _planned(request, log_path)
    if planned.ground is None or planned.plan.is_shut:
        return _logged(planned, log_path)
    request.progress.stage("running properties")
    found = findings(request, planned.ground, planned.plan.runnable)
    return _logged(replace(planned, plan=concluded(planned.plan, found)), log_path)


def summarize(files: Sequence[Path], since: str) -> Summary:
    """Add up logs.

    Raises:
        UsageError: One cannot be read, or the day is none.
    """
    try:
        day = date.fromisoformat(since) if since else None
    except ValueError as error:
        raise UsageError(f"--since must be a day as YYYY-MM-DD, not {since}") from error
    return log.summarize([(str(path), _bytes(path)) for path in files], day)


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error


def _planned(request: Request, log_path: Path | None) -> _Planned:
    made = Made(request.command, request.now, "", "")
    where = log_path or request.root / LOG_NAME
    try:
        repository = open_repository(request.root, request.environment)
        where = log_path or repository.top / LOG_NAME
        configured = Configured(repository, request)
        base = configured.base
        assert base is not None  # noqa: S101 - it is None only if paths are asked for
        config = configured.of("")
        facts = collect_facts(repository, base.commit, request.head, config)
        facts = _without_log(facts, repository.top, where)
    except NoBaseError as error:
        return _Planned(plan(Signals(probe=(f"no base: {error}",))), made, where)
    flaky = flaky_tests(
        repository, "", base.commit, request.head, request.today, config.max_quarantine_days
    )
    reasons = tuple(map(str, probe(facts, limits_of(config)).reasons))
    selection = _selection(configured, base, facts, is_rejected=bool(reasons))
    signals = Signals(reasons, selection, flaky.live, config.unit_cap)
    made = replace(made, base=base.commit, head=base.head)
    notes = (*base.notes, *configured.notes(), *flaky.notes)
    changed = frozenset(each.path for each in facts.paths)
    ground = Ground(repository, base.commit, request.head and base.head, config, changed)
    return _Planned(plan(signals), made, where, ground, notes)


def _selection(
    configured: Configured, base: Base, facts: ProbeFacts, *, is_rejected: bool
) -> Selection:
    """Find the properties that the patch calls for, by the list of the merge base."""
    name = properties.NAME
    judged = properties.read(configured.content(name, configured.head) or b"", name)
    if is_rejected:  # the patch may be the one that mends the list of the merge base
        return Selection()
    source = configured.content(name, base.commit) or b""
    before = properties.read(source, f"{name} at the merge base")
    changed = properties.reworded(before, judged)
    files = [file for file in facts.paths if not file.is_generated]
    moved = [file.old_path for file in files if file.old_kind is PathClass.PRODUCTION]
    production = [
        file.path if file.kind is PathClass.PRODUCTION else file.old_path
        for file in files
        if PathClass.PRODUCTION in {file.kind, file.old_kind}
    ]
    return properties.select(before, production, changed, first_match, moved)


def _without_log(facts: ProbeFacts, top: Path, path: Path) -> ProbeFacts:
    """Leave our own log out, as long as it only grew: it is no part of anybody's patch."""
    there, whole = path.resolve(), top.resolve()
    own = {LOG_NAME, there.relative_to(whole).as_posix() if there.is_relative_to(whole) else ""}
    kept = tuple(
        file
        for file in facts.paths
        if file.path not in own or file.deleted or file.content is not Content.FILE
    )
    return replace(facts, paths=kept)


def _logged(planned: _Planned, log_path: Path | None) -> Routed:
    attempt = log.attempt_of(planned.plan, planned.made)
    log.append(planned.log, attempt, is_asked_for=log_path is not None)
    return Routed(planned.plan, attempt, _exit_code(planned.plan), planned.notes)


def _exit_code(planned: Plan) -> ExitCode:
    if planned.is_shut:
        return ExitCode.LANE_REJECTED
    codes = {_EXIT_CODES[finding.token] for finding in planned.findings} | {ExitCode.OK}
    return min(codes, key=WORST_FIRST.index)
