"""One report out of several: of the shards of one run, or of runs on several machines."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final, TypeVar

from invertgate.model import NotParsed, Verdict
from invertgate.report.build import WITHOUT_OUTCOME, check, with_rows
from invertgate.report.depth_words import DEPTH, depth_in_words
from invertgate.report.document import Report, ReportRow

Key = tuple[str, str, bool]
"""Path, id, and whether it is a row of the table that no outcome answers."""

Machines = Sequence[tuple[str, Report]]
"""Whole reports, each with the name of the machine that it comes from."""

_Thing = TypeVar("_Thing")

WHICH_COUNTS: Final = (
    Verdict.RED,
    Verdict.LOCKED_OUT,
    Verdict.BOUND,
    Verdict.WEAK,
    Verdict.UNPROVEN,
    Verdict.UNREACHED,
    Verdict.UNCOLLECTED,
    Verdict.UNBOUND,
    Verdict.EXTERNAL,
    Verdict.QUARANTINED,
    Verdict.WAIVED,
    Verdict.EXEMPT,
    Verdict.LEFTOVER,
    Verdict.INHERITED,
)
"""What a row is that machines say different things of: the first of these that one of them says.

Red anywhere is red, and bound anywhere is bound. A machine that takes the outcome says more than
one that does not, and nothing that lets a row pass outweighs a finding."""


def key_of(row: ReportRow) -> Key:
    """Return what identifies a row in a report."""
    return (row.path, row.id, row.verdict in WITHOUT_OUTCOME)


def join_shards(parts: Sequence[Report], command: str) -> Report:
    """Join the shards of one run, which are known to be all of them.

    Args:
        parts: Complete reports, in any order.
        command: What the joined report says it comes from.

    Raises:
        ConservationError: The numbers of a part or of the whole do not add up.
    """
    ordered = sorted((check(part) for part in parts), key=_index)
    rows = [row for part in ordered for row in part.rows]
    shared = replace(_shared(ordered, command), shard=None, joined=_shard_names(ordered))
    return with_rows(shared, rows)


def join_machines(machines: Machines, command: str) -> Report:
    """Join the reports of several machines on one patch.

    A file that one machine cannot parse and another can (a newer syntax) counts as parsed: its
    rows are judged where it runs.

    Args:
        machines: Complete reports of whole runs, each with its machine's name.
        command: What the joined report says it comes from.

    Raises:
        ConservationError: The numbers of a machine or of the whole do not add up.
    """
    ordered = sorted(((name, check(report)) for name, report in machines), key=_name)
    found: dict[Key, dict[str, ReportRow]] = {}
    for name, report in ordered:
        for row in report.rows:
            found.setdefault(key_of(row), {})[name] = row
    outcomes = {(path, row_id) for path, row_id, gone in found if not gone}
    rows = [
        _row(said)
        for (path, row_id, gone), said in found.items()
        if not gone or (path, row_id) not in outcomes or len(said) == len(ordered)
    ]
    reports = [report for _, report in ordered]
    shared = replace(
        _shared(reports, command),
        files_examined=max(report.files_examined for report in reports),
        outcomes_examined=max(report.outcomes_examined for report in reports),
        not_parsed=_parsed_nowhere(reports),
        joined=tuple(name for name, _ in ordered),
    )
    notes = (*shared.notes, *_untaken(rows), *_parsed_elsewhere(ordered, shared.not_parsed))
    return with_rows(replace(shared, notes=notes), rows)


def _shared(reports: Sequence[Report], command: str) -> Report:
    """Return what is not told row by row; times are the longest, and the sum for CPU time."""
    return replace(
        reports[0],
        command=command,
        started=min(report.started for report in reports),
        seconds=max(report.seconds for report in reports),
        cpu=round(sum(report.cpu for report in reports), 3),
        python=_agreed(report.python for report in reports),
        platform=_agreed(report.platform for report in reports),
        tree=_tree(reports),
        trend=None,
        tables=_once(report.tables for report in reports),
        written=(),
        not_parsed=_once(report.not_parsed for report in reports),
        left_out=_once(report.left_out for report in reports),
        notes=_with_depth(reports),
    )


def _with_depth(reports: Sequence[Report]) -> tuple[str, ...]:
    """Return all notes; those that add small changes up are added up."""
    notes = _once(report.notes for report in reports)
    depth = depth_in_words(row for report in reports for row in report.rows)
    others = (note for note in notes if not note.startswith(DEPTH))
    return (*others, depth) if depth else notes


def _tree(reports: Sequence[Report]) -> str:
    """Return what all say of the files that tests found; who has run no test says nothing."""
    trees = {each.tree for each in reports if each.tree or any(row.runs for row in each.rows)}
    return trees.pop() if len(trees) == 1 else ""


def _row(said: Mapping[str, ReportRow]) -> ReportRow:
    """Choose what counts of what the machines say of one row."""
    name = min(said, key=lambda machine: _place(said[machine]))
    row = said[name]
    verdicts = {each.verdict for each in said.values()}
    by_machine = {machine: each.verdict for machine, each in said.items() if each.verdict}
    row = replace(row, by_machine=by_machine)
    if row.verdict is Verdict.UNREACHED:
        return replace(row, reason=f"no machine takes this outcome: {', '.join(sorted(said))}")
    return row if len(verdicts) == 1 else replace(row, reason=f"on {name}: {row.reason}")


def _place(row: ReportRow) -> tuple[int, int]:
    """Rank what a machine says; of waived rows, by what they would be without their waivers."""
    verdict, beneath = row.verdict, row.beneath
    return (
        WHICH_COUNTS.index(verdict) if verdict else -1,
        WHICH_COUNTS.index(beneath) if beneath else len(WHICH_COUNTS),
    )


def _untaken(rows: Iterable[ReportRow]) -> list[str]:
    names = [row.name for row in rows if row.verdict is Verdict.UNREACHED]
    return [f"taken on no machine: {', '.join(sorted(names))}"] if names else []


def _parsed_nowhere(reports: Sequence[Report]) -> tuple[NotParsed, ...]:
    paths = [{bad.path for bad in report.not_parsed} for report in reports]
    nowhere = set.intersection(*paths)
    return tuple(bad for bad in reports[0].not_parsed if bad.path in nowhere)


def _parsed_elsewhere(machines: Machines, nowhere: Sequence[NotParsed]) -> list[str]:
    left = {bad.path for bad in nowhere}
    return [
        f"{bad.path} does not parse on {name}; its rows are judged where it does"
        for name, report in machines
        for bad in report.not_parsed
        if bad.path not in left
    ]


def _once(lists: Iterable[Iterable[_Thing]]) -> tuple[_Thing, ...]:
    """Join lists; what several of them hold stands there once."""
    return tuple(dict.fromkeys(each for one in lists for each in one))


def _agreed(names: Iterable[str]) -> str:
    return ", ".join(sorted(set(names)))


def _index(report: Report) -> int:
    return report.shard.index if report.shard else 0


def _name(machine: tuple[str, Report]) -> str:
    return machine[0]


def _shard_names(reports: Iterable[Report]) -> tuple[str, ...]:
    shards = (report.shard for report in reports)
    return tuple(f"shard {shard.index}/{shard.count}" for shard in shards if shard)
