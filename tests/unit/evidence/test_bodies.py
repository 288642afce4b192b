from textwrap import dedent

import pytest

from invertgate.evidence.bodies import Body, body_of, may_assert

HEAD = """\
import os
import pytest
import helpers
from shop.orders import total
from helpers import same
"""
LINES = HEAD.count("\n")


def seen(source: str, test: str = "test_it") -> Body:
    body = body_of((HEAD + dedent(source)).encode(), f"tests/test_a.py::{test}", ("shop", "orders"))
    assert body is not None
    return body


@pytest.mark.parametrize(
    "source",
    [
        "def test_it():\n    assert total() == 1",
        "def test_it():\n    with pytest.raises(ValueError): total()",
        "def test_it(mock):\n    total(mock)\n    mock.assert_called_once()",
        "def test_it():\n    same(total(), 1)",
        "def test_it():\n    helpers.compare_to(total())",
        "def test_it():\n    helpers.do(total())",
        "def test_it():\n    seen(total())\ndef seen(x):\n    assert x",
        "def test_it():\n    a()\ndef a(): b()\ndef b():\n    if total(): raise AssertionError",
        "def test_it(data_regression):\n    data_regression.check(total())",
        "def test_it():\n    pytest.fail('no')",
    ],
)
def test_what_asserts_or_may_do_so_counts(source: str) -> None:
    assert seen(source).asserts


@pytest.mark.parametrize(
    "source",
    [
        "def test_it():\n    total()",
        "def test_it():\n    os.remove(total())",
        "def test_it():\n    x = total()\n    print(x)",
        "def test_it():\n    again()\ndef again():\n    total()\n    again()",
    ],
)
def test_what_only_calls_the_code_asserts_nothing(source: str) -> None:
    assert not seen(source).asserts


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("with pytest.raises(Exception): total()", (2,)),
        ("pytest.raises(BaseException, total)", (2,)),
        ("self.assertRaises(Exception, total)", (2,)),
        ("with pytest.raises(Exception, match='no'): total()", ()),
        ("with pytest.raises(ValueError): total()", ()),
    ],
)
def test_expectation_that_any_error_satisfies_is_seen(source: str, lines: tuple[int, ...]) -> None:
    found = seen(f"def test_it(self):\n    {source}").any_error

    assert found == tuple(LINES + line for line in lines)


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("assert True", (2,)),
        ("assert (total() == 1, 'sum')", (2,)),
        ("assert True; assert total()", ()),
        ("assert not total()", ()),
        ("assert True; same(total(), 1)", ()),
        ("assert False", ()),
    ],
)
def test_assertions_that_always_hold_are_seen(source: str, lines: tuple[int, ...]) -> None:
    assert seen(f"def test_it():\n    {source}").constant == tuple(LINES + n for n in lines)


def test_handler_that_swallows_is_seen() -> None:
    source = """\
        def test_it():
            try:
                total()
            except Exception:
                pass
            try:
                total()
            except ValueError:
                pass
        """

    assert seen(source).swallows == (LINES + 4,)


@pytest.mark.parametrize(
    ("test", "line"),
    [
        ("test_it", 1),
        ("test_it[a::b]", 1),
        ("TestA::test_it", 5),
        ("TestA::TestB::test_it", 8),
    ],
)
def test_function_is_found_by_its_nodeid(test: str, line: int) -> None:
    source = """\
        def test_it():
            pass

        class TestA:
            async def test_it(self):
                pass
            class TestB:
                def test_it(self):
                    pass
        """

    assert seen(source, test).line == LINES + line


@pytest.mark.parametrize(
    ("source", "test"),
    [
        ("def test_it(): pass", "t.py::test_other"),
        ("def test_it(): pass", "t.py::TestA::test_it"),
        ("def test_it(): pass", "t.py"),
        ("def (", "t.py::test_it"),
    ],
)
def test_nothing_is_said_of_a_test_that_is_not_there(source: str, test: str) -> None:
    assert body_of(source.encode(), test) is None


def test_every_function_of_a_file_is_told_whether_it_may_assert() -> None:
    source = b"""
def test_asserts():
    assert True

def test_only_runs():
    len([])

class TestIn:
    def test_calls(self):
        self.assertEqual(1, 1)
"""

    assert may_assert(source) == {
        "test_asserts": True,
        "test_only_runs": False,
        "TestIn::test_calls": True,
    }


def test_nothing_is_said_of_a_file_that_does_not_parse() -> None:
    assert may_assert(b"def (") == {}
