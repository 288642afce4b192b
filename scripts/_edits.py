"""Decisions of a Python file as edits of its text; shares nothing with the package it judges."""

import ast
import io
import re
import tokenize
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

BLANK: Final = re.compile(rb"(?:[ \t\f\r\n;\\]|#[^\r\n]*)*")
BLANK_AFTER_PATTERN: Final = re.compile(rb"(?:[ \t\f\r\n\\,)]|#[^\r\n]*)*")
LINE_END: Final = re.compile(rb"\r\n|\r|\n")

Anchor = tuple[int, int, int, int]


class NotEditableError(Exception):
    """The outcome cannot be written as a change of the text; the message says why."""


@dataclass(frozen=True, slots=True)
class Edit:
    """A region of the text that is replaced; empty where text is only put in."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Place:
    """One decision: how a report names it, and where its parts stand in the text."""

    kind: str
    anchor: Anchor
    line: int
    predicate: str
    node: ast.AST
    """The test, the handler, the case, or the statement with the ``else``."""


class Source:
    """A file as ``ast`` counts it: UTF-8, positions by line and byte."""

    def __init__(self, content: bytes) -> None:
        """Read a file.

        Raises:
            SyntaxError: It is no Python of the running version.
        """
        self.encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
        self.text: Final = content.decode(self.encoding).encode()
        self.tree: Final = ast.parse(content)
        self._starts: Final = [0, *(end.end() for end in LINE_END.finditer(self.text))]

    def offset(self, line: int, column: int) -> int:
        """Turn a position of ``ast`` into a position in the text."""
        return self._starts[line - 1] + column

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Give the region of a node, having made sure that the node really stands there.

        Raises:
            NotEditableError: It does not (inside f-strings of old Pythons).
        """
        line, column, end_line, end_column = anchor_of(node)
        start, end = self.offset(line, column), self.offset(end_line, end_column)
        if isinstance(node, ast.expr) and not _is_text_of(node, self.text[start:end]):
            raise NotEditableError("the syntax tree does not say where it stands")
        return start, end

    def line_of(self, offset: int) -> int:
        """Count the line of a position."""
        return sum(1 for start in self._starts if start <= offset)

    def line_start(self, line: int) -> int:
        """Give the position where a line begins."""
        return self._starts[line - 1]

    def with_edits(self, edits: Sequence[Edit]) -> bytes:
        """Apply edits that do not overlap and encode the text as it was.

        Raises:
            NotEditableError: The text is no Python any more.
        """
        text = self.text
        for edit in sorted(edits, key=lambda edit: edit.start, reverse=True):
            text = text[: edit.start] + edit.text.encode() + text[edit.end :]
        content = text.decode().encode(self.encoding)
        try:
            compile(content, "<edited>", "exec", dont_inherit=True)
        except SyntaxError as error:
            raise NotEditableError(f"the edited text does not compile: {error}") from error
        return content


def anchor_of(node: ast.AST) -> Anchor:
    """Give the region of a node as ``ast`` counts."""
    if not isinstance(node, ast.stmt | ast.expr | ast.pattern | ast.excepthandler):
        raise NotEditableError(f"{type(node).__name__} has no place")
    end_line, end_column = node.end_lineno, node.end_col_offset
    if end_line is None or end_column is None:
        raise NotEditableError(f"{type(node).__name__} has no end")
    return (node.lineno, node.col_offset, end_line, end_column)


def places(source: Source) -> Iterator[Place]:
    """Find every decision of a file."""
    for node in ast.walk(source.tree):
        match node:
            case ast.If(test=test):
                yield _of_test("if", node.lineno, test)
            case ast.While(test=test):
                yield _of_test("while", node.lineno, test)
                if node.orelse:
                    yield _of_else("while_else", source, node, f"while {ast.unparse(test)}")
            case ast.IfExp(test=test):
                yield _of_test("ifexp", node.lineno, test)
            case ast.comprehension(ifs=tests):
                yield from (_of_test("comprehension", test.lineno, test) for test in tests)
            case ast.For() | ast.AsyncFor() if node.orelse:
                text = f"for {ast.unparse(node.target)} in {ast.unparse(node.iter)}"
                yield _of_else("for_else", source, node, text)
            case ast.Try() | ast.TryStar():
                yield from _of_try(source, node)
            case ast.Match():
                yield from (_of_case(node.subject, case) for case in node.cases)
            case _:
                pass


