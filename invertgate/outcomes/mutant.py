"""The targeted mutant of an outcome as readers see it: an edit of the source's text, and a diff.

It behaves as the mutant that is woven: what decides is evaluated where it stands, then overridden.
"""

import ast
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from itertools import groupby
from tokenize import detect_encoding
from typing import Final

from invertgate.model import EXTRA_KINDS, Kind, NotParsed, Outcome, Side
from invertgate.outcomes.diff import unified
from invertgate.outcomes.source import end, parse, room_for_deep_trees, span
from invertgate.outcomes.walk import Anchor, Decision, walk

_LINE_END: Final = re.compile(rb"\r\n|\r|\n")
_BLANK: Final = rb"(?:[ \t\f\r\n\\]|#[^\r\n]*)*"
_CLOSING: Final = re.compile(_BLANK + rb"\)")
_END_OF_PATTERN: Final = re.compile(_BLANK + rb"[),]")
_BOM: Final = b"\xef\xbb\xbf"
_LOOSE: Final = (ast.Lambda, ast.IfExp, ast.NamedExpr, ast.Yield, ast.YieldFrom)
"""Expressions that take what stands behind them for a part of their own."""
_TIGHT: Final = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant)
"""Expressions that `not` can stand before as they are."""
_TWO_SIDED: Final = (Kind.IF, Kind.WHILE, Kind.IFEXP, Kind.COMPREHENSION)
_OTHER_OPERATOR: Final = {" and False": ast.Or, " or True": ast.And, " and ()": ast.Or}

Key = tuple[str, str]
"""Path and id."""


