"""The log of the lanes: one JSON object an attempt, and what the attempts add up to."""

import fcntl
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Final

from invertgate.errors import UsageError
from invertgate.lanes.router import Plan, Probe
from invertgate.source_text import json_of

UNDATED: Final = "undated"

Attempt = Mapping[str, Any]
"""One object of the log, as JSON has it."""


@dataclass(frozen=True, slots=True)
class Made:
    """When and on what an attempt was made."""

    command: str
    time: datetime
    base: str
    head: str
    """Commit id, or empty for the working tree."""


@dataclass(frozen=True, slots=True)
class Counts:
    """What some attempts add up to."""

    attempts: int = 0
    probe_rejects: int = 0
    calls_armed: int = 0
    credit_bugs: int = 0
    """Attempts in which something was credited beside a quarantine."""

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(
            self.attempts + other.attempts,
            self.probe_rejects + other.probe_rejects,
            self.calls_armed + other.calls_armed,
            self.credit_bugs + other.credit_bugs,
        )


@dataclass(frozen=True, slots=True)
class Summary:
    """What logs add up to."""

    total: Counts = Counts()
    by_day: tuple[tuple[str, Counts], ...] = ()
    """Days in UTC, the first one first."""
    unread: tuple[str, ...] = ()
    """Lines that are no whole object, a sentence each."""


def attempt_of(plan: Plan, made: Made) -> Attempt:
    """Put a plan into the form of the log."""
    return {
        "time": made.time.astimezone(UTC).isoformat(timespec="seconds"),
        "command": made.command,
        "base": made.base,
        "head": made.head,
        "probe": plan.probe,
        "lane": plan.lane,
        "reasons": list(plan.reasons),
        "properties": [
            {"id": each.stated.id, "units": each.stated.units, "status": each.status}
            for each in plan.properties
        ],
        "quarantine": [
            {
                "id": each.entry.id,
                "status": each.status,
                "merge_credit": each.merge_credit,
                "owner": each.entry.owner,
                "expires": each.entry.expires.isoformat(),
            }
            for each in plan.quarantine
        ],
        "merge_credit": plan.merge_credit,
        "model_call_allowed": plan.model_call_allowed,
        "results": [
            {"id": each.id, "result": each.token, "reason": each.reason} for each in plan.findings
        ],
    }


def append(path: Path, attempt: Attempt, *, is_asked_for: bool) -> None:
    """Append an attempt to a log, whole, whoever else writes to it.

    Args:
        path: The log; it is made where there is none.
        attempt: What to write.
        is_asked_for: The user named this path. Otherwise it lies in the repository that is judged,
            and is not followed if it is a symbolic link: the patch may have put it there.

    Raises:
        UsageError: It cannot be written.
    """
    line = json.dumps(attempt, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK
    try:
        log = os.open(path, flags if is_asked_for else flags | os.O_NOFOLLOW, 0o666)
        try:
            fcntl.flock(log, fcntl.LOCK_EX)
            _write(log, _mended(log) + line)
        finally:
            os.close(log)
    except OSError as error:
        why = "it is a symbolic link" if path.is_symlink() and not is_asked_for else error.strerror
        raise UsageError(f"{path} cannot be written: {why}; name a log by --log PATH") from error


def _mended(log: int) -> bytes:
    """Return what ends a line that a writer left unfinished, as when its disk was full."""
    end = os.lseek(log, 0, os.SEEK_END)
    return b"\n" if end and os.pread(log, 1, end - 1) != b"\n" else b""


def _write(log: int, line: bytes) -> None:
    rest = memoryview(line)
    while rest:
        rest = rest[os.write(log, rest) :]


def summarize(logs: Iterable[tuple[str, bytes]], since: date | None = None) -> Summary:
    """Add up logs.

    Args:
        logs: Their names and bytes; a log may be read while somebody writes to it.
        since: The first day, in UTC, that counts; what has no readable time always counts.
    """
    days: dict[str, Counts] = {}
    unread: list[str] = []
    for name, source in logs:
        for attempt in _attempts(name, source, unread):
            day = _day(attempt)
            if since is None or day == UNDATED or day >= since.isoformat():
                days[day] = days.get(day, Counts()) + _counts(attempt)
    return Summary(sum(days.values(), Counts()), tuple(sorted(days.items())), tuple(unread))


def _attempts(name: str, source: bytes, unread: list[str]) -> Iterator[Attempt]:
    lines = source.split(b"\n")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            attempt = json_of(line)
        except ValueError:
            attempt = None
        if isinstance(attempt, dict) and not _REQUIRED - attempt.keys():
            yield attempt
        else:
            is_torn = number == len(lines)
            what = "a torn last line" if is_torn else "no object of a lane log"
            unread.append(f"{name}:{number}: {what}; it is not counted")


_REQUIRED: Final = frozenset({"probe", "merge_credit", "model_call_allowed"})


def _day(attempt: Attempt) -> str:
    try:
        when = datetime.fromisoformat(attempt["time"])
        aware = when if when.tzinfo else when.replace(tzinfo=UTC)
        return aware.astimezone(UTC).date().isoformat()
    except (KeyError, TypeError, ValueError, OverflowError):  # the last at either end of time
        return UNDATED


def _counts(attempt: Attempt) -> Counts:
    return Counts(
        attempts=1,
        probe_rejects=int(attempt["probe"] == Probe.REJECT),
        calls_armed=int(attempt["model_call_allowed"] is True),
        credit_bugs=int(_is_credit_bug(attempt)),
    )


def _is_credit_bug(attempt: Attempt) -> bool:
    """Tell whether something was credited beside a quarantine; a freeze alone is no incident."""
    quarantine = attempt.get("quarantine")
    frozen = quarantine if isinstance(quarantine, list) else [quarantine] if quarantine else []
    rows = [row for row in frozen if isinstance(row, dict)]
    return bool(frozen) and (
        attempt["merge_credit"] != 0 or any(row.get("merge_credit", 0) != 0 for row in rows)
    )
