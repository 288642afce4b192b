"""The files that a test is made of: what each defines, and where its imports lead."""

import ast
import posixpath
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

Read = Callable[[str], bytes | None]
"""Gives a file by its path from the top of the repository, None if there is none."""
Function = ast.FunctionDef | ast.AsyncFunctionDef

CONFTEST: Final = "conftest.py"
_SUPPORT_FOLDER: Final = re.compile(r"tests?|testing|.*_tests?|tests?_.*")
_SUPPORT_FILE: Final = re.compile(r"test_.*\.py|.*_test\.py|conftest\.py")


class UntraceableError(Exception):
    """What a test is made of cannot be told; the message says why."""


@dataclass(frozen=True, eq=False)
class Module:
    """One file."""

    path: str
    tree: ast.Module

    @cached_property
    def bindings(self) -> Mapping[str, list[ast.stmt]]:
        """Give the statements that bind each name, outside of functions and of other statements."""
        found: dict[str, list[ast.stmt]] = {}
        for statement in self.tree.body:
            for name in bound(statement):
                found.setdefault(name, []).append(statement)
        return found

    @cached_property
    def loose(self) -> list[ast.stmt]:
        """Give the statements that do something when the file is imported, and bind no name."""
        return [
            statement
            for statement in self.tree.body
            if not list(bound(statement)) and not _is_silent(statement)
        ]

    @cached_property
    def functions(self) -> list[Function]:
        """Give its functions, those of its classes left out."""
        return [node for node in self.tree.body if isinstance(node, Function)]

    @cached_property
    def opened(self) -> list[tuple[str, int]]:
        """Give the modules whose names are here too: by a star, or named as plugins."""
        stars = [
            (node.module or "", node.level)
            for node in self.tree.body
            if isinstance(node, ast.ImportFrom) and node.names[0].name == "*"
        ]
        plugins = self.bindings.get("pytest_plugins", [])
        named = [text for statement in plugins for text in strings(statement)]
        return stars + [(name, 0) for name in named]


class Sources:
    """Reads the files of one project, each once."""

    def __init__(self, read: Read, folder: str) -> None:
        """Read with a function.

        Args:
            read: Gives the files.
            folder: The project's, from the top of the repository; empty for the top itself.
        """
        self._read = read
        self.folder = folder
        self._known: dict[str, Module | None] = {}

    def at(self, path: str) -> Module | None:
        """Return a file, None where there is none.

        Raises:
            UntraceableError: It is no Python.
        """
        if path not in self._known:
            source = self._read(path)
            self._known[path] = None if source is None else Module(path, _parsed(path, source))
        return self._known[path]

    def conftests(self, path: str) -> list[Module]:
        """Return the conftest files above a test, the nearest first."""
        paths = (posixpath.join(folder, CONFTEST) for folder in self._above(path))
        return [module for each in paths if (module := self.at(each)) is not None]

    def imported(self, module: Module, dotted: str, level: int) -> Module | None:
        """Return the test support that an import leads to; None if it leads to anything else.

        What a test imports of the code under test is no part of the test.
        """
        for start in self._starts(module.path, level):
            stem = posixpath.join(start, *filter(None, dotted.split(".")))
            for path in (f"{stem}.py", posixpath.join(stem, "__init__.py")):
                if is_support(path) and (found := self.at(path)) is not None:
                    return found
        return None

    def _starts(self, path: str, level: int) -> list[str]:
        if not level:
            return list(self._above(path))
        folder = posixpath.dirname(path)
        for _ in range(level - 1):
            folder = posixpath.dirname(folder)
        return [folder]

    def _above(self, path: str) -> Iterator[str]:
        """Yield the folders from that of a file up to the project's."""
        folder = posixpath.dirname(path)
        while True:
            yield folder
            if folder in {"", self.folder}:
                return
            folder = posixpath.dirname(folder)


def is_support(path: str) -> bool:
    """Tell by its path whether a file belongs to the tests and not to what they test."""
    *folders, name = path.split("/")
    return bool(_SUPPORT_FILE.fullmatch(name)) or any(map(_SUPPORT_FOLDER.fullmatch, folders))


def bound(statement: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement binds, if that is all it does."""
    match statement:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Import(names=names):
            yield from (alias.asname or alias.name.partition(".")[0] for alias in names)
        case ast.ImportFrom(names=names):
            yield from (alias.asname or alias.name for alias in names)
        case ast.Assign(targets=targets) if all(map(_is_plain, targets)):
            yield from (
                node.id
                for target in targets
                for node in ast.walk(target)
                if isinstance(node, ast.Name)
            )
        case ast.AnnAssign(target=ast.Name(id=name)) | ast.AugAssign(target=ast.Name(id=name)):
            yield name
        case _:
            pass


def strings(node: ast.AST) -> Iterator[str]:
    """Yield the texts in a tree."""
    for each in ast.walk(node):
        if isinstance(each, ast.Constant) and isinstance(each.value, str):
            yield each.value


def last_name(node: ast.expr) -> str:
    """Return the last name of what a decorator or a call names (``fixture``), or nothing."""
    match node:
        case ast.Call(func=function):
            return last_name(function)
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
        case _:
            return ""


def _is_plain(target: ast.expr) -> bool:
    """Tell whether an assignment binds names only, and changes nothing that others have."""
    return isinstance(target, ast.Name) or (
        isinstance(target, ast.Tuple | ast.List) and all(map(_is_plain, target.elts))
    )


def _is_silent(statement: ast.stmt) -> bool:
    match statement:
        case ast.Expr(value=ast.Constant()) | ast.Pass():
            return True
        case ast.If(test=ast.Name(id="TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING")):
            return not statement.orelse
        case ast.If(test=ast.Compare(left=ast.Name(id="__name__"))):
            return not statement.orelse
        case _:
            return False


def _parsed(path: str, source: bytes) -> ast.Module:
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise UntraceableError(f"{path} does not parse") from error
