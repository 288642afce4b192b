"""What a claimed test is made of: itself, and all of the test code that it leads to."""

import ast
import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from invertgate.table.fixtures import (
    asked_for,
    attributes_in,
    bound_by,
    comes_by_itself,
    defined_in,
    fixture_name,
    is_any_fixture,
    is_docstring,
    is_fixture,
    marked,
    names_in,
)
from invertgate.table.plain_tree import plain, without_docstring
from invertgate.table.sources import (
    CONFTEST,
    Function,
    Module,
    Sources,
    UntraceableError,
    last_name,
)

_TEST: Final = re.compile(r"test", re.IGNORECASE)
_IMPLICIT: Final = re.compile(
    r"pytest_\w+|pytestmark|__test__|setUpModule|tearDownModule|(setup|teardown)_(module|function)"
)
"""Names of a test module that pytest looks for by itself."""
_OF_CONFTEST: Final = re.compile(r"pytest_\w+|collect_ignore(_glob)?")

Parts = dict[str, str]
"""What each part is called in messages, and its text."""


def parts_of(test: str, sources: Sources) -> Parts:
    """Take a claimed test apart.

    Its function (body, decorators, parameters), the shared code of its classes, the fixtures that
    it names and those that these name, fixtures that come by themselves, hooks of its module and
    of the conftest files above it, and what all of these use of the test code by name.

    Args:
        test: Its nodeid.
        sources: The judged files of its project.

    Raises:
        UntraceableError: There is no such function; the message says what is not there.
    """
    file, _, rest = test.partition("::")
    path = posixpath.normpath(posixpath.join(sources.folder, file))
    tracer = _Tracer(sources)
    try:
        tracer.test(path, rest.partition("[")[0].split("::"))
    except RecursionError as error:
        raise UntraceableError(f"{path} is nested too deeply") from error
    return tracer.parts


