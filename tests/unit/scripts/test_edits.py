import ast
import contextlib
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest
from _edits import (
    OPERATORS,
    Edit,
    NotEditableError,
    Place,
    Source,
    find,
    invert,
    mark,
    negate,
    places,
)

MARK = "__mark__()"
LIBRARY = Path(sysconfig.get_path("stdlib"))
SMALL = 12_000
"""Bytes: files below are read on every run."""
LARGE = 60_000
QUICK_FILES = 25
ALL_FILES = 400

EVERY_KIND = """\
def f(x, seen=None):
    seen = [] if seen is None else seen
    if x == 1:
        seen.append("one")
    elif (  # a comment )
        x == 2
        or x == "\u00e9"
    ):
        seen.append("two")
    try:
        if x == 3: raise KeyError(x)
        if x == 4: raise IndexError(x)
    except KeyError: seen.append("key")
    except (LookupError, TypeError) as error:
        @str
        class inner: pass
        seen.append(type(error).__name__)
    else:
        seen.append('''no
error''')
    for _ in (): pass
    else:  # done
        seen.append("done"); seen.append("for")
    n = 2
    while n: n -= 1;
    else: seen.append("while")
    match x:
        case (5 | 6,): seen.append("sequence")
        case int(n) if n > 4:
            seen.append("big")
        case _:
            seen.append("other")
    return seen
"""


def edited(text: str, kind: str, side: str, number: int = 0, operator: str = "") -> str:
    """Invert the n-th decision of a kind and give the whole text."""
    source = Source(text.encode())
    place = sorted_places(source, kind)[number]
    return source.with_edits(OPERATORS[operator](source, place, side)).decode()


def sorted_places(source: Source, kind: str) -> list[Place]:
    """Find the decisions of a kind in the order of the text."""
    return sorted((p for p in places(source) if p.kind == kind), key=lambda place: place.anchor)


def called(text: str, argument: object) -> list[str]:
    """Call ``f`` as the text defines it, with a mark that adds to what it has seen."""
    marks: list[str] = []
    namespace: dict[str, object] = {"__mark__": lambda: marks.append("mark")}
    exec(compile(text, "<text>", "exec"), namespace)  # noqa: S102  that is what text is for
    function = namespace["f"]
    assert callable(function)
    seen = function(argument)
    assert isinstance(seen, list)
    return [*seen, *marks]


def test_without_an_edit_the_text_does_all_that_the_others_are_compared_with() -> None:
    assert called(EVERY_KIND, 0) == ["no\nerror", "done", "for", "while", "other"]
    assert called(EVERY_KIND, 1)[0] == "one"
    assert called(EVERY_KIND, 2)[0] == "two"


@pytest.mark.parametrize(
    ("kind", "side", "number", "argument", "expected"),
    [
        ("if", "true", 0, 1, ["no\nerror", "done", "for", "while", "other"]),
        ("if", "true", 0, 2, ["two", "no\nerror", "done", "for", "while", "other"]),
        ("if", "false", 0, 1, ["one", "no\nerror", "done", "for", "while", "other"]),
        ("if", "false", 0, 2, ["one", "no\nerror", "done", "for", "while", "other"]),
        ("if", "true", 1, "\u00e9", ["no\nerror", "done", "for", "while", "other"]),
        ("if", "false", 1, 0, ["two", "no\nerror", "done", "for", "while", "other"]),
        ("except", "handler", 0, 3, ["KeyError", "done", "for", "while", "other"]),
        ("except", "handler", 0, 4, ["IndexError", "done", "for", "while", "other"]),
        ("try_else", "else", 0, 0, ["done", "for", "while", "other"]),
        ("for_else", "else", 0, 0, ["no\nerror", "while", "other"]),
        ("while_else", "else", 0, 0, ["no\nerror", "done", "for", "other"]),
        ("match", "case", 0, (6,), ["no\nerror", "done", "for", "while", "other"]),
        ("match", "case", 1, 7, ["no\nerror", "done", "for", "while", "other"]),
        ("match", "case", 2, 0, ["no\nerror", "done", "for", "while"]),
    ],
)
def test_inverted_outcome_is_not_taken(
    kind: str, side: str, number: int, argument: object, expected: list[str]
) -> None:
    text = edited(EVERY_KIND, kind, side, number)

    assert called(text, argument) == expected