def invert(source: Source, place: Place, side: str) -> list[Edit]:
    """Write the inverted outcome: evaluated in place, then overridden."""
    match place.node:
        case ast.ExceptHandler() as handler:
            return _matching_nothing(source, handler)
        case ast.match_case() as case:
            return _guarded(source, case, " and False", "False")
        case ast.Try() | ast.TryStar() as statement if statement.finalbody:
            return _skipped_before_finally(source, statement)
        case ast.stmt() as statement:
            start = _else_of(source, statement)
            return [Edit(start, start + len("else"), "if False")]
        case test:
            return _wrapped(source, test, " and False" if side == "true" else " or True")


def negate(source: Source, place: Place, side: str) -> list[Edit]:
    """Write the whole test inverted; outcomes without a test as ``invert`` does."""
    if isinstance(place.node, ast.expr):
        start, end = source.span(place.node)
        return [Edit(start, start, "(not ("), Edit(end, end, "))")]
    return invert(source, place, side)


def mark(source: Source, place: Place, side: str, expression: str) -> list[Edit]:
    """Have an expression evaluated whenever the outcome is taken; its value has to be false."""
    match place.node:
        case ast.ExceptHandler(body=[first, *_]):
            return [_before(source, first, expression)]
        case ast.match_case() as case:
            return _guarded(source, case, f" and ({expression},)", f"({expression},)")
        case ast.stmt() as statement:
            return [_before(source, _else_body(statement)[0], expression)]
        case test if side == "true":
            return _wrapped(source, test, f" and ({expression},)")
        case test:
            return _wrapped(source, test, f" or {expression}")


def find(source: Source, kind: str, *, anchor: Anchor | None, line: int, predicate: str) -> Place:
    """Find the decision that a report means, by its anchor or else by line and predicate.

    Raises:
        NotEditableError: There is none, or there are several.
    """
    same_kind = [place for place in places(source) if place.kind == kind]
    if anchor is not None:
        found = [place for place in same_kind if place.anchor == anchor]
    else:
        on_line = [place for place in same_kind if place.line == line]
        found = [place for place in on_line if place.predicate == predicate] or on_line
    if len(found) != 1:
        raise NotEditableError(f"{len(found)} decisions of kind {kind} at line {line}")
    return found[0]


def _is_text_of(node: ast.expr, text: bytes) -> bool:
    try:
        parsed = ast.parse(b"(" + text + b"\n)", mode="eval").body
    except SyntaxError:
        return False
    return ast.dump(parsed) == ast.dump(node)


def _of_test(kind: str, line: int, test: ast.expr) -> Place:
    return Place(kind, anchor_of(test), line, ast.unparse(test), test)


def _of_else(kind: str, source: Source, node: ast.stmt, predicate: str) -> Place:
    line = source.line_of(_else_of(source, node))
    return Place(kind, anchor_of(node), line, predicate, node)


def _of_try(source: Source, node: ast.Try | ast.TryStar) -> Iterator[Place]:
    word = "except*" if isinstance(node, ast.TryStar) else "except"
    texts = [f"{word} {_type_text(handler)}" for handler in node.handlers]
    for handler, text in zip(node.handlers, texts, strict=True):
        yield Place("except", anchor_of(handler), handler.lineno, text, handler)
    if node.orelse:
        yield _of_else("try_else", source, node, f"try {', '.join(texts)}")


def _type_text(handler: ast.ExceptHandler) -> str:
    return "bare" if handler.type is None else ast.unparse(handler.type)