class _Tracer:
    """Follows names from a test on, and notes everything that it meets."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._seen: set[tuple[str, str]] = set()
        self._levels: list[Module] = []
        self.parts: Parts = {}

    def test(self, path: str, names: Sequence[str]) -> None:
        """Note a test and all that it leads to."""
        module = self._sources.at(path)
        if module is None:
            raise UntraceableError(f"there is no {path}")
        self._levels = [module, *self._sources.conftests(path)]
        classes, functions = _found(module, names)
        if not functions:
            functions = self._inherited(module, classes, names[-1])
        if not functions:
            raise UntraceableError(f"{path} defines no {'.'.join(names)}")
        self._function(module, classes, functions)
        for outer in classes:
            self._class(module, outer, functions)
        for level in self._levels:
            self._by_itself(level)

    def _function(
        self, module: Module, classes: Sequence[ast.ClassDef], functions: Sequence[Function]
    ) -> None:
        kinds = [type(function).__name__ for function in functions]
        bodies = [plain([*without_docstring(function)]) for function in functions]
        returns = [plain(function.returns) if function.returns else "" for function in functions]
        self.parts["its body"] = repr((kinds, bodies, returns))
        self.parts["its parameters"] = repr([plain(function.args) for function in functions])
        self.parts["its decorators"] = repr(
            [plain([*function.decorator_list]) for function in functions]
        )
        for function in functions:
            self._follow(module, function)
            for name in asked_for(function):
                self._fixture(name, classes)

    def _class(self, module: Module, node: ast.ClassDef, functions: Sequence[Function]) -> None:
        """Note what a class does for its tests; other tests in it are no part of this one."""
        used = {name for function in functions for name in attributes_in(function)}
        shared = [
            member
            for member in node.body
            if not isinstance(member, ast.ClassDef)
            and member not in functions
            and not (isinstance(member, Function) and _is_other(member, used))
        ]
        header = [*node.decorator_list, *node.bases, *node.keywords]
        text = plain([*header, *[one for one in shared if not is_docstring(one)]])
        self._note(f"class {node.name} in {module.path}", text)
        for each in (*header, *shared):
            self._follow(module, each)
            for name in marked(each):
                self._fixture(name, [node])
        for member in node.body:
            if isinstance(member, Function) and comes_by_itself(member):
                self._fixture(fixture_name(member), [node])

    def _by_itself(self, module: Module) -> None:
        """Note what takes part unasked: loose statements, hooks, fixtures with ``autouse``."""
        if not self._is_new(module, "by itself"):
            return
        self._loose(module)
        implicit = _OF_CONFTEST if posixpath.basename(module.path) == CONFTEST else _IMPLICIT
        for name, statements in module.bindings.items():
            if implicit.fullmatch(name):
                self._name(module, name)
            if name == "pytestmark":
                for wanted in (one for each in statements for one in marked(each)):
                    self._fixture(wanted, ())
        for function in module.functions:
            if comes_by_itself(function):
                self._fixture(fixture_name(function), (), above=module)
        for dotted, level in module.opened:
            opened = self._sources.imported(module, dotted, level)
            if opened is not None:
                self._by_itself(opened)

    def _loose(self, module: Module) -> None:
        if not self._is_new(module, ""):
            return
        if module.loose:
            text = plain([*module.loose])
            self._note(f"statements outside of functions in {module.path}", text)
        for statement in module.loose:
            self._follow(module, statement)

    def _fixture(
        self, name: str, classes: Sequence[ast.ClassDef], above: Module | None = None
    ) -> None:
        """Note a fixture by the rule of the nearest: classes, module, conftest files upwards."""
        for node in reversed(classes):
            for member in node.body:
                if isinstance(member, Function) and is_fixture(member, name):
                    self._defined_fixture(self._levels[0], f"{node.name}.{name}", [member], classes)
                    return
        start = self._levels.index(above) if above in self._levels else 0
        for level in self._levels[start:]:
            if self._fixture_in(level, name):
                return

    def _fixture_in(self, module: Module, name: str, within: Sequence[str] = ()) -> bool:
        functions = [one for one in module.functions if is_fixture(one, name)]
        if functions:
            self._defined_fixture(module, name, functions, ())
            return True
        if name in module.bindings and name not in defined_in(module):
            self._name(module, name)
            return True
        opened = (self._sources.imported(module, *each) for each in module.opened)
        path = (*within, module.path)
        return any(
            one is not None and one.path not in path and self._fixture_in(one, name, path)
            for one in opened
        )

    def _defined_fixture(
        self,
        module: Module,
        name: str,
        functions: Sequence[Function],
        classes: Sequence[ast.ClassDef],
    ) -> None:
        if not self._is_new(module, f"fixture {name}"):
            return
        self._loose(module)
        self._note(f"fixture {name} in {module.path}", plain([*functions]))
        for function in functions:
            self._follow(module, function)
            for wanted in asked_for(function):
                if wanted == name.rpartition(".")[2]:  # it overrides one further up
                    self._further_up(module, wanted)
                else:
                    self._fixture(wanted, classes)

    def _further_up(self, module: Module, name: str) -> None:
        start = self._levels.index(module) + 1 if module in self._levels else 0
        for level in self._levels[start:]:
            if self._fixture_in(level, name):
                return

    def _follow(self, module: Module, node: ast.AST) -> None:
        """Note what a tree uses of its module by name."""
        attributes = attributes_in(node)
        for name in sorted(names_in(node)):
            self._name(module, name, attributes)

    def _name(self, module: Module, name: str, attributes: Iterable[str] = ()) -> None:
        statements = module.bindings.get(name)
        if statements is None:
            for dotted, level in module.opened:
                opened = self._sources.imported(module, dotted, level)
                if opened is not None and name in opened.bindings:
                    self._name(opened, name, attributes)
            return
        for statement in statements:
            if isinstance(statement, ast.Import | ast.ImportFrom):
                self._import(module, statement, name, attributes)
        defined = [one for one in statements if not isinstance(one, ast.Import | ast.ImportFrom)]
        if not defined or (module.path, name) in self._seen:
            return
        fixtures = [one for one in defined if isinstance(one, Function) and is_any_fixture(one)]
        if fixtures == defined:
            self._defined_fixture(module, name, fixtures, ())
            return
        self._is_new(module, name)
        self._loose(module)
        self._note(f"{name} in {module.path}", plain([*defined]))
        for statement in defined:
            self._follow(module, statement)

    def _import(
        self,
        module: Module,
        statement: ast.Import | ast.ImportFrom,
        name: str,
        attributes: Iterable[str],
    ) -> None:
        """Note where a name comes from, and what it stands for if that is test code too."""
        [alias] = [one for one in statement.names if bound_by(one) == name][:1]
        dotted = (statement.module or "") if isinstance(statement, ast.ImportFrom) else alias.name
        level = statement.level if isinstance(statement, ast.ImportFrom) else 0
        origin = f"{'.' * level}{dotted} {alias.name}"
        if self._is_new(module, f"the import of {name} as {origin}"):
            self._note(f"the import of {name} in {module.path}", origin)
        if not self._is_new(module, f"{name} as {origin} {sorted(attributes)}"):
            return
        source = self._sources.imported(module, dotted, level)
        if isinstance(statement, ast.ImportFrom):
            if source is not None and alias.name in source.bindings:
                self._name(source, alias.name)
                return
            source = self._sources.imported(module, f"{dotted}.{alias.name}", level)
        if source is not None:
            self._loose(source)
            for attribute in sorted(set(attributes) & source.bindings.keys()):
                self._name(source, attribute)

    def _inherited(
        self, module: Module, classes: Sequence[ast.ClassDef], name: str
    ) -> list[Function]:
        """Find a test in the base classes of its class, or among what its module imports."""
        bases = [last_name(base) for node in classes[-1:] for base in node.bases]
        for home, node in self._classes(module, bases):
            members = [one for one in node.body if isinstance(one, Function) and one.name == name]
            if members:
                self._follow(home, node)
                return members
        if classes:
            return []
        self._name(module, name)
        return [
            function
            for path, seen in sorted(self._seen)
            if seen == name and (home_of := self._sources.at(path)) is not None
            for function in home_of.functions
            if function.name == name
        ]

    def _classes(
        self, module: Module, names: Iterable[str], depth: int = 0
    ) -> Iterator[tuple[Module, ast.ClassDef]]:
        for name in names:
            for statement in module.bindings.get(name, ()):
                if isinstance(statement, ast.ClassDef):
                    yield module, statement
                    bases = [last_name(base) for base in statement.bases]
                    yield from self._classes(module, bases, depth + 1) if depth < _DEEPEST else ()
                elif isinstance(statement, ast.ImportFrom):
                    level, dotted = statement.level, statement.module or ""
                    home = self._sources.imported(module, dotted, level)
                    if home is not None and depth < _DEEPEST:
                        yield from self._classes(home, [name], depth + 1)

    def _is_new(self, module: Module, what: str) -> bool:
        """Tell whether something is met for the first time."""
        key = (module.path, what)
        known = key in self._seen
        self._seen.add(key)
        return not known

    def _note(self, name: str, text: str) -> None:
        self.parts[name] = self.parts.get(name, "") + text


_DEEPEST: Final = 20
"""Base classes that are followed, one above the other; so that a circle has an end."""


def _found(module: Module, names: Sequence[str]) -> tuple[list[ast.ClassDef], list[Function]]:
    """Find the classes that a test is in, and the functions of its name in the last."""
    classes: list[ast.ClassDef] = []
    body: Sequence[ast.stmt] = module.tree.body
    for name in names[:-1]:
        inner = [one for one in body if isinstance(one, ast.ClassDef) and one.name == name]
        if not inner:
            raise UntraceableError(f"{module.path} defines no class {name}")
        classes.append(inner[-1])
        body = inner[-1].body
    return classes, [one for one in body if isinstance(one, Function) and one.name == names[-1]]


def _is_other(member: Function, used: Iterable[str]) -> bool:
    """Tell whether a method is another test, or a fixture, which counts where it is asked for."""
    if is_any_fixture(member):
        return True
    return _TEST.match(member.name) is not None and member.name not in used