def test_inverted_handler_lets_the_exception_through_to_the_caller() -> None:
    text = edited(EVERY_KIND, "except", "handler", 1)

    with pytest.raises(IndexError):
        called(text, 4)


@pytest.mark.parametrize(
    ("kind", "side", "number", "taken_by", "not_taken_by"),
    [
        ("if", "true", 0, 1, 2),
        ("if", "false", 0, 2, 1),
        ("if", "true", 1, "\u00e9", 1),
        ("if", "false", 1, 0, 1),
        ("except", "handler", 0, 3, 4),
        ("except", "handler", 1, 4, 3),
        ("try_else", "else", 0, 0, 3),
        ("match", "case", 0, (5,), 5),
        ("match", "case", 1, 5, 4),
        ("match", "case", 2, 4, 5),
    ],
)
def test_mark_is_left_only_where_the_outcome_is_taken(
    kind: str, side: str, number: int, taken_by: object, not_taken_by: object
) -> None:
    source = Source(EVERY_KIND.encode())
    place = sorted_places(source, kind)[number]

    text = source.with_edits(mark(source, place, side, MARK)).decode()

    assert called(text, taken_by) == [*called(EVERY_KIND, taken_by), "mark"]
    assert called(text, not_taken_by) == called(EVERY_KIND, not_taken_by)


@pytest.mark.parametrize("kind", ["for_else", "while_else"])
def test_mark_in_an_else_of_a_loop_is_left_when_the_loop_ends(kind: str) -> None:
    source = Source(EVERY_KIND.encode())
    (place,) = sorted_places(source, kind)

    text = source.with_edits(mark(source, place, "else", MARK)).decode()

    assert called(text, 0)[-1] == "mark"


TRY = """\
def f(x):
    seen = []
    try:
        if x: raise {raised}
    except{star}{handled}:
        seen.append("handler")
    else:
        seen.append("else")
    finally:
        seen.append("finally")
    return seen
"""


@pytest.mark.parametrize(
    ("raised", "star", "handled"),
    [
        ("KeyError", "", " KeyError"),
        ("KeyError", "", ""),
        ("ExceptionGroup('g', [KeyError()])", "*", "KeyError"),
    ],
)
def test_else_before_finally_is_skipped(raised: str, star: str, handled: str) -> None:
    text = TRY.format(raised=raised, star=star, handled=handled)

    inverted = edited(text, "try_else", "else")

    assert called(inverted, 0) == ["finally"]
    assert called(inverted, 1) == ["handler", "finally"]


@pytest.mark.parametrize(
    ("raised", "star", "handled"), [("KeyError", "", ""), ("KeyError", "*", "KeyError")]
)
def test_bare_and_star_handlers_match_nothing(raised: str, star: str, handled: str) -> None:
    text = TRY.format(raised=raised, star=star, handled=handled)

    inverted = edited(text, "except", "handler")

    with pytest.raises((KeyError, ExceptionGroup)):
        called(inverted, 1)


@pytest.mark.parametrize(
    ("test", "side", "written"),
    [
        ("(m := g())", "true", "if (((m := g()) and False)): pass\n"),
        ("m := g()", "false", "if ((m := g()) or True): pass\n"),
        ("(yield x)", "true", "if (((yield x) and False)): pass\n"),
        ("a \\\n  and b", "true", "if ((a \\\n  and b) and False): pass\n"),
        ("(a  # b)\n and b)", "false", "if (((a  # b)\n and b) or True)): pass\n"),
        ("(x for x in y)", "true", "if (((x for x in y)) and False): pass\n"),
    ],
)
def test_test_is_evaluated_once_and_in_place(test: str, side: str, written: str) -> None:
    text = edited(f"def f(a, b, x, y):\n  if {test}: pass\n", "if", side)

    assert text == f"def f(a, b, x, y):\n  {written}"


