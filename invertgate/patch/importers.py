"""Find test files that production code imports: those are production code too."""

import ast
import posixpath
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from warnings import catch_warnings, simplefilter

Source = Mapping[str, bytes]


def imported_by(modules: Iterable[str], importers: Source) -> set[str]:
    """Tell which modules are imported by some sources, as far as import statements say.

    Args:
        modules: Paths of Python files.
        importers: Sources by path; those that do not parse import nothing.

    Returns:
        Those of ``modules`` that could be meant. An absolute import may start at any folder, as
        it is not known which of them are on ``sys.path``.
    """
    wanted = {path: _dotted(path) for path in modules}
    found = set()
    for importer, source in importers.items():
        may = [path for path in wanted if path != importer and mentions_import(path, source)]
        if may:
            names = set(_imports(importer, source))
            found |= {path for path in may if _means(wanted[path], names)}
    return found


def stem(path: str) -> str:
    """Give the word by which an import statement names a file."""
    return _dotted(path)[-1]


def mentions_import(path: str, source: bytes) -> bool:
    """Tell, at little cost, whether a source may import a file."""
    word = re.escape(stem(path).encode())
    lines = rb"(?m)^[^#\n]*\b(?:import|from)\b[^#\n]*\b" + word + rb"\b"
    return bool(re.search(lines, source) or re.search(rb"import\s*[(\\][^)]*\b" + word, source))


def _dotted(path: str) -> tuple[str, ...]:
    parts = tuple(path.removesuffix(".py").split("/"))
    return parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts


Name = tuple[bool, tuple[str, ...]]
"""Whether the path is whole (from the top of the repository), and the parts of a module name."""


def _imports(importer: str, source: bytes) -> Iterator[Name]:
    try:
        with catch_warnings():
            simplefilter("ignore")  # of escapes that Python will refuse one day
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in ast.walk(tree):
        match node:
            case ast.Import(names):
                yield from ((False, tuple(alias.name.split("."))) for alias in names)
            case ast.ImportFrom(module, names, level):
                start = tuple(module.split(".")) if module else ()
                if level:
                    start = (*_package(importer, level), *start)
                yield from ((bool(level), (*start, alias.name)) for alias in names)
            case _:
                pass


def _package(importer: str, level: int) -> tuple[str, ...]:
    folder = posixpath.dirname(importer)
    parts = tuple(folder.split("/")) if folder else ()
    return parts[: max(len(parts) - level + 1, 0)]


def _means(dotted: tuple[str, ...], names: set[Name]) -> bool:
    return any(
        (parts[:length] == dotted if whole else _ends_with(dotted, parts[:length]))
        for whole, parts in names
        for length in range(1, len(parts) + 1)
    )


def _ends_with(dotted: tuple[str, ...], parts: tuple[str, ...]) -> bool:
    return parts[0] not in sys.stdlib_module_names and dotted[-len(parts) :] == parts
