"""The functions of a Python test file: which of them are tests, and what each asserts."""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Final

from invertgate.lanes import marks
from invertgate.lanes.bindings import Axis, Values, parameters, single_values, stored_names
from invertgate.lanes.live import Function, Guards, Live, live
from invertgate.lanes.normal import last_name, negated
from invertgate.lanes.paths import is_collected
from invertgate.outcomes.source import Source

OUTSIDE: Final = "module"

_IMPLICIT: Final = re.compile(
    r"(setUp|tearDown)(Class|Module)?|asyncSetUp|asyncTearDown"
    r"|(setup|teardown)(_(method|class|module|function))?"
)


class Role(StrEnum):
    """Who runs a function."""

    TEST = "test"
    """The collector."""
    IMPLICIT = "implicit"
    """The test runner, before or after tests."""
    FIXTURE = "fixture"
    HELPER = "helper"
    """Whoever calls it."""


@dataclass(frozen=True, eq=False)
class Unit:
    """A function, or what stands outside of all functions."""

    path: str
    name: str
    """Qualified by its classes; ``OUTSIDE`` for what stands outside of functions."""
    role: Role
    node: Function | ast.Module
    text: bytes
    """Its source."""
    around: Values
    """What names of the module stand for."""
    guards: Guards = ()
    """What takes it out of the run, or lets it fail."""
    axes: tuple[Axis, ...] = ()
    """The lists of parameters that it is repeated for."""

    @property
    def line(self) -> int:
        """Where it starts."""
        return 1 if isinstance(self.node, ast.Module) else self.node.lineno

    @property
    def last_name(self) -> str:
        """Its name without its classes."""
        return self.name.rpartition(".")[2]

    @property
    def parameters(self) -> list[str]:
        """Name its parameters."""
        return [] if isinstance(self.node, ast.Module) else parameters(self.node)

    @cached_property
    def values(self) -> Values:
        """Say what names in it stand for."""
        around = {name: one for name, one in self.around.items() if name not in self.bound}
        return {**around, **single_values(self.node)}

    @cached_property
    def live(self) -> Live:
        """Collect what it asserts, and calls."""
        asserted = live(self.node, self.values)
        if not isinstance(self.node, ast.Module):
            asserted.found += marks.stated(self.node, self.around)
        elif not is_collected(self.path):  # other files import its lists of cases
            asserted.found += marks.listed(self.around)
        return asserted

    @cached_property
    def words(self) -> frozenset[str]:
        """Give every name in it."""
        return frozenset(words(self.node))

    @cached_property
    def bound(self) -> frozenset[str]:
        """Give every name that it gives a value to."""
        return frozenset(stored_names(self.node))

    @cached_property
    def patched(self) -> frozenset[str]:
        """Give the names that it replaces while it runs."""
        return frozenset(marks.patched(self.node))


@dataclass(frozen=True, slots=True)
class Module:
    """A test file as the comparison sees it."""

    path: str
    units: tuple[Unit, ...]
    imports: Mapping[str, str]
    """Module and name (``tests.helpers.check``) by what the file calls it."""
    defined: frozenset[str]
    """What it gives a value to itself, outside of functions."""
    values: Values
    """What the names stand for that it gives a value to once."""
    silencers: frozenset[str]
    """What may take tests of other files out of the run."""


def read_tests(path: str, source: Source, *, collected: bool) -> Module:
    """Find the functions of a file and what they assert.

    Args:
        path: Of the file.
        source: What it holds.
        collected: pytest takes its name for that of a test file.
    """
    tree = source.tree
    reader = _Reader(path, source, collected=collected)
    reader.scope(tree.body, _Scope())
    return Module(
        path,
        reader.units(),
        dict(imports(tree)),
        frozenset(reader.defined()),
        reader.values,
        frozenset(marks.silencers(tree)),
    )


