import pytest

from invertgate.evidence.candidates import Durability, Sighting, by_slot, durability, in_order


def test_cheaper_tests_come_first() -> None:
    sightings = [Sighting("t.py::slow", 2.0), Sighting("t.py::quick", 0.1)]

    assert in_order(sightings, "shop.py") == ["t.py::quick", "t.py::slow"]


def test_tests_without_parameters_come_first() -> None:
    sightings = [Sighting("t.py::a[1]", 0.1), Sighting("t.py::b", 2.0)]

    assert in_order(sightings, "shop.py") == ["t.py::b", "t.py::a[1]"]


def test_plain_parameters_come_before_fragile_ones() -> None:
    sightings = [Sighting("t.py::a[0.1]", 0.1), Sighting("t.py::a[large]", 2.0)]

    assert in_order(sightings, "shop.py") == ["t.py::a[large]", "t.py::a[0.1]"]


def test_among_tests_that_cost_the_same_those_named_after_the_source_come_first() -> None:
    sightings = [Sighting("t.py::a", 0.02), Sighting("tests/test_shop.py::b", 0.09)]

    assert in_order(sightings, "src/shop.py") == ["tests/test_shop.py::b", "t.py::a"]


def test_a_cheap_test_comes_before_a_dear_one_of_the_right_name() -> None:
    sightings = [Sighting("tests/test_shop.py::b", 3.0), Sighting("t.py::a", 0.2)]

    assert in_order(sightings, "src/shop.py") == ["t.py::a", "tests/test_shop.py::b"]


def test_tests_that_assert_nothing_come_after_those_that_may() -> None:
    sightings = [Sighting("t.py::runs", 0.01), Sighting("t.py::asserts", 5.0)]

    assert in_order(sightings, "shop.py", lambda test: test == "t.py::asserts") == [
        "t.py::asserts",
        "t.py::runs",
    ]


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ("[1]", Durability.PARAMETRIZED),
        ("[None-True]", Durability.PARAMETRIZED),
        ("[large order]", Durability.PARAMETRIZED),
        ("[a.b]", Durability.PARAMETRIZED),
        ("[0.1]", Durability.FRAGILE),
        ("[1e-05]", Durability.FRAGILE),
        ("[nan]", Durability.FRAGILE),
        ("[value0]", Durability.FRAGILE),
        ("[caf\\xe9]", Durability.FRAGILE),
        ("[a\\nb]", Durability.FRAGILE),
        ("[{'a': 1, 'b': 2}]", Durability.FRAGILE),
        ("[Point(x=1, y=2)]", Durability.FRAGILE),
        (f"[{'long ' * 20}]", Durability.FRAGILE),
        ("[{'a', 'b'}]", Durability.UNSTABLE),
        ("[frozenset({'a', 'b'})]", Durability.UNSTABLE),
        ("[<object object at 0x7f00aa11bb22>]", Durability.UNSTABLE),
        ("", Durability.PLAIN),
    ],
    ids=lambda value: str(value)[:20].strip("[]") or "none",
)
def test_an_id_lasts_as_long_as_its_parameters(parameters: str, expected: Durability) -> None:
    assert durability(f"t.py::test_a{parameters}") is expected


@pytest.mark.parametrize("parameter", ["<object at 0x7f00aa11bb22>", "{'a', 'b'}"])
def test_ids_that_are_others_in_every_process_are_left_out(parameter: str) -> None:
    assert in_order([Sighting(f"t.py::a[{parameter}]", 0.1)], "shop.py") == []


def test_tests_are_listed_by_what_they_take() -> None:
    one, other = Sighting("t::a", 0.1), Sighting("t::b", 0.1)

    assert by_slot([(one, (1, 2)), (other, (2,))]) == {1: [one], 2: [one, other]}
