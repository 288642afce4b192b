"""Look after the list of flaky tests: what each entry means, and which may go."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from invertgate.config import Config
from invertgate.copies import Copies, copies
from invertgate.errors import EngineError, NoBaseError, UsageError
from invertgate.lane_run import COLLECT_PROPERTIES, local_runner
from invertgate.lanes import properties, quarantine
from invertgate.lanes.quarantine import Entry, Standing
from invertgate.lanes.runners import Room, ask_pytest
from invertgate.patch.git import open_repository
from invertgate.request import Request
from invertgate.survey import Configured

_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class Checked:
    """What has become of the list."""

    standings: tuple[Standing, ...]
    notes: tuple[str, ...] = ()


def check(request: Request) -> Checked:
    """Read the list of flaky tests, and tell which collected tests each entry means.

    Raises:
        UsageError: It is malformed.
        EngineError: pytest cannot collect.
    """
    repository = open_repository(request.root, request.environment)
    configured = _configured(request)
    config = configured.of("")
    name, days = quarantine.NAME, config.max_quarantine_days
    document = quarantine.read(
        configured.content(name, request.head) or b"", name, request.today, days
    )
    if not document:
        return Checked((), (f"{name} names no test",))
    stated = properties.read(
        configured.content(properties.NAME, request.head) or b"", properties.NAME
    )
    files = tuple(dict.fromkeys(each.test.partition("::")[0] for each in stated if each.test))
    notes = configured.notes()
    before = None
    if configured.base is not None:
        earlier = configured.content(name, configured.base.commit) or b""
        before = _entries(earlier, request, days)
    with copies(repository, request.head, config, 1, request.environment) as lent:
        collected, errors = _collected(config, lent, files)
    return Checked(
        quarantine.standings(document, request.today, collected, before), (*notes, *errors)
    )


def _configured(request: Request) -> Configured:
    repository = open_repository(request.root, request.environment)
    try:
        return Configured(repository, request)
    except NoBaseError:  # then nothing of the patch is known, and the list can be read all the same
        return Configured(repository, replace(request, paths=(".",)))


def _entries(source: bytes, request: Request, days: int) -> tuple[Entry, ...] | None:
    """Return the merge base's list, or None if it is malformed."""
    try:
        return quarantine.read(source, quarantine.NAME, request.today, days)
    except UsageError:
        return None


def _collected(config: Config, lent: Copies, files: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the nodeids that pytest collects, and what it could not collect.

    Args:
        config: Says how pytest is started.
        lent: Where.
        files: Those in which properties are stated; pytest may not look into them by itself.
    """
    found: dict[str, None] = {}
    errors: dict[str, None] = {}
    there = [file for file in files if (lent.folder(0) / file).is_file()]
    ways = [(local_runner(config, lent, _SECONDS), config.tests)]
    if there:
        ways.append((local_runner(config, lent, _SECONDS, COLLECT_PROPERTIES), tuple(there)))
    room = Room(lent.folder(0), lent.environment(0), lent.trees.place(0) / "answer.json")
    for runner, tests in ways:
        told, answer = ask_pytest(runner, room, ("--collect-only", *tests))
        if told is None:
            said = answer.stdout.decode(errors="replace").strip().splitlines()[-1:]
            raise EngineError(f"pytest could not collect the tests: {' '.join(said)}")
        found |= dict.fromkeys(told["tests"])
        errors |= dict.fromkeys(f"not collected: {error}" for error in told["errors"])
    return list(found), list(errors)
