from types import SimpleNamespace
from typing import Any

import pytest
from _scale import ROWS_A_TEST, function, rows_of
from _scale import test as source_of_test

from invertgate.model import ChangedFile
from invertgate.outcomes.identity import new_outcomes


def outcomes_of(numbers: range) -> set[tuple[str, str]]:
    source = "".join(map(function, numbers)).encode()
    file = ChangedFile("places_000.py", None, None, source, frozenset())
    return {(one.id, one.side) for one in new_outcomes([file], ()).outcomes}


def test_rows_name_what_is_new_in_the_functions() -> None:
    numbers = range(20)

    rows = [row for number in numbers for row in rows_of(number)]

    assert {(row["id"], row["side"]) for row in rows} == outcomes_of(numbers)
    assert len(rows) == ROWS_A_TEST * len(numbers)


def test_generated_test_notices_a_wrong_answer() -> None:
    right, wrong = function(1), function(1).replace("'below'", "'above'")

    called(right)
    with pytest.raises(AssertionError):
        called(wrong)


def called(source: str) -> None:
    space: dict[str, Any] = {}
    exec(source, space)  # noqa: S102 (our own text)
    module = SimpleNamespace(place_1=space["place_1"])
    exec(source_of_test(1), space := {"places_000": module})  # noqa: S102
    space["test_place_1"]()
