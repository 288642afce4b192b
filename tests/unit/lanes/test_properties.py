from collections.abc import Iterable
from dataclasses import replace
from fnmatch import fnmatchcase

import pytest

from invertgate.errors import UsageError
from invertgate.lanes.properties import Property, Selection, read, reworded, select

GOOD = """\
properties:
  - id: total
    statement: A total is the sum of its parts.
    units: 2
    files: ["shop/*.py"]
    test: tests/prop_shop.py::prop_total
  - id: order-kept
    statement: Orders keep their order.
    units: 1
    files: shop/orders.py
"""
TOTAL = Property(
    "total", "A total is the sum of its parts.", 2, ("shop/*.py",), "tests/prop_shop.py::prop_total"
)
KEPT = Property("order-kept", "Orders keep their order.", 1, ("shop/orders.py",))


def first_match(path: str, globs: Iterable[str]) -> str | None:
    return next((glob for glob in globs if fnmatchcase(path, glob)), None)


def test_properties_are_read_in_their_order() -> None:
    assert read(GOOD.encode(), "properties.yaml") == (TOTAL, KEPT)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "units: 2",
            "units: two",
            '4: field "units" must be a whole number from 1 to 9999, not two',
        ),
        ("units: 2", 'units: "2"', '4: field "units" must be a whole number'),
        ("units: 2", "units: 0", '4: field "units" must be a whole number'),
        ("units: 2", "units: -1", '4: field "units" must be a whole number'),
        ("units: 2", "units: 1.5", '4: field "units" must be a whole number'),
        ("units: 2", "units: true", '4: field "units" must be a whole number'),
        ("units: 2", "units: 0x2", '4: field "units" must be a whole number'),
        ("units: 2", "units:", '4: field "units" must be a whole number from 1 to 9999, not none'),
        ("    units: 2\n", "", '2: field "units" is missing'),
        ("id: total", "id: a b", '2: field "id" must be letters, digits'),
        ("id: order-kept", "id: total", '7: field "id": total stands in line 2 already'),
        ("id: total", "id: 12", '2: field "id" must be text, not 12'),
        ('["shop/*.py"]', "[]", '2: field "files" must name something'),
        ('["shop/*.py"]', "[1]", '5: field "files" must hold texts only'),
        ('["shop/*.py"]', "[../x]", '5: field "files" must be relative'),
        ('["shop/*.py"]', "[/x]", '5: field "files" must be relative'),
        ('["shop/*.py"]', "[[x]]", '5: field "files" must hold texts, not a list'),
        ("prop_shop.py::prop_total", "prop_shop.py", '6: field "test" must be PATH::prop_NAME'),
        ("prop_shop.py::prop_total", "x.py::test_total", '6: field "test" must be PATH::prop_NAME'),
        (
            "tests/prop_shop.py::prop_total",
            "--x::prop_a",
            '6: field "test" must be PATH::prop_NAME',
        ),
        ("tests/prop_shop.py::prop_total", "../x::prop_a", '6: field "test" must be'),
        (
            "test:",
            "tests:",
            '6: field "tests" is unknown; known are id, statement, units, files, test',
        ),
        ("statement: A", "statement: &a A", "3: anchors are not read"),
    ],
)
def test_a_malformed_list_is_refused_with_line_and_field(old: str, new: str, message: str) -> None:
    with pytest.raises(UsageError) as refused:
        read(GOOD.replace(old, new).encode(), "properties.yaml")

    assert str(refused.value).startswith(f"properties.yaml:{message.split(':', 1)[0]}:")
    assert message in str(refused.value)


def test_a_property_may_be_stated_in_a_class_or_for_one_parameter() -> None:
    for test in ("a.py::Shop::prop_total", "a.py::prop_total[a::b]"):
        text = GOOD.replace("tests/prop_shop.py::prop_total", test)

        assert read(text.encode(), "properties.yaml")[0].test == test


def test_a_file_selects_every_property_whose_glob_it_matches() -> None:
    found = select((TOTAL, KEPT), ["shop/orders.py", "shop/tax.py"], frozenset(), first_match)

    assert found == Selection((TOTAL, KEPT), frozenset(), ())


def test_a_file_that_no_glob_matches_is_unmapped() -> None:
    found = select((KEPT,), ["shop/orders.py", "shop/tax.py"], frozenset(), first_match)

    assert found.unmapped == ("shop/tax.py",)


def test_a_property_that_the_patch_adds_does_not_count() -> None:
    assert reworded((KEPT,), (KEPT, TOTAL)) == frozenset()
    assert select((KEPT,), ["shop/tax.py"], frozenset(), first_match).unmapped == ("shop/tax.py",)


@pytest.mark.parametrize(
    "changed",
    [
        replace(TOTAL, statement="A total is a number."),
        replace(TOTAL, units=1),
        replace(TOTAL, files=("**",)),
        replace(TOTAL, test="tests/prop_shop.py::prop_nothing"),
    ],
)
def test_a_property_that_the_patch_rewords_answers_for_no_file_and_stays_priced(
    changed: Property,
) -> None:
    ids = reworded((TOTAL, KEPT), (changed, KEPT))

    found = select((TOTAL, KEPT), ["shop/orders.py", "shop/tax.py"], ids, first_match)

    assert found == Selection((TOTAL, KEPT), frozenset({"total"}), ("shop/tax.py",))


def test_moving_a_property_within_its_file_does_not_reword_it() -> None:
    assert reworded((TOTAL, KEPT), (KEPT, replace(TOTAL, line=99))) == frozenset()


def test_where_a_file_stood_calls_for_its_properties_too_and_needs_none() -> None:
    moved = ["shop/orders.py", "old/gone.py"]

    found = select((TOTAL, KEPT), ["shop/tax.py"], frozenset(), first_match, moved)

    assert found == Selection((TOTAL, KEPT), frozenset(), ())
