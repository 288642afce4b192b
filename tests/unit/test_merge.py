from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from invertgate import merge
from invertgate.errors import ExitCode, IncompleteSetError, UsageError
from invertgate.model import Verdict
from invertgate.report import store
from invertgate.report.build import with_rows
from invertgate.report.document import Report
from support.parts import shard_of, shards_of, whole_report, written

WHOLE = whole_report([Verdict.BOUND] * 6 + [Verdict.WEAK] * 3)


def merged(folder: Path, *parts: Report, matrix: bool = False) -> Report:
    paths = [written(part, folder / f"part-{place}") for place, part in enumerate(parts)]
    return merge.run(paths, folder / "out", "invertgate merge", matrix=matrix)


def test_merge_writes_the_joined_report(tmp_path: Path) -> None:
    joined = merged(tmp_path, *shards_of(WHOLE, 3))

    assert store.read(tmp_path / "out" / "report.json") == joined
    assert joined.rows == WHOLE.rows


def test_merge_ends_as_the_whole_run_would_have(tmp_path: Path) -> None:
    assert merged(tmp_path, *shards_of(WHOLE, 2)).exit_code == ExitCode.FINDINGS


def test_a_folder_of_folders_is_looked_through(tmp_path: Path) -> None:
    for place, part in enumerate(shards_of(WHOLE, 4)):
        written(part, tmp_path / "artifacts" / f"run-{place}" / "invertgate.out")

    joined = merge.run([tmp_path / "artifacts"], tmp_path / "out", "merge", matrix=False)

    assert joined.counts == WHOLE.counts


def without(*indexes: int) -> list[Report]:
    return [part for place, part in enumerate(shards_of(WHOLE, 4), 1) if place not in indexes]


SHARDS = shards_of(WHOLE, 2)
OTHER = with_rows(WHOLE, WHOLE.rows[1:])


def with_one_row_less() -> list[Report]:
    first, second = SHARDS
    return [first, with_rows(second, second.rows[1:])]


def with_a_row_of_the_other() -> list[Report]:
    first, second = SHARDS
    return [with_rows(first, first.rows[1:]), with_rows(second, [*second.rows, first.rows[0]])]


def second_as(change: Callable[[Report], Report]) -> list[Report]:
    return [SHARDS[0], change(SHARDS[1])]


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        (without(2), "missing: shard 2/4"),
        (without(1, 3), "missing: shard 1/4, shard 3/4"),
        ([*SHARDS, SHARDS[0]], "more than once: shard 1/2"),
        ([SHARDS[0], shard_of(WHOLE, 2, 3)], "of another set"),
        ([SHARDS[0], shard_of(OTHER, 2, 2)], "of another set"),
        (second_as(lambda part: replace(part, whole="other sources")), "of different things"),
        (second_as(lambda part: replace(part, base="f" * 40)), "of different things"),
        (second_as(lambda part: replace(part, python="3.12.1")), "different machines.*--matrix"),
        (second_as(lambda part: replace(part, complete=False)), "not complete"),
        (second_as(lambda part: replace(part, complete=False, error="no disk")), "no disk"),
        (second_as(lambda part: replace(part, judged=False)), "judged nothing"),
        (second_as(lambda part: replace(part, shard=None)), "is no shard"),
        (second_as(lambda part: replace(part, found=part.found + 1)), "not add up"),
        (with_one_row_less(), "the shards hold 8 new outcomes, and the whole has 9"),
        (with_a_row_of_the_other(), "does not belong to shard 2/2"),
    ],
)
def test_what_is_not_whole_is_refused(parts: list[Report], words: str, tmp_path: Path) -> None:
    with pytest.raises(IncompleteSetError, match=words) as refused:
        merged(tmp_path, *parts)

    assert refused.value.exit_code == ExitCode.UNPROVEN
    left = store.read(tmp_path / "out" / "report.json")
    assert (left.complete, left.exit_code) == (False, ExitCode.UNPROVEN)


@pytest.mark.parametrize("make", ["missing", "empty folder", "torn"])
def test_a_report_that_is_not_there_or_torn_is_refused(make: str, tmp_path: Path) -> None:
    path = tmp_path / "shard"
    if make != "missing":
        path.mkdir()
    if make == "torn":
        path.joinpath("report.json").write_text(store.encode(SHARDS[0])[:200])

    with pytest.raises(IncompleteSetError, match="shard"):
        merge.run([path], tmp_path / "out", "merge", matrix=False)


def test_minor_versions_of_python_are_what_makes_a_machine(tmp_path: Path) -> None:
    joined = merged(tmp_path, *second_as(lambda part: replace(part, python="3.11.2")))

    assert (joined.python, joined.found) == ("3.11.2, 3.11.9", WHOLE.found)


def test_merge_never_overwrites_what_it_reads(tmp_path: Path) -> None:
    out = written(SHARDS[0], tmp_path / "invertgate.out")
    written(SHARDS[1], tmp_path / "other")

    with pytest.raises(UsageError, match="--out"):
        merge.run([tmp_path], out, "merge", matrix=False)

    assert store.read(out / "report.json") == SHARDS[0]


def test_what_an_earlier_merge_left_is_no_part_of_the_next(tmp_path: Path) -> None:
    for place, part in enumerate(SHARDS):
        written(part, tmp_path / str(place))

    first = merge.run([tmp_path], tmp_path / "out", "merge", matrix=False)
    second = merge.run([tmp_path], tmp_path / "out", "merge", matrix=False)

    assert first == second


def on(python: str, report: Report) -> Report:
    return replace(report, python=python)


def test_a_matrix_of_sharded_runs_joins_each_machine_first(tmp_path: Path) -> None:
    new = whole_report([Verdict.UNREACHED] * 9)
    parts = [on("3.11.9", part) for part in shards_of(WHOLE, 2)]
    parts += [on("3.13.0", part) for part in shards_of(new, 3)]

    joined = merged(tmp_path, *parts, matrix=True)

    assert joined.joined == ("linux, Python 3.11", "linux, Python 3.13")
    assert joined.counts == WHOLE.counts


def test_a_matrix_with_a_shard_missing_is_refused(tmp_path: Path) -> None:
    parts = [on("3.13.0", WHOLE), *shards_of(WHOLE, 2)[:1]]

    with pytest.raises(IncompleteSetError, match="missing: shard 2/2"):
        merged(tmp_path, *parts, matrix=True)


def test_a_matrix_of_different_patches_is_refused(tmp_path: Path) -> None:
    with pytest.raises(IncompleteSetError, match="different things"):
        merged(tmp_path, WHOLE, replace(WHOLE, whole="other"), matrix=True)


def test_machines_that_are_alike_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    joined = merged(tmp_path, WHOLE, WHOLE, matrix=True)

    folders = [tmp_path / f"part-{place}" / "report.json" for place in (0, 1)]
    assert joined.joined == tuple(f"linux, Python 3.11 ({folder})" for folder in folders)


def test_a_report_that_is_given_twice_is_refused(tmp_path: Path) -> None:
    folder = written(WHOLE, tmp_path / "one")

    with pytest.raises(IncompleteSetError, match="given twice"):
        merge.run([folder, folder], tmp_path / "out", "merge", matrix=True)
