import json
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path

import pytest

from invertgate.errors import UsageError
from invertgate.lanes.log import Counts, Made, append, attempt_of, summarize
from invertgate.lanes.properties import Property, Selection
from invertgate.lanes.quarantine import Entry
from invertgate.lanes.router import Signals, concluded, plan
from invertgate.lanes.runners import Finding, Token

NOON = datetime(2026, 2, 28, 12, tzinfo=UTC)
TOTAL = Property("total", "It adds up.", 2, ("**",), "p.py::prop_total")
FROZEN = Entry("test_x", "ada", "clock", date(2026, 3, 1))


def made(time: datetime = NOON) -> Made:
    return Made("invertgate route", time, "b" * 40, "h" * 40)


def line(**changed: object) -> bytes:
    usual = {
        "time": "2026-02-28T12:00:00+00:00",
        "probe": "pass",
        "quarantine": [],
        "merge_credit": 0,
        "model_call_allowed": True,
    }
    return json.dumps(usual | changed).encode() + b"\n"


def test_an_attempt_says_what_was_planned_and_found() -> None:
    planned = plan(Signals((), Selection((TOTAL,)), (FROZEN,)))

    attempt = attempt_of(concluded(planned, [Finding("total", Token.HOLD)]), made())

    assert json.loads(json.dumps(attempt)) == {
        "time": "2026-02-28T12:00:00+00:00",
        "command": "invertgate route",
        "base": "b" * 40,
        "head": "h" * 40,
        "probe": "pass",
        "lane": "hold",
        "reasons": [],
        "properties": [{"id": "total", "units": 2, "status": "selected"}],
        "quarantine": [
            {
                "id": "test_x",
                "status": "quarantined",
                "merge_credit": 0,
                "owner": "ada",
                "expires": "2026-03-01",
            }
        ],
        "merge_credit": 0,
        "model_call_allowed": True,
        "results": [{"id": "total", "result": "hold", "reason": ""}],
    }


def test_time_is_written_in_utc() -> None:
    tokyo = datetime(2026, 3, 1, 8, tzinfo=timezone(timedelta(hours=9)))

    assert attempt_of(plan(Signals()), made(tokyo))["time"] == "2026-02-28T23:00:00+00:00"


def test_attempts_are_appended_one_a_line(tmp_path: Path) -> None:
    log = tmp_path / "lane-log.jsonl"

    for number in range(3):
        append(log, {"number": number, "said": "a\nb\u2028é"}, is_asked_for=False)

    lines = log.read_bytes().split(b"\n")
    assert [json.loads(each)["number"] for each in lines[:-1]] == [0, 1, 2]
    assert lines[-1] == b""


def test_an_attempt_after_a_torn_line_stands_on_a_line_of_its_own(tmp_path: Path) -> None:
    log = tmp_path / "lane-log.jsonl"
    log.write_bytes(line() + b'{"probe": "pa')

    append(log, {"number": 1}, is_asked_for=False)

    assert log.read_bytes().split(b"\n")[1:] == [b'{"probe": "pa', b'{"number": 1}', b""]


def test_a_link_that_the_patch_may_have_put_there_is_not_followed(tmp_path: Path) -> None:
    target = tmp_path / "precious"
    target.write_bytes(b"mine\n")
    log = tmp_path / "lane-log.jsonl"
    log.symlink_to(target)

    with pytest.raises(UsageError, match="it is a symbolic link"):
        append(log, {}, is_asked_for=False)

    assert target.read_bytes() == b"mine\n"


def test_a_log_that_was_asked_for_may_be_a_link(tmp_path: Path) -> None:
    log = tmp_path / "link"
    log.symlink_to(tmp_path / "log")

    append(log, {"number": 1}, is_asked_for=True)

    assert (tmp_path / "log").read_bytes() == b'{"number": 1}\n'


def test_a_log_that_cannot_be_written_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be written"):
        append(tmp_path / "no" / "log", {}, is_asked_for=True)


def test_attempts_are_counted_by_day_in_utc() -> None:
    log = (
        line(probe="reject", model_call_allowed=False)
        + line()
        + line(time="2026-03-01T08:00:00+09:00")
        + line(time="2026-03-01T00:00:00Z")
    )

    found = summarize([("log", log)])

    assert found.by_day == (("2026-02-28", Counts(3, 1, 2, 0)), ("2026-03-01", Counts(1, 0, 1, 0)))
    assert found.total == Counts(4, 1, 3, 0)


def test_logs_of_several_runners_add_up() -> None:
    assert summarize([("a", line()), ("b", line() + line())]).total.attempts == 3


def test_since_leaves_earlier_days_out_and_keeps_what_has_no_time() -> None:
    log = line() + line(time="2026-03-01T00:00:00Z") + line(time="yesterday") + line(time=None)

    found = summarize([("log", log)], date(2026, 3, 1))

    assert [day for day, _ in found.by_day] == ["2026-03-01", "undated"]
    assert found.total.attempts == 3


def test_a_live_freeze_is_no_credit_bug() -> None:
    frozen = [{"id": "test_x", "status": "quarantined", "merge_credit": 0}]

    assert summarize([("log", line(quarantine=frozen))]).total.credit_bugs == 0


@pytest.mark.parametrize(
    "changed",
    [
        {"quarantine": [{"id": "test_x", "merge_credit": 1}]},
        {"quarantine": [{"id": "test_x", "merge_credit": 0}], "merge_credit": 1},
        {"quarantine": [{"id": "test_x", "merge_credit": None}]},
        {"quarantine": ["test_x"], "merge_credit": "1"},
        {"quarantine": {"id": "test_x", "merge_credit": 0.5}},
    ],
)
def test_credit_beside_a_quarantine_is_a_bug(changed: dict[str, object]) -> None:
    assert summarize([("log", line(**changed))]).total.credit_bugs == 1


def test_a_torn_last_line_is_told_and_the_others_count() -> None:
    found = summarize([("log", line() + line()[:20])])

    assert found.total.attempts == 1
    assert found.unread == ("log:2: a torn last line; it is not counted",)


def test_a_whole_last_line_counts_also_without_its_line_break() -> None:
    assert summarize([("log", line().rstrip())]).total.attempts == 1


@pytest.mark.parametrize("bad", [b"[]\n", b"{}\n", b"3\n", b"\xff\n", b"{\n", b'"x"\n', b"NaN\n"])
def test_a_line_that_is_no_attempt_is_told(bad: bytes) -> None:
    found = summarize([("log", bad + line())])

    assert found.total.attempts == 1
    assert found.unread == ("log:1: no object of a lane log; it is not counted",)
