from invertgate.evidence.candidates import Sighting, by_slot, in_order


def test_cheaper_tests_come_first() -> None:
    sightings = [Sighting("t.py::slow", 2.0), Sighting("t.py::quick", 0.1)]

    assert in_order(sightings, "shop.py") == ["t.py::quick", "t.py::slow"]


def test_tests_without_parameters_come_first() -> None:
    sightings = [Sighting("t.py::a[1]", 0.1), Sighting("t.py::b", 2.0)]

    assert in_order(sightings, "shop.py") == ["t.py::b", "t.py::a[1]"]


def test_tests_named_after_the_source_come_before_others() -> None:
    sightings = [Sighting("t.py::a", 0.1), Sighting("tests/test_shop.py::b", 0.3)]

    assert in_order(sightings, "src/shop.py") == ["tests/test_shop.py::b", "t.py::a"]


def test_ids_with_an_address_are_left_out() -> None:
    assert in_order([Sighting("t.py::a[<object at 0x7f00aa11bb22>]", 0.1)], "shop.py") == []


def test_tests_are_listed_by_what_they_take() -> None:
    one, other = Sighting("t::a", 0.1), Sighting("t::b", 0.1)

    assert by_slot([(one, (1, 2)), (other, (2,))]) == {1: [one], 2: [one, other]}
