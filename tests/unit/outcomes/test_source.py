import ast
import sys
import warnings

import pytest

from invertgate.model import NotParsed
from invertgate.outcomes.source import Lines, Source, lines_of_git, parse

IF = b"if x:\n    y = 1\n"


@pytest.mark.parametrize(
    "source",
    [
        b"\xef\xbb\xbf" + IF,
        IF.replace(b"\n", b"\r\n"),
        IF.replace(b"\n", b"\r"),
        b"\x0c" + IF,
        b"# -*- coding: latin-1 -*-\nname = '\xe9'\n" + IF,
        b"#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\nname = '\x80'\n" + IF,
        b"# coding: utf-8\nname = '\xc3\xa9'\n" + IF,
        b"name = '\xe2\x80\xa8'\n" + IF,
        b"",
    ],
    ids=["bom", "crlf", "cr", "form-feed", "latin-1", "cp1252", "utf-8", "u+2028", "empty"],
)
def test_source_of_every_encoding_and_line_end_is_parsed(source: bytes) -> None:
    assert isinstance(parse("a.py", source), Source)


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(
            b"# coding: shift_jis\nname = '\x83\x5c'\n" + IF, id="a backslash in a letter"
        ),
        pytest.param(b"# coding: gbk\nname = '\xbf\x5c'\n" + IF, id="the same in gbk"),
        pytest.param(b"# coding: utf-7\nname = '+AGE-'\n" + IF, id="utf-7"),
        pytest.param(b"# coding: utf-16\n" + IF, id="two bytes a letter"),
        pytest.param(b"# coding: rot13\nvs k:\n    l = 1\n", id="no encoding of text"),
        pytest.param(b"\xef\xbb\xbf# coding: latin-1\n" + IF, id="mark and cookie that differ"),
        pytest.param(b"\n\n# coding: latin-1\nname = '\xe9'\n" + IF, id="a cookie too late"),
        pytest.param(b"# coding: unicode_escape\nx = 1\\nif x:\\n    y = 1\n", id="escapes"),
        pytest.param(b"\xff\xfei\0f\0", id="utf-16 by its mark"),
        pytest.param(IF + b"\x1a", id="the end mark of old systems"),
    ],
)
def test_source_is_read_if_python_reads_it_and_told_of_if_not(source: bytes) -> None:
    try:
        ast.parse(source)
    except (SyntaxError, ValueError):
        reads = False
    else:
        reads = True

    assert isinstance(parse("a.py", source), Source if reads else NotParsed)


@pytest.mark.parametrize(
    ("source", "line"),
    [
        (b"x = 1\ndef (", 2),
        (b"{{x}} = 1 +", 1),
        (b"x = 1\ny = '\xe9'\n", None),
        (b"# coding: nonsense\n", None),
        (b"x = 1\0", None),
    ],
    ids=["syntax", "template", "not-utf-8", "unknown-encoding", "null-byte"],
)
def test_what_is_no_python_is_reported_with_its_path(source: bytes, line: int | None) -> None:
    found = parse("lib/a.py", source)

    assert isinstance(found, NotParsed)
    assert found.path == "lib/a.py"
    assert found.message
    assert line is None or found.line == line


def test_too_deep_nesting_is_reported_and_does_not_escape() -> None:
    found = parse("a.py", b"x = " + b"-" * 100_000 + b"1")

    assert isinstance(found, NotParsed)


def test_recursion_limit_is_what_it_was() -> None:
    limit = sys.getrecursionlimit()

    parse("a.py", b"def (")

    assert sys.getrecursionlimit() == limit


@pytest.mark.parametrize("source", [b"x = '\\d'", b"x = 1 is 1", b"assert (x, 'y')"])
def test_warnings_of_the_parser_stay_inside(source: bytes) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")

        assert isinstance(parse("a.py", source), Source)


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="needs a Python without the syntax")
@pytest.mark.parametrize("source", [b"type X = int", b"def f[T](x: T): pass", b"class C[T]: pass"])
def test_syntax_of_a_newer_python_is_named(source: bytes) -> None:
    found = parse("a.py", source)

    assert isinstance(found, NotParsed)
    assert "needs Python 3.12" in found.message


def test_lines_are_cut_where_the_parser_cuts_them() -> None:
    lines = Lines("a = 1\f2\rb = '\u2028'\r\nc = 3\n".encode())

    assert [lines[number] for number in (1, 2, 3)] == [
        b"a = 1\f2",
        "b = '\u2028'".encode(),
        b"c = 3",
    ]


def test_lines_are_in_the_encoding_in_which_columns_count() -> None:
    lines = Lines(b"# coding: latin-1\nx = '\xe9' + y\n")

    assert lines.between(2, 11, 2, 12) == b"y"


def test_region_of_several_lines_is_cut_out() -> None:
    lines = Lines(b"if (a\n    and\n    b): pass\n")

    assert lines.between(1, 4, 3, 5) == b"a\n    and\n    b"


def test_lines_of_git_are_those_of_python_where_no_lone_carriage_return_is() -> None:
    assert lines_of_git(b"a\r\nb\r\nc", frozenset({2})) == {2}


def test_line_of_git_stands_for_all_its_lines_in_python() -> None:
    assert lines_of_git(b"a\rb\nc\rd\r\ne", frozenset({2})) == {3, 4}
    assert lines_of_git(b"a\rb\nc\rd\r\ne", frozenset({3, 9})) == {5}
