import os
import time
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path

import pytest

from invertgate.errors import UsageError
from invertgate.lanes.quarantine import (
    Entry,
    State,
    is_quarantined,
    live_entries,
    read,
    standings,
)
from invertgate.request import Request

TODAY = date(2026, 2, 20)
GOOD = """\
flaky:
  - id: tests/test_shop.py::test_total
    owner: ada
    reason: clock
    expires: 2026-02-28
"""


def entry(name: str, expires: date = date(2026, 2, 28)) -> Entry:
    return Entry(name, "ada", "clock", expires)


@contextmanager
def zone(name: str) -> Generator[None]:
    before = os.environ.get("TZ")
    os.environ["TZ"] = name
    time.tzset()
    try:
        yield
    finally:
        os.environ.pop("TZ") if before is None else os.environ.update(TZ=before)
        time.tzset()


def read_text(text: str, today: date = TODAY) -> tuple[Entry, ...]:
    return read(text.encode(), "flaky.yaml", today, 30)


def test_an_entry_is_read_with_its_line() -> None:
    [found] = read_text(GOOD)

    assert found == entry("tests/test_shop.py::test_total")
    assert found.line == 2


@pytest.mark.parametrize("text", ["", "# nobody\n", "flaky:\n", "flaky: []\n", "\ufeffflaky: []\n"])
def test_an_empty_list_names_nobody(text: str) -> None:
    assert read_text(text) == ()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("owner: ada", "owner:", '3: field "owner" must be text, not nothing'),
        ("owner: ada", "owner: 12", '3: field "owner" must be text, not 12'),
        ("owner: ada", "owner: [ada]", '3: field "owner" must be one value, not a list'),
        ("owner: ada", "owner: {a: b}", '3: field "owner" must not be a mapping'),
        ("    owner: ada\n", "", '2: field "owner" is missing'),
        ("    reason: clock\n", "", '2: field "reason" is missing'),
        ("    expires: 2026-02-28\n", "", '2: field "expires" is missing'),
        ("2026-02-28", "", '5: field "expires" must be a day as YYYY-MM-DD, not nothing'),
        ("2026-02-28", "2026-02-30", '5: field "expires" must be a day as YYYY-MM-DD'),
        ("2026-02-28", "28/02/2026", '5: field "expires" must be a day as YYYY-MM-DD'),
        ("2026-02-28", "20226-02-28", '5: field "expires" must be a day as YYYY-MM-DD'),
        ("2026-02-28", "2026-02-28T00:00+09:00", '5: field "expires" must be a day'),
        ("2026-02-28", "2026-2-28", '5: field "expires" must be a day as YYYY-MM-DD'),
        ("2026-02-28", "2026-02-29", '5: field "expires" must be a day as YYYY-MM-DD'),
        ("2026-02-28", "٢٠٢٦-02-28", '5: field "expires" must be a day as YYYY-MM-DD'),
        ("2026-02-28", "2026-03-23", '5: field "expires" is 31 days from today'),
        ("2026-02-28", "9999-12-31", "max_quarantine_days is 30"),
        ("expires:", "until:", '5: field "until" is unknown'),
        ("reason: clock", "owner: bob", '4: field "owner" stands twice'),
        ("reason: clock", "reason: *x", "4: "),
        ("reason: clock", "reason: &x clock", "4: anchors are not read"),
        ("reason: clock", "reason: !!str clock", "4: tags are not read"),
        (
            "tests/test_shop.py::test_total",
            "tests/*.py::test_a",
            '2: field "id" must name one test',
        ),
        (
            "tests/test_shop.py::test_total",
            '" test_a"',
            '2: field "id" begins or ends with a blank',
        ),
        ("tests/test_shop.py::test_total", '""', '2: field "id" must be text'),
        ("flaky:", "quarantine:", '1: the file must have one key, "flaky"'),
        ("flaky:\n", "", "1: the file must have one key"),
        ("flaky:\n", "flaky: 3\nother:\n", '1: field "flaky" must be a list'),
        (GOOD, GOOD + "other: 1\n", "6: the file must have one key"),
        (GOOD, GOOD + "---\nflaky: []\n", "6: a second document starts"),
        (
            GOOD,
            GOOD + GOOD.removeprefix("flaky:\n"),
            '6: field "id": tests/test_shop.py::test_total',
        ),
        (GOOD, GOOD + "<<<<<<< ours\n", "6: a merge conflict is left"),
        (GOOD, "flaky: [1]\n", '1: an element of "flaky" must be a mapping'),
        (GOOD, "flaky: [\n", "not valid YAML"),
    ],
)
def test_a_malformed_list_is_refused_with_line_and_field(old: str, new: str, message: str) -> None:
    with pytest.raises(UsageError) as refused:
        read_text(GOOD.replace(old, new))

    assert str(refused.value).startswith("flaky.yaml:")
    assert message in str(refused.value)
    assert refused.value.exit_code == 2