def test_negate_inverts_the_whole_test_and_leaves_other_kinds_as_they_are() -> None:
    assert (
        edited("if a or b: pass\n", "if", "true", operator="negate") == "if (not (a or b)): pass\n"
    )
    assert (
        edited("if a or b: pass\n", "if", "false", operator="negate") == "if (not (a or b)): pass\n"
    )

    source = Source(EVERY_KIND.encode())
    (place,) = sorted_places(source, "for_else")
    assert negate(source, place, "else") == invert(source, place, "else")


@pytest.mark.parametrize(
    "content",
    [
        b"# -*- coding: latin-1 -*-\nx = '\xe9'; z = '\xe9' < x\nif '\xe9' == x: y = 3\n",
        b"\xef\xbb\xbfx = '\xc3\xa9'\r\nif '\xc3\xa9' == x:\r\n\ty = 3\r\n",
        b"x = '''\xe2\x80\xa8'''\rif x:\r    y = 1\r",
        b"x = 1\x0c\nif x: y = 2\n",
    ],
    ids=["latin-1", "byte order mark and CRLF", "lone CR and U+2028", "form feed"],
)
def test_bytes_outside_the_edit_stay_as_they_are(content: bytes) -> None:
    source = Source(content)
    (place,) = sorted_places(source, "if")

    written = source.with_edits(invert(source, place, "true"))

    assert written.replace(b"((", b"", 1).replace(b") and False)", b"", 1) == content
    compile(written, "<bytes>", "exec")


def test_decision_is_found_by_its_anchor() -> None:
    source = Source(b"if a: pass\nif a: pass\n")

    place = find(source, "if", anchor=(2, 3, 2, 4), line=0, predicate="")

    assert (place.line, place.predicate) == (2, "a")


def test_decision_is_found_by_line_and_predicate() -> None:
    source = Source(b"y = [x for x in z if x if not x]\n")

    place = find(source, "comprehension", anchor=None, line=1, predicate="not x")

    assert place.anchor == (1, 26, 1, 31)


def test_decision_that_is_not_there_or_not_one_is_refused() -> None:
    source = Source(b"y = [x for x in z if x if not x]\n")

    for anchor, line in (((9, 9, 9, 9), 1), (None, 1), (None, 2)):
        with pytest.raises(NotEditableError):
            find(source, "comprehension", anchor=anchor, line=line, predicate="?")


def test_text_that_does_not_compile_is_refused() -> None:
    source = Source(b"if a: pass\n")

    with pytest.raises(NotEditableError, match="does not compile"):
        source.with_edits([Edit(0, 0, "(")])


def test_else_is_named_by_the_line_of_its_keyword() -> None:
    source = Source(EVERY_KIND.encode())

    lines = {place.kind: place.line for place in places(source) if place.kind.endswith("else")}

    text = EVERY_KIND.splitlines()
    assert all(text[line - 1].lstrip().startswith("else") for line in lines.values())
    assert len(lines) == 3


