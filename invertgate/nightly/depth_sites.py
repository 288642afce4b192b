"""Where in a file mutmut's operators may be asked: each node within the part that it is of."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import libcst
from libcst.metadata import MetadataWrapper, PositionProvider

from invertgate.inside.vary import STATEMENT
from invertgate.nightly.regions import Position

_LINE_ENDS: Final = re.compile(r"\r\n|\r|\n")
_NEVER_CHANGED: Final = frozenset(("len", "isinstance"))
"""Functions whose calls mutmut leaves as they are."""
_SKIPPED: Final = (
    libcst.Annotation,
    libcst.Decorator,
    libcst.Param,
    libcst.Import,
    libcst.ImportFrom,
    libcst.MatchCase,
    libcst.Global,
    libcst.Nonlocal,
)


@dataclass(frozen=True, slots=True)
class Site:
    """A node that operators may be asked about."""

    node: libcst.CSTNode
    position: Position
    statement: Position
    part: str
    whole: libcst.CSTNode
    """The node of the part."""
    in_function: bool


class Sites:
    """Walks a module, and knows where its nodes stand."""

    def __init__(self, module: libcst.Module) -> None:
        wrapper = MetadataWrapper(module, unsafe_skip_copy=True)
        self._positions = wrapper.resolve(PositionProvider)
        self._lines = _LINE_ENDS.split(module.code)

    @classmethod
    def of(cls, module: libcst.Module) -> Iterator[Site]:
        """Yield every site of a module, in the order of its text."""
        yield from cls(module).below(module, in_function=False)

    def _at(self, node: libcst.CSTNode) -> Position | None:
        place = self._positions.get(node)
        if place is None:
            return None
        line = place.start.line
        text = self._lines[line - 1] if line <= len(self._lines) else ""
        return (line, len(text[: place.start.column].encode("utf-8", "surrogatepass")))

    def below(self, node: libcst.CSTNode, *, in_function: bool) -> Iterator[Site]:
        """Yield the sites of all statements within a node."""
        for child in node.children:
            if isinstance(child, libcst.BaseSmallStatement):
                yield from self._part(child, child, STATEMENT, in_function=in_function)
                continue
            if isinstance(child, libcst.BaseCompoundStatement):
                for part, expression in _heads(child):
                    yield from self._part(child, expression, part, in_function=in_function)
            inner = in_function
            if isinstance(child, libcst.FunctionDef):
                inner = True
            elif isinstance(child, libcst.ClassDef):
                inner = False
            if not isinstance(child, libcst.BaseExpression | libcst.Decorator):
                yield from self.below(child, in_function=inner)

    def _part(
        self,
        statement: libcst.CSTNode,
        whole: libcst.CSTNode,
        part: str,
        *,
        in_function: bool,
    ) -> Iterator[Site]:
        start = self._at(statement)
        if start is None or _is_text_alone(whole):
            return
        waiting: list[tuple[libcst.CSTNode, Position]] = [(whole, self._at(whole) or start)]
        while waiting:
            node, near = waiting.pop()
            if isinstance(node, _SKIPPED) or _is_never_changed(node):
                continue
            place = self._at(node) or near
            yield Site(node, place, start, part, whole, in_function)
            waiting += [(child, place) for child in reversed(node.children)]


def _heads(node: libcst.BaseCompoundStatement) -> Sequence[tuple[str, libcst.CSTNode]]:
    """Return the expressions in the head of a compound statement, named as in ``inside.vary``."""
    match node:
        case libcst.If() | libcst.While():
            return (("test", node.test),)
        case libcst.For():
            return (("iter", node.iter),)
        case libcst.With():
            return [(f"item {number}", each.item) for number, each in enumerate(node.items)]
        case libcst.Match():
            guards = [(f"guard {n}", each.guard) for n, each in enumerate(node.cases)]
            return [("subject", node.subject), *((name, g) for name, g in guards if g is not None)]
        case _:
            return ()


def _is_text_alone(node: libcst.CSTNode) -> bool:
    """Tell a docstring, which nothing can notice."""
    return isinstance(node, libcst.Expr) and isinstance(
        node.value, libcst.SimpleString | libcst.ConcatenatedString
    )


def _is_never_changed(node: libcst.CSTNode) -> bool:
    return (
        isinstance(node, libcst.Call)
        and isinstance(node.func, libcst.Name)
        and node.func.value in _NEVER_CHANGED
    )
