import ast

from invertgate.model import ChangedFile, Outcome
from invertgate.nightly.regions import regions_of
from invertgate.outcomes.identity import new_outcomes

SOURCE = b"""\
def price(amount):
    if amount < 0:
        raise ValueError("negative")
    elif amount == 0:
        return 0
    try:
        amount = int(amount)
    except ValueError:
        if amount:
            return 1
        return 2
    else:
        amount += 1
    for each in range(3):
        amount += each
    else:
        amount -= 1
    match amount:
        case 3 if each > 1:
            return 4
    return 5
"""


def rows() -> tuple[Outcome, ...]:
    changed = ChangedFile("a.py", None, None, SOURCE, frozenset())
    return new_outcomes([changed], ()).outcomes


def owner(line: int, column: int) -> str:
    region = regions_of(ast.parse(SOURCE), rows()).innermost((line, column))
    if region is None:
        return ""
    what = "predicate" if region.is_predicate else "body"
    return f"{what} of {region.outcome.kind} {region.outcome.side} {region.outcome.line}"


def test_a_predicate_belongs_to_the_first_row_of_its_decision() -> None:
    assert owner(2, 7) == "predicate of if true 2"
    assert owner(19, 18) == "predicate of match case 19"


def test_a_body_belongs_to_the_side_that_runs_it() -> None:
    assert owner(3, 8) == "body of if true 2"
    assert owner(5, 8) == "body of if true 4"
    assert owner(13, 8) == "body of try_else else 12"
    assert owner(17, 8) == "body of for_else else 16"
    assert owner(20, 12) == "body of match case 19"


def test_the_innermost_row_owns_what_lies_in_several() -> None:
    assert owner(10, 12) == "body of if true 9"
    assert owner(11, 8) == "body of except handler 8"


def test_what_runs_whatever_is_decided_belongs_to_no_row() -> None:
    assert owner(7, 8) == ""
    assert owner(15, 8) == ""
    assert owner(21, 4) == ""


def test_a_predicate_belongs_to_the_row_that_is_named_first() -> None:
    true, false = (row for row in rows() if row.line == 2)

    region = regions_of(ast.parse(SOURCE), [false, true]).innermost((2, 7))

    assert region is not None
    assert region.outcome is false