def _of_case(subject: ast.expr, case: ast.match_case) -> Place:
    guard = "" if case.guard is None else f" if {ast.unparse(case.guard)}"
    text = f"match {ast.unparse(subject)} case {ast.unparse(case.pattern)}{guard}"
    return Place("match", anchor_of(case.pattern), case.pattern.lineno, text, case)


def _wrapped(source: Source, test: ast.AST, override: str) -> list[Edit]:
    start, end = source.span(test)
    return [Edit(start, start, "(("), Edit(end, end, f"){override})")]


def _guarded(source: Source, case: ast.match_case, override: str, alone: str) -> list[Edit]:
    if case.guard is not None:
        return _wrapped(source, case.guard, override)
    _, end = source.span(case.pattern)
    colon = _skip(BLANK_AFTER_PATTERN, source, end)
    if source.text[colon : colon + 1] != b":":
        raise NotEditableError("the case does not end where it should")
    return [Edit(colon, colon, f" if {alone}")]


def _matching_nothing(source: Source, handler: ast.ExceptHandler) -> list[Edit]:
    if handler.type is None:
        return [_after_keyword(source, handler, " ()")]
    start, end = source.span(handler.type)
    return [Edit(start, start, "(("), Edit(end, end, "), ())[1]")]


def _after_keyword(source: Source, handler: ast.ExceptHandler, text: str) -> Edit:
    place = source.span(handler)[0] + len("except")
    return Edit(place, place, text)


def _skipped_before_finally(source: Source, node: ast.Try | ast.TryStar) -> list[Edit]:
    """Turn the ``else`` into a last handler that matches nothing; an ``if`` cannot stand there."""
    keyword = "except*" if isinstance(node, ast.TryStar) else "except"
    start = _else_of(source, node)
    edits = [Edit(start, start + len("else"), f"{keyword} ()")]
    if node.handlers[-1].type is None:
        edits.append(_after_keyword(source, node.handlers[-1], " BaseException"))
    return edits


def _else_body(node: ast.stmt) -> list[ast.stmt]:
    if isinstance(node, ast.For | ast.AsyncFor | ast.While | ast.Try | ast.TryStar):
        return node.orelse
    raise NotEditableError(f"{type(node).__name__} has no else")


def _else_of(source: Source, node: ast.stmt) -> int:
    """Find the keyword between the last statement before it and its body."""
    if isinstance(node, ast.Try | ast.TryStar):
        before = node.handlers[-1].body[-1]
    elif isinstance(node, ast.For | ast.AsyncFor | ast.While):
        before = node.body[-1]
    else:
        raise NotEditableError(f"{type(node).__name__} has no else")
    _, _, end_line, end_column = anchor_of(before)
    start = _skip(BLANK, source, source.offset(end_line, end_column))
    if not source.text.startswith(b"else", start):
        raise NotEditableError("the else does not stand where it should")
    return start


def _skip(blank: re.Pattern[bytes], source: Source, start: int) -> int:
    skipped = blank.match(source.text, start)
    return start if skipped is None else skipped.end()


def _before(source: Source, statement: ast.stmt, expression: str) -> Edit:
    """Put a statement before the first one of a block, on a line of its own where there is one."""
    line, column = statement.lineno, statement.col_offset
    decorators = getattr(statement, "decorator_list", [])
    if decorators:
        line = min(decorator.lineno for decorator in decorators)
        row = source.text[source.line_start(line) :]
        column = len(row) - len(row.lstrip(b" \t\f"))
    line_start, start = source.line_start(line), source.offset(line, column)
    indent = source.text[line_start:start]
    continued = source.text[:line_start].rstrip(b"\r\n").endswith(b"\\")
    if indent.strip(b" \t\f") or continued:
        return Edit(start, start, f"{expression}; ")
    return Edit(line_start, line_start, f"{indent.decode()}{expression}\n")


Writer = Callable[[Source, Place, str], list[Edit]]
OPERATORS: Final[dict[str, Writer]] = {"": invert, "onesided": invert, "negate": negate}
"""By the name that a report gives; without one it is the one-sided form."""