def imports(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Give what a module imports: what it calls it, and where that comes from."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                for alias in names:
                    yield alias.asname or alias.name, alias.name
            case ast.ImportFrom(module=module, names=names):
                for alias in names:
                    yield alias.asname or alias.name, f"{module or ''}.{alias.name}".lstrip(".")
            case _:
                pass


@dataclass(frozen=True, slots=True)
class _Scope:
    """What holds for everything in a part of a module."""

    classes: tuple[str, ...] = ()
    collected: bool = True
    guards: Guards = ()
    axes: tuple[Axis, ...] = ()

    def under(self, *guards: ast.expr) -> "_Scope":
        return _Scope(self.classes, self.collected, (*self.guards, *guards), self.axes)

    def named(self, name: str) -> str:
        return ".".join((*self.classes, name))


class _Reader:
    def __init__(self, path: str, source: Source, *, collected: bool) -> None:
        tree = source.tree
        self._path = path
        self._source = source
        self._collected = collected
        plain = [node for node in tree.body if not isinstance(node, marks.DEFINITIONS)]
        self._outside = ast.Module(plain, [])
        self.values = single_values(self._outside)
        self._units: dict[str, Unit] = {}
        classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
        self._bases = {last_name(base) for node in classes for base in node.bases}

    def units(self) -> tuple[Unit, ...]:
        text = ast.unparse(self._outside).encode()
        outside = Unit(self._path, OUTSIDE, Role.IMPLICIT, self._outside, text, self.values)
        return (*self._units.values(), outside)

    def defined(self) -> Iterator[str]:
        yield from stored_names(self._outside)
        yield from (name for name in self._units if "." not in name)

    def scope(self, body: Sequence[ast.stmt], scope: _Scope) -> None:
        """Read the definitions of a module, a class or a branch; the last of a name counts."""
        own = list(marks.of_scope(body))
        scope = _Scope(
            scope.classes,
            scope.collected,
            (*scope.guards, *marks.off(own, self.values), *marks.left_early(body)),
            (*scope.axes, *marks.axes(own, self.values)),
        )
        for node in body:
            self._statement(node, scope)

    def _statement(self, node: ast.stmt, scope: _Scope) -> None:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self._function(node, scope)
            case ast.ClassDef():
                self._class(node, scope)
            case ast.If(test=test, body=first, orelse=second):
                self.scope(first, scope.under(test))
                self.scope(second, scope.under(negated(test)))
            case ast.Try(body=first, orelse=second):
                self.scope([*first, *second], scope)
            case ast.With(body=first):
                self.scope(first, scope)
            case ast.ImportFrom(names=names) | ast.Import(names=names):
                self._forget(scope.named(alias.asname or alias.name) for alias in names)
            case _:
                self._forget(scope.named(name) for name in stored_names(node))
                self._forget(_overwritten(node))

    def _forget(self, names: Iterable[str]) -> None:
        for name in names:
            self._units.pop(name, None)

    def _class(self, node: ast.ClassDef, scope: _Scope) -> None:
        guards = (*marks.off(node.decorator_list, self.values), *marks.not_collected(node))
        axes = marks.axes(node.decorator_list, self.values)
        collected = scope.collected and self._is_collected(node)
        self._forget(
            name for name in list(self._units) if name.startswith(scope.named(node.name) + ".")
        )
        inner = _Scope(
            (*scope.classes, node.name),
            collected,
            (*scope.guards, *guards),
            (*scope.axes, *axes),
        )
        self.scope(node.body, inner)

    def _function(self, node: Function, scope: _Scope) -> None:
        role = self._role(node, scope)
        name = scope.named(node.name)
        text = self._text(node)
        self._units.pop(name, None)
        if role is not Role.TEST:
            self._units[name] = Unit(self._path, name, role, node, text, self.values)
            return
        names = parameters(node)[1 if scope.classes else 0 :]
        self._units[name] = Unit(
            self._path,
            name,
            role,
            node,
            text,
            self.values,
            (*scope.guards, *marks.off(node.decorator_list, self.values), *marks.not_run(node)),
            (*scope.axes, *marks.axes(node.decorator_list, self.values, names)),
        )

    def _text(self, node: Function) -> bytes:
        first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
        last = node.end_lineno or node.lineno
        return b"\n".join(self._source.lines[line] for line in range(first, last + 1))

    def _role(self, node: Function, scope: _Scope) -> Role:
        if marks.is_fixture(node):
            return Role.FIXTURE
        if _IMPLICIT.fullmatch(node.name):
            return Role.IMPLICIT
        called_test = node.name.startswith(("test", "prop_"))
        return Role.TEST if called_test and self._collected and scope.collected else Role.HELPER

    def _is_collected(self, node: ast.ClassDef) -> bool:
        inherited = any(re.search("Test|Case", ast.unparse(base)) for base in node.bases)
        return node.name.startswith("Test") or inherited or node.name in self._bases


def _overwritten(node: ast.stmt) -> Iterator[str]:
    """Name the tests that a statement replaces or switches off from outside."""
    for one in ast.walk(node):
        if isinstance(one, ast.Attribute) and not isinstance(one.ctx, ast.Load):
            switches = one.attr in {"__test__", "pytestmark"}
            yield ast.unparse(one.value if switches else one)


def words(tree: ast.AST | None) -> Iterator[str]:
    """Give every name in a tree: variables, attributes, parameters, functions."""
    for one in ast.walk(tree) if tree else ():
        match one:
            case ast.Name(id=word) | ast.Attribute(attr=word) | ast.arg(arg=word):
                yield word
            case ast.FunctionDef(name=word) | ast.AsyncFunctionDef(name=word):
                yield word
            case ast.keyword(arg=str(word)):
                yield word
            case _:
                pass
