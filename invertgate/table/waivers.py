"""Waivers: a person's word that a row need not be bound, until a day.

Dates are days in UTC, the last one included; what day it is comes in as an argument.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import date
from typing import Final

from invertgate.documents import Record, Shape, records, refuse
from invertgate.model import Result, Verdict, Waiver
from invertgate.table.selection import Key

NAME: Final = "waivers.yaml"

COVERED: Final = frozenset(
    {
        Verdict.BOUND,
        Verdict.WEAK,
        Verdict.UNREACHED,
        Verdict.UNBOUND,
        Verdict.UNCOLLECTED,
        Verdict.UNPROVEN,
        Verdict.EXTERNAL,
    }
)
"""Verdicts that a waiver stands above. A red test is broken whatever the row is worth, one that was
locked must not change, and a flaky one is somebody's task already: these stay what they are."""

_SHAPE: Final = Shape("waivers", ("path", "id", "reason", "owner", "expires"))
_ID: Final = re.compile(r"[0-9a-f]{12}")


def read(source: bytes, name: str, today: date, max_days: int) -> tuple[Waiver, ...]:
    """Read a list of waivers.

    Args:
        source: Its bytes; an empty file waives nothing.
        name: What messages call it.
        today: What day it is, in UTC.
        max_days: How many days from today a waiver may still live.

    Raises:
        UsageError: It is malformed, or a waiver lives too long; the message names line and field.
    """
    found: dict[Key, tuple[Waiver, int]] = {}
    for record in records(source, name, _SHAPE):
        waiver = _waiver(record, today, max_days)
        key = (waiver.path, waiver.id)
        if key in found:
            what = f'field "id": {":".join(key)} stands in line {found[key][1]} already'
            refuse(name, record.line, f"{what}; keep one of the two")
        found[key] = (waiver, record.line)
    return tuple(waiver for waiver, _ in found.values())


def is_live(waiver: Waiver, today: date) -> bool:
    """Tell whether a waiver counts on a day."""
    return today <= date.fromisoformat(waiver.expires)


def applied(
    results: Iterable[Result], waivers: Mapping[Key, Waiver], today: date
) -> tuple[Result, ...]:
    """Let waivers count.

    Args:
        results: What was found without them; every claimed test was run.
        waivers: Those that count, live or not, by path and id.
        today: What day it is, in UTC.

    Returns:
        The results in their order; a row with a live waiver is waived, and says what it would be.
    """
    return tuple(
        result
        if (waiver := waivers.get(result.key)) is None
        else _with_waiver(result, waiver, is_live(waiver, today))
        for result in results
    )


def _with_waiver(result: Result, waiver: Waiver, live: bool) -> Result:
    if result.verdict not in COVERED:
        if result.verdict in _WITHOUT_OUTCOME:
            return result
        return replace(result, reason=_joined(result.reason, "its waiver does not cover this"))
    if not live:
        if result.verdict is Verdict.BOUND:
            return result
        expired = f"its waiver expired on {waiver.expires} (UTC, {waiver.owner}): the row counts"
        return replace(result, reason=_joined(result.reason, f"{expired} again"))
    until = f"waived until {waiver.expires} (UTC), {waiver.owner}: {waiver.reason}"
    if result.verdict is Verdict.BOUND:
        beneath = f"this waived row is killed now by {result.test}: its waiver can go"
    else:
        beneath = _joined(f"without the waiver {result.verdict}", result.reason, ": ")
    return replace(
        result,
        verdict=Verdict.WAIVED,
        reason=_joined(until, beneath),
        waiver=waiver,
        beneath=result.verdict,
    )


_WITHOUT_OUTCOME: Final = frozenset({Verdict.LEFTOVER, Verdict.INHERITED, Verdict.EXEMPT})


def _joined(first: str, second: str, by: str = "; ") -> str:
    return by.join(filter(None, (first, second)))


def _waiver(record: Record, today: date, max_days: int) -> Waiver:
    path = record.text("path")
    if "\\" in path or not {"", ".", ".."}.isdisjoint(path.split("/")):
        record.refuse("path", f"must lead from the top of the repository to a file, not {path}")
    row_id = record.single("id").text  # digits and an e: YAML may take it for a number
    if not _ID.fullmatch(row_id):
        what = f"must be 12 hex digits in lower case, not {row_id or 'nothing'}"
        record.refuse("id", what)
    expires = record.day("expires", today, max_days, "max_waiver_days")
    reason, owner = record.text("reason"), record.text("owner")
    return Waiver(path, row_id, reason, owner, expires.isoformat())
