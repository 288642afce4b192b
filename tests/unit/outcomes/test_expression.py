import ast

import pytest

from invertgate.outcomes.expression import write
from invertgate.outcomes.parts import TEST

# The right side is what `ast.unparse` gives on Python 3.12, but for the `u` prefix.
WRITTEN = [
    ("x   is None", "x is None"),
    ("not a in b", "not a in b"),
    ("a not in b", "a not in b"),
    ("(a and b) or c", "a and b or c"),
    ("a and (b or c) and not d", "a and (b or c) and (not d)"),
    ('u"a" == x', "'a' == x"),
    ("\"a\" 'b' == x", "'ab' == x"),
    ('"it\'s"', '"it\'s"'),
    ("'\"'", "'\"'"),
    ("x == 1_000", "x == 1000"),
    ("x == 0x10", "x == 16"),
    ("1e400 < x", "1e309 < x"),
    ("x == 1j", "x == 1j"),
    ('b"a" in x', "b'a' in x"),
    ("f\"{'.' * 5}\" == y", "f'{'.' * 5}' == y"),
    ('f"{x!r:>{width}}"', "f'{x!r:>{width}}'"),
    ('f"{x = }"', "f'x = {x!r}'"),
    ("f'a{x}\\n\"b\"'", "f'a{x}\\n\"b\"'"),
    ("f\"{d['k']}'\"", "f\"{d['k']}'\""),
    ('f"{ {1: 2} }"', "f'{ {1: 2}}'"),
    ('f"{x:%H:%M}" f"{{}}"', "f'{x:%H:%M}{{}}'"),
    ("f\"{f'{x}' + 'y'}\"", "f'{f'{x}' + 'y'}'"),
    ('"é\\u200b\\U0001F600"', "'é\\u200b😀'"),
    ('"\\ud800\\x00\\\\"', "'\\ud800\\x00\\\\'"),
    ("x[a, b:c, ::2]", "x[a, b:c, ::2]"),
    ("x[(a, b)]", "x[a, b]"),
    ("x[()]", "x[()]"),
    ("x[*a]", "x[*a,]"),
    ("x[(a,)]", "x[a,]"),
    ("f(*a, b, k=1, **c)", "f(*a, b, k=1, **c)"),
    ("f((x for x in y))", "f((x for x in y))"),
    ("f(x for x in y)", "f((x for x in y))"),
    ("[x async for x in y if a if b]", "[x async for x in y if a if b]"),
    ("{**a, 'b': c}", "{**a, 'b': c}"),
    ("{a: b for a, b in c}", "{a: b for a, b in c}"),
    ("{a, b}", "{a, b}"),
    ("{x for x in (1, 2)}", "{x for x in (1, 2)}"),
    ('(m := re.match(r"\\d", s))', "(m := re.match('\\\\d', s))"),
    ("(a, b)", "(a, b)"),
    ("(a,)", "(a,)"),
    ("()", "()"),
    ("[1, (2)]", "[1, 2]"),
    ("lambda: 0", "lambda: 0"),
    ("lambda a, /, b=1, *c, d, e=2, **f: (a, b)", "lambda a, /, b=1, *c, d, e=2, **f: (a, b)"),
    ("lambda *, a: a", "lambda *, a: a"),
    ("a if b else (c if d else e)", "a if b else c if d else e"),
    ("(a if b else c) if d else e", "(a if b else c) if d else e"),
    ("-(-x) ** 2", "-(-x) ** 2"),
    ("2 ** -1", "2 ** (-1)"),
    ("(2 ** 3) ** 4", "(2 ** 3) ** 4"),
    ("a - (b - c)", "a - (b - c)"),
    ("(a | b) & ~c", "(a | b) & ~c"),
    ("a << 1 >> 2 @ b // c % d / e", "a << 1 >> 2 @ b // c % d / e"),
    ("not (a == b)", "not a == b"),
    ("a < b < (c == d)", "a < b < (c == d)"),
    ("(1).real", "1 .real"),
    ("1.5.real", "1.5.real"),
    ("(await x).y", "(await x).y"),
    ("(yield)", "(yield)"),
    ("(yield x)", "(yield x)"),
    ("(yield from x)", "(yield from x)"),
    ("...", "..."),
    ("a . b [ c ] ( d )", "a.b[c](d)"),
    ("(lambda: x)()", "(lambda: x)()"),
    ("True", "True"),
]


