import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pytest

from invertgate.errors import NoBaseError, UsageError
from invertgate.model import Verdict
from invertgate.report.build import build
from invertgate.report.document import Report
from invertgate.report.store import clear, encode, opened, read, write
from support.reports import (
    FACTS,
    PATCH,
    failed_report,
    full_report,
    hostile_report,
    listing,
    one_row,
    outcome,
    result,
    rich_report,
)

NOT_UTF8 = b"src/na\xefve.py".decode("utf-8", "surrogateescape")


def test_report_is_the_same_after_write_and_read(tmp_path: Path) -> None:
    report = full_report()

    path = write(report, tmp_path)

    assert read(path) == report


def test_path_that_is_not_utf8_survives_write_and_read(tmp_path: Path) -> None:
    row = outcome(path=NOT_UTF8)
    report = build(PATCH, listing(row), [result(row, Verdict.BOUND)], FACTS)

    assert read(write(report, tmp_path)).rows[0].path == NOT_UTF8


def test_report_is_ascii_so_that_every_terminal_takes_it() -> None:
    row = outcome(predicate="x == 'é'")
    report = build(PATCH, listing(row), [result(row, Verdict.BOUND)], FACTS)

    assert encode(report).isascii()


def test_report_has_what_the_contract_names() -> None:
    content = json.loads(encode(full_report()))

    row = content["rows"][2]
    assert {"schema_version", "complete", "exit_code", "base", "head", "counts", "weak_tests"} <= (
        content.keys()
    )
    assert {"id", "path", "line", "scope", "kind", "predicate", "side", "test", "verdict"} <= (
        row.keys()
    )
    assert {"ending", "phase", "exception", "seconds", "cpu"} <= row["runs"][0].keys()


def test_write_leaves_no_unfinished_file(tmp_path: Path) -> None:
    write(one_row(Verdict.BOUND), tmp_path)

    assert [path.name for path in tmp_path.iterdir()] == ["report.json"]


def test_clear_removes_the_stale_report_and_ignores_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "invertgate.out"
    clear(folder)
    write(one_row(Verdict.BOUND), folder)

    clear(folder)

    assert [path.name for path in folder.iterdir()] == [".gitignore"]
    assert (folder / ".gitignore").read_text(encoding="ascii") == "*\n"


def test_clear_keeps_what_is_not_ours(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("!kept\n", encoding="ascii")
    (tmp_path / "kept").touch()

    clear(tmp_path)

    assert (tmp_path / "kept").exists()
    assert (tmp_path / ".gitignore").read_text(encoding="ascii") == "!kept\n"


def test_file_in_place_of_the_folder_is_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "invertgate.out").touch()

    with pytest.raises(UsageError, match="move it away"):
        clear(tmp_path / "invertgate.out")


def test_folder_that_cannot_take_the_report_is_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "report.json").mkdir()

    with pytest.raises(UsageError, match=r"report\.json"):
        write(one_row(Verdict.BOUND), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["report.json"]


def test_opened_starts_with_an_incomplete_report(tmp_path: Path) -> None:
    with opened(tmp_path / "out", FACTS):
        report = read(tmp_path / "out" / "report.json")

    assert (report.complete, report.exit_code, report.command) == (False, 130, FACTS.command)


def test_opened_leaves_the_written_report_alone(tmp_path: Path) -> None:
    with opened(tmp_path, FACTS):
        write(one_row(Verdict.BOUND), tmp_path)

    assert read(tmp_path / "report.json").complete


def test_error_leaves_its_exit_code_and_message_in_the_report(tmp_path: Path) -> None:
    with pytest.raises(NoBaseError), opened(tmp_path, FACTS):
        raise NoBaseError("pass --base")

    report = read(tmp_path / "report.json")
    assert (report.complete, report.exit_code, report.error) == (False, 5, "pass --base")


def test_bug_leaves_70_in_the_report(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), opened(tmp_path, FACTS):
        raise ZeroDivisionError

    report = read(tmp_path / "report.json")
    assert (report.complete, report.exit_code) == (False, 70)


def test_interrupt_leaves_130_in_the_report(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), opened(tmp_path, FACTS):
        raise KeyboardInterrupt

    assert read(tmp_path / "report.json").exit_code == 130


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "{}", '{"schema_version": 99}', '{"schema_version": 1}', "\udcff", "null"],
)
def test_read_refuses_what_is_no_report(tmp_path: Path, text: str) -> None:
    path = tmp_path / "report.json"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))

    with pytest.raises(UsageError, match="is no report"):
        read(path)


def test_read_refuses_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no report"):
        read(tmp_path / "report.json")


def test_read_refuses_a_field_of_another_type(tmp_path: Path) -> None:
    path = write(one_row(Verdict.BOUND), tmp_path)
    path.write_text(path.read_text("ascii").replace('"found": 1', '"found": "1"'), "ascii")

    with pytest.raises(UsageError, match="found"):
        read(path)


@pytest.mark.parametrize("make", [full_report, hostile_report, rich_report, failed_report])
def test_report_is_laid_out_alike_with_and_without_rows(make: Callable[[], Report]) -> None:
    report = make()

    assert encode(report) == json.dumps(asdict(report), indent=2) + "\n"