def test_bytes_that_are_no_text_are_refused_with_their_line() -> None:
    with pytest.raises(UsageError, match=r"flaky\.yaml:2: this is not UTF-8"):
        read(b"flaky:\n  - id: \xff\n", "flaky.yaml", TODAY, 30)


def test_a_leap_day_is_a_day() -> None:
    text = GOOD.replace("2026-02-28", "2028-02-29")

    assert read_text(text, date(2028, 2, 1))[0].expires == date(2028, 2, 29)


def test_a_clock_that_was_never_set_makes_every_entry_live_too_long() -> None:
    with pytest.raises(UsageError, match="days from today"):
        read_text(GOOD, date(1970, 1, 1))


@pytest.mark.parametrize("name", ["America/Los_Angeles", "UTC", "Asia/Tokyo"])
@pytest.mark.parametrize(
    ("moment", "expected"),
    [
        (datetime(2026, 2, 28, 23, 59, 59, tzinfo=UTC), True),
        (datetime(2026, 3, 1, 0, 0, 0, tzinfo=UTC), False),
        (datetime(2026, 3, 1, 0, 30, 0, tzinfo=UTC), False),
        (datetime(2026, 3, 1, 8, 0, tzinfo=timezone(timedelta(hours=9))), True),
        (datetime(2026, 2, 28, 16, 30, tzinfo=timezone(timedelta(hours=-8))), False),
    ],
)
def test_an_entry_lives_through_its_last_day_in_utc_whatever_the_zone(
    name: str, moment: datetime, *, expected: bool
) -> None:
    with zone(name):
        today = Request(Path(), now=moment).today

    assert bool(live_entries([entry("test_total")], today)) is expected


@pytest.mark.parametrize(
    ("name", "nodeid", "expected"),
    [
        ("test_total", "tests/test_shop.py::test_total", True),
        ("test_total", "tests/test_shop.py::TestShop::test_total", True),
        ("test_total", "tests/test_shop.py::test_total[a::b]", True),
        ("test_total[1]", "tests/test_shop.py::test_total[1]", True),
        ("test_total[1]", "tests/test_shop.py::test_total[2]", False),
        ("test_total", "tests/test_shop.py::test_total_2", False),
        ("test_total", "tests/test_total.py::test_shop", False),
        ("a.py::test_total", "a.py::test_total", True),
        ("a.py::test_total", "a.py::test_total[1]", True),
        ("a.py::test_total[1]", "a.py::test_total[2]", False),
        ("a.py::test_total", "b/a.py::test_total", False),
        ("a.py::Shop::test_total", "a.py::Shop::test_total[x]", True),
    ],
)
def test_an_entry_names_a_test_by_nodeid_or_bare_name(
    name: str, nodeid: str, *, expected: bool
) -> None:
    assert is_quarantined(nodeid, [entry(name)]) is expected


def test_a_frozen_parameter_touches_the_whole_test() -> None:
    frozen = entry("a.py::prop_total[1]")

    assert frozen.touches("a.py::prop_total")
    assert not frozen.touches("a.py::prop_total[2]")


def test_a_live_entry_that_names_no_collected_test_is_stale() -> None:
    document = (
        entry("test_a"),
        entry("test_gone"),
        entry("test_b", date(2026, 2, 19)),
    )

    found = standings(document, TODAY, ["a.py::test_a", "a.py::test_b"], base=document[:1])

    assert [(each.state, each.nodeids, each.is_new) for each in found] == [
        (State.LIVE, ("a.py::test_a",), False),
        (State.STALE, (), True),
        (State.EXPIRED, ("a.py::test_b",), True),
    ]