class NotWritableError(ValueError):
    """The mutant cannot be written as an edit of the text; the message says why."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """An inverted outcome."""

    path: str
    lines: Sequence[bytes]
    """Of the file as it is, as git counts them; shared by all its mutants."""
    changed: Mapping[int, bytes]
    """What some of them become, by number from 0."""
    encoding: str
    """Of the file, and so of the diff."""

    @property
    def source(self) -> bytes:
        """The file with the outcome inverted, in its own encoding."""
        return b"".join(self.changed.get(number, line) for number, line in enumerate(self.lines))

    @property
    def diff(self) -> bytes:
        """What was changed, as `git apply` takes it."""
        return unified(self.path, self.lines, self.changed)

    @property
    def text(self) -> str:
        """The diff as a text to be read."""
        return self.diff.decode(self.encoding, "replace")


@dataclass(frozen=True, slots=True)
class _Edit:
    """A region of the file that is replaced; empty where something is only put in."""

    start: int
    end: int
    text: bytes


def mutants(
    outcomes: Iterable[Outcome], sources: Mapping[str, bytes], *, negate: bool = False
) -> dict[Key, Mutant]:
    """Write the mutants of some outcomes.

    Args:
        outcomes: Those that are inverted.
        sources: The files they stand in, by path.
        negate: Invert the whole test, not one side of it.

    Returns:
        The mutants by path and id; one that cannot be written as text is not among them.
    """
    found = {}
    by_path = sorted(outcomes, key=lambda outcome: outcome.path)
    for path, group in groupby(by_path, key=lambda outcome: outcome.path):
        those = list(group)
        file = _File(path, sources[path], {outcome.kind for outcome in those})
        for outcome in those:
            with suppress(NotWritableError):
                found[outcome.key] = file.mutant(outcome, negate=negate)
    return found


def mutant(outcome: Outcome, source: bytes, *, negate: bool = False) -> Mutant:
    """Write the mutant of one outcome.

    Args:
        outcome: What is inverted.
        source: The file it stands in.
        negate: Invert the whole test, not one side of it.

    Raises:
        NotWritableError: No edit of the text does just that.
    """
    return _File(outcome.path, source, {outcome.kind}).mutant(outcome, negate=negate)


class _File:
    """A file, its decisions, and where they stand in its bytes."""

    def __init__(self, path: str, source: bytes, kinds: set[Kind]) -> None:
        """Read a file.

        Args:
            path: Where it stands.
            source: Its bytes.
            kinds: Of the outcomes whose mutants are asked for; to look into every expression for
                the others takes as long as all the rest.
        """
        parsed = parse(path, source)
        if isinstance(parsed, NotParsed):
            raise NotWritableError(f"{path} does not parse: {parsed.message}")
        self._path = path
        self._source = source
        self._encoding = detect_encoding(BytesIO(source).readline)[0].removesuffix("-sig")
        self._starts = [0, *(found.end() for found in _LINE_END.finditer(source))]
        self._starts[0] = len(_BOM) if source.startswith(_BOM) else 0
        self._lines = BytesIO(source).readlines()
        decisions = walk(parsed, kinds & set(EXTRA_KINDS)).decisions
        self._decisions = {(each.kind, span(each.anchor)): each for each in decisions}

    def mutant(self, outcome: Outcome, *, negate: bool) -> Mutant:
        """Write the mutant of an outcome of this file."""
        decision = self._decisions.get((outcome.kind, outcome.anchor))
        if decision is None:
            raise NotWritableError(f"{outcome.path} has no {outcome.kind} at line {outcome.line}")
        try:
            edits = list(self._edits(decision, outcome.side, negate=negate))
        except UnicodeError as error:
            raise NotWritableError(f"its line cannot be read alone: {error}") from error
        return Mutant(self._path, self._lines, self._changed(edits), self._encoding)

    def _edits(self, decision: Decision, side: Side, *, negate: bool) -> Iterator[_Edit]:
        if negate and decision.kind in _TWO_SIDED:
            return self._negated(decision)
        if decision.kind in _TWO_SIDED:
            override = " and False" if side is Side.TRUE else " or True"
            return self._overridden(self._test(decision), override, decision.kind)
        if decision.kind is Kind.EXCEPT:
            return self._matching_nothing(decision.anchor)
        if decision.kind is Kind.MATCH:
            return self._not_matching(decision)
        return self._skipped(decision)

    def _test(self, decision: Decision) -> ast.expr:
        """Return the test of a decision, having made sure that it stands where its tree says."""
        test = decision.anchor
        assert isinstance(test, ast.expr)  # noqa: S101
        if decision.kind in EXTRA_KINDS and not self._stands(test):
            raise NotWritableError("the syntax tree does not say where it stands")
        return test

    def _stands(self, test: ast.expr) -> bool:
        """Tell whether a place is true; within f-strings of old Pythons it may not be."""
        start, stop = self._region(test)
        text = self._source[start:stop].decode(self._encoding, "replace")
        try:
            with room_for_deep_trees():
                read = ast.parse(f"({text}\n)", mode="eval").body
                return ast.dump(read) == ast.dump(test)
        except (SyntaxError, RecursionError):
            return False

    def _overridden(self, test: ast.expr, override: str, kind: Kind) -> Iterator[_Edit]:
        """Put an operator behind a test, or what a handler expects, and its parentheses."""
        start, stop = self._region(test)
        behind = stop if kind is Kind.COMPREHENSION else self._behind(_CLOSING, stop)
        if behind == stop and _needs_parentheses(test, override):
            yield _Edit(start, start, b"(")
            override = f"){override}"
        yield _Edit(behind, behind, override.encode())

    def _negated(self, decision: Decision) -> Iterator[_Edit]:
        test = self._test(decision)
        start, stop = self._region(test)
        if isinstance(decision.owner, ast.If | ast.While) and self._behind(_CLOSING, stop) > stop:
            keyword, _ = self._region(decision.owner)
            word = re.compile(rb"elif|if|while").match(self._source, keyword)
            assert word is not None  # noqa: S101
            yield _Edit(word.end(), word.end(), b" not")
        elif isinstance(test, _TIGHT):
            yield _Edit(start, start, b"not ")
        else:
            yield _Edit(start, start, b"not (")
            yield _Edit(stop, stop, b")")

    def _matching_nothing(self, handler: Anchor) -> Iterator[_Edit]:
        assert isinstance(handler, ast.ExceptHandler)  # noqa: S101
        if handler.type is not None:
            return self._overridden(handler.type, " and ()", Kind.EXCEPT)
        return iter([self._after_except(handler, b" ()")])

    def _after_except(self, handler: ast.ExceptHandler, text: bytes) -> _Edit:
        place = self._region(handler)[0] + len(b"except")
        return _Edit(place, place, text)

    def _not_matching(self, decision: Decision) -> Iterator[_Edit]:
        assert isinstance(decision.owner, ast.Match)  # noqa: S101
        case = next(each for each in decision.owner.cases if each.pattern is decision.anchor)
        if case.guard is not None:
            return self._overridden(case.guard, " and False", Kind.MATCH)
        behind = self._behind(_END_OF_PATTERN, self._region(case.pattern)[1])
        return iter([_Edit(behind, behind, b" if False")])

    def _skipped(self, decision: Decision) -> Iterator[_Edit]:
        """Skip the body of an `else`, whose names stay local to its function all the same."""
        start = self._starts[decision.line - 1]
        while self._source[start : start + 1] in (b" ", b"\t", b"\f"):
            start += 1
        if not self._source.startswith(b"else", start):
            raise NotWritableError("the else does not stand at the start of its line")
        statement = decision.owner
        if isinstance(statement, ast.Try | ast.TryStar) and statement.finalbody:
            yield from self._before_finally(statement, start)
        else:
            yield _Edit(start, start + len(b"else"), b"if False")

    def _before_finally(self, statement: ast.Try | ast.TryStar, start: int) -> Iterator[_Edit]:
        """Make the `else` a last handler that matches nothing: no `if` can stand there."""
        star = isinstance(statement, ast.TryStar)
        if star and any(map(_leaves, statement.orelse)):
            raise NotWritableError("no handler of except* may hold return, break or continue")
        last = statement.handlers[-1]
        if last.type is None:
            yield self._after_except(last, b" BaseException")
        yield _Edit(start, start + len(b"else"), b"except* ()" if star else b"except ()")

    def _region(self, node: Anchor) -> tuple[int, int]:
        """Return where a node begins and ends in the bytes of the file."""
        return self._place(node.lineno, node.col_offset), self._place(*end(node))

    def _place(self, line: int, column: int) -> int:
        start = self._starts[line - 1]
        if self._encoding == "utf-8":
            return start + column
        stop = self._starts[line] if line < len(self._starts) else len(self._source)
        text = self._source[start:stop].decode(self._encoding)
        return start + len(text.encode()[:column].decode().encode(self._encoding))

    def _behind(self, closing: re.Pattern[bytes], place: int) -> int:
        while found := closing.match(self._source, place):
            place = found.end()
        return place

    def _changed(self, edits: Sequence[_Edit]) -> dict[int, bytes]:
        """Return the lines that edits change, by number from 0, as git counts lines."""
        changed: dict[int, bytes] = {}
        for edit in sorted(edits, key=lambda each: each.start, reverse=True):
            number = self._source.count(b"\n", 0, edit.start)
            first = self._source.rfind(b"\n", 0, edit.start) + 1
            line = changed.get(number, self._lines[number])
            kept = line[edit.end - first :]
            changed[number] = line[: edit.start - first] + edit.text + kept
        return changed


def _needs_parentheses(test: ast.expr, override: str) -> bool:
    if isinstance(test, ast.BoolOp):
        return isinstance(test.op, _OTHER_OPERATOR[override])
    if isinstance(test, ast.Tuple):  # `except A, B` of newer Pythons
        return sys.version_info >= (3, 14)
    return isinstance(test, _LOOSE)


def _leaves(statement: ast.stmt) -> bool:
    """Tell whether a statement may leave the block that it stands in, other than by raising."""
    pending: list[ast.AST] = [statement]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Return | ast.Break | ast.Continue):
            return True
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            pending += ast.iter_child_nodes(node)
    return False
