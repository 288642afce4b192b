"""Reports of shards and of machines, made from a whole report."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from invertgate.model import Result, Shard, Verdict
from invertgate.nightly.shards import in_shard, keys_digest
from invertgate.report.build import build, with_rows
from invertgate.report.document import Report, ReportShard
from invertgate.report.joined import key_of
from invertgate.report.store import write
from support.reports import FACTS, PATCH, listing, outcome


def whole_report(verdicts: Sequence[Verdict]) -> Report:
    """Return a report with a row of each of these verdicts."""
    outcomes = [outcome(number, line=10 * number) for number in range(1, len(verdicts) + 1)]
    results = [
        Result(*one.key, verdict, f"why {verdict}", f"tests/t.py::test_{one.line}")
        for one, verdict in zip(outcomes, verdicts, strict=True)
    ]
    facts = replace(FACTS, whole="a digest of it all")
    return build(PATCH, listing(*outcomes), results, facts)


def shard_of(whole: Report, index: int, count: int) -> Report:
    """Return the report that one shard of a run would have written."""
    shard = Shard(index, count)
    rows = [row for row in whole.rows if in_shard(row.path, row.id, shard)]
    told = ReportShard(index, count, whole.found, keys_digest(map(key_of, whole.rows)))
    return with_rows(replace(whole, shard=told), rows)


def shards_of(whole: Report, count: int) -> list[Report]:
    """Return the reports that all shards of a run would have written."""
    return [shard_of(whole, index, count) for index in range(1, count + 1)]


def written(report: Report, folder: Path) -> Path:
    """Write a report into a folder that is made for it, and return the folder."""
    folder.mkdir(parents=True)
    write(report, folder)
    return folder