class Unedit(ast.NodeTransformer):
    """Takes edits out of a tree; done to both, what it was made from and what was made."""

    def visit(self, node: ast.AST) -> ast.AST:
        self.generic_visit(node)
        for name in ("body", "orelse"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                setattr(node, name, list(without_edits(block)))
        match node:
            case ast.If() | ast.While() | ast.IfExp():
                node.test = plain(node.test)
            case ast.comprehension():
                node.ifs = [plain(test) for test in node.ifs]
            case ast.match_case(guard=ast.expr() as guard):
                node.guard = None if is_override(guard) else plain(guard)
            case ast.ExceptHandler(type=kind):
                node.type = plain_type(kind)
            case ast.Try(finalbody=[_, *_]) | ast.TryStar(finalbody=[_, *_]):
                if node.handlers and not node.orelse and is_nothing(node.handlers[-1].type):
                    node.orelse = node.handlers.pop().body
            case _:
                pass
        return node


def is_mark(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node) == MARK


def is_override(node: ast.expr) -> bool:
    match node:
        case ast.Constant(value=bool()):
            return True
        case ast.Tuple(elts=[only]):
            return is_mark(only)
        case _:
            return is_mark(node)


def plain(test: ast.expr) -> ast.expr:
    match test:
        case ast.BoolOp(values=[first, last]) if is_override(last):
            return first
        case _:
            return test


def plain_type(kind: ast.expr | None) -> ast.expr | None:
    """Undo the edit of a handler; an empty tuple may have been a bare one or an else."""
    match kind:
        case ast.Subscript(value=ast.Tuple(elts=[only, ast.Tuple(elts=[])])):
            return plain_type(only)
        case None | ast.Name(id="BaseException"):
            return ast.Tuple(elts=[], ctx=ast.Load())
        case _:
            return kind


def is_nothing(kind: ast.expr | None) -> bool:
    return isinstance(kind, ast.Tuple) and not kind.elts


def without_edits(block: list[ast.stmt]) -> Iterator[ast.stmt]:
    previous: ast.stmt | None = None
    for statement in block:
        match previous, statement:
            case _, ast.Expr(value=value) if is_mark(value):
                continue
            case (
                ast.For() | ast.AsyncFor() | ast.While() | ast.Try() | ast.TryStar(),
                ast.If(test=ast.Constant(value=False), orelse=[]),
            ):
                previous.orelse = statement.body
            case _:
                previous = statement
                yield statement


def differences(file: Path) -> list[str]:
    """Edit all decisions of a file at once; name the operations that did too much."""
    source = Source(file.read_bytes())
    found = list(places(source))
    groups = {
        "handlers": [place for place in found if place.kind == "except"],
        "others": [place for place in found if place.kind != "except"],
    }
    wrong = []
    for name, group in groups.items():
        for side in ("true", "false"):
            inverted = [edit for place in group for edit in invert(source, place, side)]
            marked = [edit for place in group for edit in mark(source, place, side, MARK)]
            for operation, edits in (("invert", inverted), ("mark", marked)):
                if edits and not is_same_but_for_the_edits(source, edits):
                    wrong.append(f"{file}: {operation} {name} {side}")
    return wrong


def is_same_but_for_the_edits(source: Source, edits: list[Edit]) -> bool:
    return normal(source.with_edits(edits)) == normal(source.with_edits([]))


def normal(content: bytes) -> str:
    return ast.dump(Unedit().visit(ast.parse(content)))


def library_files(largest: int, number: int) -> list[Path]:
    """Choose files of the standard library that this Python can read."""
    files = (file for file in sorted(LIBRARY.rglob("*.py")) if "site-packages" not in file.parts)
    return [file for file in files if file.stat().st_size < largest and is_python(file)][:number]


def is_python(file: Path) -> bool:
    with contextlib.suppress(SyntaxError, ValueError):
        compile(file.read_bytes(), str(file), "exec", dont_inherit=True)
        return True
    return False


def test_edits_of_library_files_change_nothing_else() -> None:
    files = library_files(SMALL, QUICK_FILES)

    wrong = [line for file in files for line in differences(file)]

    assert len(files) == QUICK_FILES
    assert wrong == []


@pytest.mark.slow
def test_edits_of_all_library_files_change_nothing_else() -> None:
    files = library_files(LARGE, ALL_FILES)

    wrong = [line for file in files for line in differences(file)]

    assert len(files) > ALL_FILES // 2
    assert wrong == []