@pytest.mark.parametrize(("source", "text"), WRITTEN)
def test_expression_is_written_as_python_3_12_does(source: str, text: str) -> None:
    assert _written(source) == text


@pytest.mark.parametrize(
    "source",
    [
        "a and(b or c)",
        "a  and  (b\n or c)",
        "(a and ((b or c)))",
        "a and (b or c  # why\n)",
        "(\n    a\n    and (b or c)\n)",
    ],
)
def test_layout_does_not_change_the_text(source: str) -> None:
    assert _written(f"({source}\n)") == "a and (b or c)"


def test_trailing_comma_does_not_change_the_text() -> None:
    assert _written("f(a, b=[1, 2,],)") == _written("f(a, b=[1, 2])")


def test_characters_that_only_newer_pythons_know_are_escaped_on_every_python() -> None:
    only_in_unicode_15_1, only_in_unicode_15 = "\U0002ebf0", "\U0001fae8"

    assert _written(repr(only_in_unicode_15_1)) == r"'\U0002ebf0'"
    assert _written(f"'{only_in_unicode_15_1}'") == r"'\U0002ebf0'"
    assert _written(f"f'{only_in_unicode_15_1}'") == r"f'\U0002ebf0'"
    assert _written(f"'{only_in_unicode_15}'") == f"'{only_in_unicode_15}'"


def test_number_with_more_digits_than_python_writes_is_given_in_hexadecimal() -> None:
    digits = "f" * 5000

    assert _written(f"x == 0x{digits}") == f"x == 0x{digits}"


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("1 + " * 1500 + "1", "1 + " * 1500 + "1"),
        ("a" + ".b" * 1500, "a" + ".b" * 1500),
        ("a" + "()" * 1500, "a" + "()" * 1500),
    ],
    ids=["sums", "attributes", "calls"],
)
def test_deep_expression_is_written_without_recursion(source: str, text: str) -> None:
    tree = _tree_of_any_depth(source, 1500)

    assert write([(tree, TEST)]) == text


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("1 | -1 | 1 + 2j", "1 | -1 | 1 + 2j"),
        ("(None | True) as x", "None | True as x"),
        ("(a as b) as c", "(a as b) as c"),
        ("((1 | 2) as x), y", "[1 | 2 as x, y]"),
        ("{'a': 1, **rest}", "{'a': 1, **rest}"),
        ("{**rest}", "{**rest}"),
        ("{}", "{}"),
        ("Point(0, y=1, z=_)", "Point(0, y=1, z=_)"),
        ("a.B()", "a.B()"),
        ("[1, *_, (2)]", "[1, *_, 2]"),
        ("(1, *rest,)", "[1, *rest]"),
        ("(1)", "1"),
        ("1,", "[1]"),
        ("Point(x=(1 | 2))", "Point(x=1 | 2)"),
    ],
)
def test_pattern_is_written_as_python_3_12_does(pattern: str, text: str) -> None:
    tree = ast.parse(f"match x:\n case {pattern}: pass").body[0]

    assert isinstance(tree, ast.Match)
    assert write([(tree.cases[0].pattern, TEST)]) == text


def _written(source: str) -> str:
    return write([(ast.parse(source, mode="eval").body, TEST)])


def _tree_of_any_depth(source: str, depth: int) -> ast.expr:
    """Build by hand what not every Python parses."""
    node: ast.expr = ast.parse(source[0], mode="eval").body
    for _ in range(depth):
        if "+" in source:
            node = ast.BinOp(node, ast.Add(), ast.Constant(1))
        elif "." in source:
            node = ast.Attribute(node, "b", ast.Load())
        else:
            node = ast.Call(node, [], [])
    return node
