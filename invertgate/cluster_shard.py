"""Judges one shard of a run that was asked for on another machine: a process on its own."""

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from pathlib import Path
from typing import Final

from invertgate import gate, sweep
from invertgate.deepening import with_depth
from invertgate.errors import ExitCode, InvertgateError
from invertgate.isolation.environment import ORIGINAL
from invertgate.model import PolicySource, Shard
from invertgate.patch.base import Base
from invertgate.patch.git import open_repository
from invertgate.report import store
from invertgate.report.document import Facts, Report
from invertgate.request import Request
from invertgate.signals import interruptible
from invertgate.streams import complain
from invertgate.survey import survey

Value = str | int | float | bool | list[str] | None

_LOOK_EVERY: Final = 0.5


@dataclass(frozen=True, slots=True)
class Job:
    """What a user asked for, as it travels: plain values, nothing of the machine that asks."""

    original: str
    """Where the tree lies that the user stands in."""
    folder: str
    """Where in it the user stands."""
    command: str
    overrides: Mapping[str, Value]
    paths: Sequence[str]
    ids: Sequence[str]
    head: str
    policy: str
    against_base: bool
    now: str
    base: Mapping[str, Value] | None
    count: int
    """Into how many shards the rows are divided."""
    deep: int = 0
    """How many small changes are tried in each row of a report, which is judged already."""
    report: str = ""
    """That report, or empty."""
    sweep: bool = False
    since: str = ""
    """From where on a sweep looks; empty for all there is."""
    cache: str = ""
    """Where a sweep keeps verdicts, on a disk that all workers have; empty for nowhere."""

    def of_shard(self, index: int) -> dict[str, object]:
        """Return what the process of a shard is told."""
        return {**asdict(self), "index": index}


def job_of(request: Request, top: Path, base: Base | None, count: int) -> Job:
    """Return what travels of a request.

    Args:
        request: What the user asked for.
        top: The user's tree.
        base: The base that was found here.
        count: Into how many shards the rows are divided.
    """
    root = request.root.resolve()
    told = None if base is None else {**asdict(base), "notes": list(base.notes)}
    return Job(
        str(top),
        os.path.relpath(root, top.resolve()),
        request.command,
        {name: _plain(value) for name, value in request.overrides.items()},
        [_relative(each, root) for each in request.paths],
        list(request.ids),
        request.head,
        str(request.policy),
        request.against_base,
        request.now.isoformat(),
        told,
        count,
    )


def _plain(value: object) -> Value:
    if isinstance(value, list | tuple):
        return [str(each) for each in value]
    return value if isinstance(value, int | float) or value is None else str(value)


def _relative(named: str, root: Path) -> str:
    return os.path.relpath(named, root) if os.path.isabs(named) else named  # noqa: PTH117


def request_of(told: Mapping[str, object], environment: Mapping[str, str]) -> Request:
    """Return the request for a shard.

    Args:
        told: What :meth:`Job.of_shard` says, and where the tree lies here (``top``).
        environment: This machine's.
    """
    from msgspec import convert  # noqa: PLC0415 - needed only here

    names = {field.name for field in fields(Job)}
    job = convert({name: value for name, value in told.items() if name in names}, Job)
    index, top = convert(told["index"], int), convert(told["top"], str)
    overrides = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in job.overrides.items()
    }
    return Request(
        root=Path(top, job.folder),
        command=job.command,
        overrides=overrides,
        paths=tuple(job.paths),
        ids=tuple(job.ids),
        head=job.head,
        policy=PolicySource(job.policy),
        shard=None if job.report else Shard(index, job.count),
        against_base=job.against_base,
        deep=job.deep,
        base=None if job.base is None else convert(job.base, Base),
        environment={**environment, ORIGINAL: job.original},
        now=datetime.fromisoformat(job.now),
    )


def main(argv: Sequence[str]) -> ExitCode:
    """Judge the shard that a file tells of; the report lies in the tree."""
    told = json.loads(Path(argv[0]).read_text(encoding="utf-8"))
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    try:
        with interruptible():
            request = request_of(told, os.environ)
            wish = _wish(told) if told["sweep"] else None
            if told["report"]:
                return _deepened(request, wish, str(told["report"]))
            report = gate.run(request) if wish is None else sweep.run(request, wish)
            return ExitCode(report.exit_code)
    except InvertgateError as error:
        complain(str(error))
        return error.exit_code
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED


def _wish(told: Mapping[str, object]) -> sweep.Wish:
    cache = str(told["cache"])
    return sweep.Wish(
        str(told["since"]), cache=Path(cache) if cache else None, use_cache=bool(cache)
    )


def _deepened(request: Request, wish: sweep.Wish | None, judged: str) -> ExitCode:
    """Try small changes in the rows of a report."""
    from msgspec import convert  # noqa: PLC0415 - needed only here

    if wish is not None:
        request, _ = sweep.planned(request, wish)
    repository = open_repository(request.root, request.environment)
    folder = repository.top / store.FOLDER
    report = convert(json.loads(judged), Report)
    with store.opened(folder, Facts(request.command, report.started)):
        store.write(with_depth(request, survey(request, repository), report), folder)
    return ExitCode.OK


def _end_with(parent: int) -> None:
    """Ask this process to end when the worker that started it is gone."""
    while os.getppid() == parent:
        time.sleep(_LOOK_EVERY)
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
