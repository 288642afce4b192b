"""Join reports: the shards of one run to the whole, or several machines to one answer."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from invertgate import trends
from invertgate.errors import IncompleteSetError, UsageError
from invertgate.model import Shard
from invertgate.nightly.shards import in_shard, keys_digest
from invertgate.report import store
from invertgate.report.build import ConservationError, check
from invertgate.report.document import Facts, Report
from invertgate.report.joined import join_machines, join_shards, key_of


@dataclass(frozen=True, slots=True)
class Given:
    """A report that is to be joined, and where it lies."""

    path: Path
    report: Report

    @property
    def machine(self) -> str:
        """Name what it ran on; shards of one run agree in it."""
        python = ".".join(self.report.python.split(".")[:2])
        return f"{self.report.platform}, Python {python}"


def run(
    paths: Sequence[Path],
    out: Path,
    command: str,
    *,
    matrix: bool,
    history: Path | None = None,
) -> Report:
    """Join reports and write the joined one.

    Args:
        paths: Reports, and folders that hold some at any depth.
        out: The folder for the joined report.
        command: As the user gave it.
        matrix: They come from several machines, rather than being parts of one run.
        history: Where it is compared with those before it; by default beside the joined report.

    Raises:
        IncompleteSetError: One is missing, twice there, not complete, or of something else.
        UsageError: The joined report would overwrite one that is given, or cannot be written.
    """
    files = _files(paths, out)
    facts = Facts(command, datetime.now(UTC).isoformat(timespec="seconds"))
    with store.opened(out, facts):
        given = [_read(file) for file in files]
        try:
            joined = _machines(given, command) if matrix else _shards(given, command)
        except ConservationError as error:
            raise IncompleteSetError(f"the numbers do not add up: {error}") from error
        joined = _remembered(joined, given[0].report.command, history or out / trends.FILE)
        store.write(joined, out)
    return joined


def joined_shards(given: Sequence[Given], command: str) -> Report:
    """Join one set of shards that nobody has to read from a disk; see :func:`run`.

    Args:
        given: Reports of shards.
        command: As the user gave it.

    Raises:
        IncompleteSetError: One is missing, twice there, not complete, or of something else.
    """
    try:
        return _shards([_usable(one) for one in given], command)
    except ConservationError as error:
        raise IncompleteSetError(f"the numbers do not add up: {error}") from error


def _remembered(joined: Report, command: str, history: Path) -> Report:
    """Keep the joined report, and compare that of a sweep with those before it."""
    if not joined.found:
        return joined
    series = trends.series_of(command)
    told = trends.recorded(joined, history, series)
    return told if series == "sweep" else replace(told, trend=None)


def _files(paths: Sequence[Path], out: Path) -> list[Path]:
    """Find the reports, but for one that an earlier merge left where this one writes."""
    target = (out / store.FILE).resolve()
    found = [file for path in paths for file in _below(path)]
    if not any(file.resolve() == target for file in found):
        return found
    before = store.read(target)
    if before.complete and not before.joined:
        raise UsageError(f"{target} would be overwritten; name another folder by --out")
    return [file for file in found if file.resolve() != target]


def _below(path: Path) -> list[Path]:
    if path.is_dir():
        found = sorted(path.rglob(store.FILE))
        if not found:
            raise IncompleteSetError(f"{path} holds no {store.FILE}; did its run get to its end?")
        return found
    if not path.exists():
        raise IncompleteSetError(f"{path} does not exist; did its run leave a report?")
    return [path]


def _read(path: Path) -> Given:
    try:
        report = check(store.read(path))
    except UsageError as error:
        raise IncompleteSetError(str(error)) from error
    except ConservationError as error:
        raise IncompleteSetError(f"{path}: the numbers do not add up: {error}") from error
    return _usable(Given(path, report))


def _usable(given: Given) -> Given:
    path, report = given.path, given.report
    if not report.complete:
        raise IncompleteSetError(f"{path} is not complete: {report.error or 'the run was stopped'}")
    if not report.judged:
        raise IncompleteSetError(f"{path} only lists or compares; it judged nothing")
    return given


def _shards(given: Sequence[Given], command: str) -> Report:
    """Join one set of shards."""
    for one in given:
        if one.report.shard is None:
            raise IncompleteSetError(
                f"{one.path} is no shard; `invertgate run --shard I/N` makes one, and "
                "`merge --matrix` joins whole runs of several machines"
            )
    _refuse_strangers(given)
    machines = {one.machine: one.path for one in given}
    if len(machines) > 1:
        differing = "; ".join(f"{path}: {machine}" for machine, path in machines.items())
        raise IncompleteSetError(f"the shards ran on different machines ({differing}): --matrix")
    _refuse_incomplete(given)
    return join_shards([one.report for one in given], command)


def _machines(given: Sequence[Given], command: str) -> Report:
    """Join the reports of several machines, each of them whole or a set of shards."""
    _refuse_strangers(given)
    by_path = Counter(one.path.resolve() for one in given)
    if twice := [str(path) for path, times in by_path.items() if times > 1]:
        raise IncompleteSetError(f"given twice: {', '.join(twice)}")
    wholes = [one for one in given if one.report.shard is None]
    for machine in {one.machine for one in given}:
        parts = [one for one in given if one.machine == machine and one.report.shard]
        if parts:
            joined = _shards(parts, command)
            wholes.append(Given(min(part.path for part in parts), joined))
    return join_machines(list(_named(wholes)), command)


def _named(given: Sequence[Given]) -> Iterator[tuple[str, Report]]:
    """Name machines; those that are alike, by where their reports lie too."""
    times = Counter(one.machine for one in given)
    for one in given:
        alike = times[one.machine] > 1
        yield f"{one.machine} ({one.path})" if alike else one.machine, one.report


def _refuse_strangers(given: Sequence[Given]) -> None:
    """Refuse reports of different things."""
    first = given[0]
    for one in given[1:]:
        if (one.report.base, one.report.whole) == (first.report.base, first.report.whole):
            continue
        raise IncompleteSetError(
            f"{one.path} and {first.path} are of different things: base, head, sources, tables, "
            "policy and version of invertgate have to be the same"
        )


def _refuse_incomplete(given: Sequence[Given]) -> None:
    """Refuse shards that are not, each of them once, all that one run was divided into."""
    shards = [(one, one.report.shard) for one in given if one.report.shard is not None]
    _, first = shards[0]
    for one, shard in shards:
        if (shard.count, shard.keys) != (first.count, first.keys):
            raise IncompleteSetError(
                f"{one.path} is shard {shard.index}/{shard.count} of another set than "
                f"{given[0].path}, which is shard {first.index}/{first.count}"
            )
    times = Counter(shard.index for _, shard in shards)
    if twice := [f"{index}/{first.count}" for index in sorted(times) if times[index] > 1]:
        raise IncompleteSetError(f"given more than once: shard {', '.join(twice)}")
    missing = [index for index in range(1, first.count + 1) if index not in times]
    if missing:
        raise IncompleteSetError(f"missing: {_some(missing, first.count)}")
    _refuse_lost_rows([one.report for one in given], first.keys, first.found_in_all)


def _some(missing: Sequence[int], count: int) -> str:
    shown = ", ".join(f"shard {index}/{count}" for index in missing[:10])
    return shown if len(missing) <= len(missing[:10]) else f"{shown} and {len(missing) - 10} more"


def _refuse_lost_rows(reports: Iterable[Report], keys: str, found_in_all: int) -> None:
    """Refuse shards that do not hold just the rows of the whole, each where it belongs."""
    places, found = [], 0
    for report in reports:
        found += report.found
        told = report.shard
        shard = None if told is None else Shard(told.index, told.count)
        for row in report.rows:
            if shard is not None and not in_shard(row.path, row.id, shard):
                raise IncompleteSetError(f"{row.name} does not belong to shard {shard}")
            places.append(key_of(row))
    if found != found_in_all or keys_digest(places) != keys:
        raise IncompleteSetError(
            f"the shards hold {found} new outcomes, and the whole has {found_in_all}, or other rows"
        )
