"""Production code in a patch: the assertions it loses, the names it changes, what is deleted."""

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from invertgate.lanes.bindings import stored_names
from invertgate.lanes.constant import is_constant
from invertgate.lanes.normal import split, text
from invertgate.lanes.paths import is_collected
from invertgate.lanes.stronger import renamed
from invertgate.lanes.units import imports, words
from invertgate.outcomes.source import Source

_SHOWN = 100  # characters of an assertion


@dataclass(frozen=True, slots=True)
class Sides:
    """A Python file on both sides of the patch."""

    path: str
    old_path: str
    base_source: Source | None
    head_source: Source | None

    @property
    def base(self) -> ast.Module | None:
        """Its tree at the base, if it was there."""
        return self.base_source.tree if self.base_source else None

    @property
    def head(self) -> ast.Module | None:
        """Its tree at the head, if it is there."""
        return self.head_source.tree if self.head_source else None


@dataclass(frozen=True, slots=True)
class Lost:
    """An ``assert`` statement that production code has no more."""

    path: str
    line: int
    text: str


def lost_asserts(files: Sequence[Sides]) -> Iterator[Lost]:
    """Find the ``assert`` statements that are gone, wherever in the files they may have gone to.

    Args:
        files: The production files of the patch.
    """
    free = Counter(text(said) for file in files for said, _ in _asserted(file.head))
    for file in files:
        gone = []
        for said, line in _asserted(file.base):
            if free[text(said)]:
                free[text(said)] -= 1
            else:
                gone.append((said, line))
        before, after = set(words(file.base)), set(words(file.head))
        for said, line in gone:
            old = text(said)
            match = next((one for one in +free if _only_renamed(old, one, before, after)), None)
            if match is None:
                shown = ast.unparse(said)[:_SHOWN]
                yield Lost(file.old_path, line, f"`{shown}` is no longer asserted")
            else:
                free[match] -= 1


def defined_names(trees: Iterable[ast.Module | None]) -> frozenset[str]:
    """Name all that files define: functions, classes, parameters, variables, attributes."""
    return frozenset(name for tree in trees if tree for name in _defined(tree))


def property_ids(tree: ast.Module | None, *, with_texts: bool) -> frozenset[str]:
    """Give the ids of properties in a file: functions and classes that are called ``prop_…``.

    Args:
        tree: The file; it has none if there is no such file.
        with_texts: A text that is nothing but an id counts, as in a mark.
    """
    return frozenset(name for name in _ids(tree, with_texts=with_texts) if name.startswith("prop_"))


def deleted_with_product(tests: Sequence[Sides], production: Sequence[Sides]) -> frozenset[str]:
    """Name the test files that are deleted together with what they test.

    That is so for a test file that imports a deleted production module and is called after it, or
    imports nothing else of that module's package; unless what it tests goes on elsewhere.
    """
    deleted = [file for file in production if file.base is not None and file.head is None]
    kept = defined_names(file.head for file in production)
    return frozenset(
        test.old_path
        for test in tests
        if test.head is None and test.base is not None and _tests_only(test, deleted, kept)
    )


def _tests_only(test: Sides, deleted: Sequence[Sides], kept: frozenset[str]) -> bool:
    modules = {_module(file.old_path) for file in deleted}
    origins = [] if test.base is None else [origin for _, origin in imports(test.base)]
    by_origin = {origin: _of(origin, modules) for origin in origins}
    gone = {origin: module for origin, module in by_origin.items() if module}
    if not gone:
        return False
    moved = {origin.rpartition(".")[2] for origin in gone} & kept
    packages = {origin.partition(".")[0] for origin in gone}
    others = [
        origin
        for origin, module in by_origin.items()
        if not module and origin.partition(".")[0] in packages
    ]
    named = {_stem(module) for module in gone.values()} & _names_tested(test.old_path)
    return not moved and (bool(named) or not others)


def _of(origin: str, modules: Iterable[str]) -> str:
    """Find the module that an import leads into, which may lie below a source folder."""
    ways = (origin, origin.rpartition(".")[0])
    return next(
        (module for module in modules for way in ways if way and f".{module}".endswith(f".{way}")),
        "",
    )


def _module(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _stem(module: str) -> str:
    return module.rpartition(".")[2]


def _names_tested(path: str) -> set[str]:
    stem = _stem(_module(path))
    return {stem.removeprefix("test_"), stem.removesuffix("_test")} if is_collected(path) else set()


def _asserted(tree: ast.Module | None) -> Iterator[tuple[ast.expr, int]]:
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.Assert) and not is_constant(node.test):
            yield from ((one, node.lineno) for one in split(node.test))


def _only_renamed(old: str, new: str, before: set[str], after: set[str]) -> bool:
    gone, came = before - after, after - before
    return old == new or renamed(old, new, lambda one, other: one in gone and other in came)


def _defined(tree: ast.Module) -> Iterator[str]:
    yield from stored_names(tree)
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.ClassDef(name=name) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield name
            case _:
                pass


def _ids(tree: ast.Module | None, *, with_texts: bool) -> Iterator[str]:
    for node in ast.walk(tree) if tree else ():
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.ClassDef(name=name):
                yield name
            case ast.Constant(value=str(said)) if with_texts and said.isidentifier():
                yield said
            case _:
                pass


def by_old_path(files: Iterable[Sides]) -> Mapping[str, str]:
    """Give the new paths of files that were renamed, by their old ones."""
    return {file.old_path: file.path for file in files if file.path != file.old_path}
