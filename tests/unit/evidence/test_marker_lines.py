import ast

from invertgate.evidence.marker_lines import NewLine, marking

SOURCE = b'''\
"""Tests."""

from __future__ import annotations

from shop import price


def test_plain():
    assert price(1)


class TestPrice:
    @staticmethod
    def helper():
        pass

    @classmethod
    async def test_inside(self):
        assert price(2)
'''
WITH_PYTEST = b"import pytest as pt\n\n\n@pt.mark.slow\ndef test_plain():\n    pass\n"


def pasted(source: bytes, lines: tuple[NewLine, ...]) -> str:
    """Add lines one after another, each above the line of its number."""
    text = source.decode().splitlines()
    for each in lines:
        text.insert(each.line - 1, each.text)
    return "\n".join(text)


def test_lines_are_added_one_after_another_from_the_bottom_up() -> None:
    claims = {"t.py::test_plain": ["a" * 12], "t.py::TestPrice::test_inside": ["b" * 12]}

    found = marking(SOURCE, claims)

    text = pasted(SOURCE, found.lines)
    ast.parse(text)
    assert [each.line for each in found.lines] == [17, 8, 5]
    assert '    @pytest.mark.branch("bbbbbbbbbbbb")\n    @classmethod\n' in text
    assert '\n@pytest.mark.branch("aaaaaaaaaaaa")\ndef test_plain' in text
    assert "\nimport pytest\nfrom shop import price" in text


def test_rows_of_one_function_share_a_line_whatever_its_parameters() -> None:
    claims = {"t.py::test_plain[1]": ["a" * 12], "t.py::test_plain[2]": ["a" * 12, "p.py:b"]}

    [line] = marking(WITH_PYTEST, claims).lines

    assert line == NewLine(4, '@pt.mark.branch("aaaaaaaaaaaa", "p.py:b")')


def test_a_test_that_is_no_function_of_the_file_is_told() -> None:
    found = marking(SOURCE, {"t.py::TestChild::test_inside": ["a"], "t.py::t.price": ["b"]})

    assert (found.lines, found.unplaced) == ((), ("t.py::TestChild::test_inside", "t.py::t.price"))


def test_a_file_that_does_not_parse_places_nothing() -> None:
    assert marking(b"def (", {"t.py::test_a": ["a"]}).unplaced == ("t.py::test_a",)


def test_tabs_stay_tabs() -> None:
    source = b"import pytest\nclass TestA:\n\tdef test_b(self):\n\t\tpass\n"

    [line] = marking(source, {"t.py::TestA::test_b": ["a" * 12]}).lines

    assert line.text == '\t@pytest.mark.branch("aaaaaaaaaaaa")'
