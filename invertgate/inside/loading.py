"""Load the project's modules from the private tree, and weave those that have rows.

Two parts: a finder in front of all others that points what they find in the user's tree at the
private one, and ``SourceFileLoader.get_code``, so that whatever loads a source file by path
(``reload``, ``python -m``, ``spec_from_file_location``, subclasses) gets woven code too.
"""

from __future__ import annotations

import _frozen_importlib_external as external
import _imp
import marshal
import os
import sys
from _frozen_importlib import ModuleSpec
from _frozen_importlib_external import SourceFileLoader, spec_from_file_location

from .switch import SWITCH

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ast
    from collections.abc import Callable, Iterable, Sequence
    from importlib.abc import Loader
    from types import CodeType, ModuleType

    from .settings import Boot, WovenFile

_ASSERT_REWRITER = "_pytest.assertion.rewrite"
_DEFINITIONS = (b"def ", b"async def ", b"class ", b"@")
"""How what ``inspect.getsource`` gives of a function or class begins."""


class Rebase:
    """Maps paths of the user's tree, and of other workers' trees, to this process's tree."""

    def __init__(self, boot: Boot, number: int) -> None:
        self.tree = boot.tree(number)
        others = [boot.original, os.path.realpath(boot.original)]
        others += _sibling_trees(boot)
        self._sources = tuple(root + os.sep for root in dict.fromkeys(others) if root != self.tree)
        self._kept_out = tuple(folder + os.sep for folder in boot.kept_out)

    def __call__(self, path: str) -> str:
        """Return where a path lies in this tree, or the path itself if it is not the project's."""
        for source in self._sources:
            if path.startswith(source) or path == source[:-1]:
                if (path + os.sep).startswith(self._kept_out):
                    return path
                target = os.path.join(self.tree, path[len(source) :]).rstrip(os.sep)
                return target if os.path.exists(target) else path
        return path

    def is_original(self, path: str) -> bool:
        """Tell whether a file of the project is one that lies outside this tree."""
        return path.startswith(self._sources) and not path.startswith(self._kept_out)


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return -1


def _sibling_trees(boot: Boot) -> list[str]:
    folders = [entry for entry in os.listdir(boot.scratch) if entry.isdigit()]
    return [boot.tree(int(number)) for number in folders]


class Loading:
    """What this process knows of the project's files."""

    def __init__(self, boot: Boot, number: int) -> None:
        self.boot = boot
        self.enter(number)
        self.asserting: dict[str, Callable[[ast.Module, bytes, str], None]] = {}
        self.codes: set[int] = set()
        """The ids of the woven code objects of modules."""
        self._kept: list[CodeType] = []
        self._compiled: dict[str, list[WovenFile]] = {}
        self._sources: dict[int, tuple[WovenFile, bytes]] = {}
        self._stripped: dict[int, bytes] = {}

    def enter(self, number: int) -> None:
        """Move this process to another tree."""
        self.number = number
        self.rebase = Rebase(self.boot, number)
        tree = os.path.realpath(self.rebase.tree)
        self._files = {os.path.join(tree, file.path): file for file in self.boot.files}
        self._names = {os.path.basename(path) for path in self._files}
        self._sizes = {_size(path) for path in self._files}

    def bytecode(self, path: str, cached: str) -> str:
        """Return where the byte code of a module is kept: beside the tree, if it is of the tree."""
        top = self.rebase.tree + os.sep
        if not path.startswith(top):
            return cached
        folder = os.path.dirname(path[len(top) :])
        return os.path.join(self.boot.bytecode(self.number), folder, os.path.basename(cached))

    def woven_file(self, path: str) -> WovenFile | None:
        """Return the file with rows that a path means, if it is one."""
        if os.path.basename(path) not in self._names:
            return None
        return self._files.get(os.path.realpath(path))

    def file_of_original(self, path: str) -> WovenFile | None:
        """Return the file with rows of which a path is the user's own copy, or another tree's."""
        if os.path.basename(path) not in self._names:
            return None
        real = os.path.realpath(path)
        return self._files.get(os.path.realpath(self.rebase(real)))

    def code(
        self, file: WovenFile, path: str, source: bytes, loader: SourceFileLoader
    ) -> CodeType | None:
        """Return the woven code of a file, or None if it cannot be woven."""
        compiles_itself = type(loader).source_to_code is not SourceFileLoader.source_to_code
        cached = "" if compiles_itself else self._cache(file, path, source)
        code = _read_code(cached) if cached else None
        if code is None:
            make = loader.source_to_code if compiles_itself else None
            code = self._weave(file, path, source, make)
            if code is None:
                return None
            if cached:
                _write_code(cached, code)
        self.codes.add(id(code))
        self._kept.append(code)
        self._sources[file.number] = (file, source)
        if SWITCH.board is not None:
            SWITCH.board.woven(file.number)
        return code

    def _weave(
        self,
        file: WovenFile,
        path: str,
        source: bytes,
        make: Callable[[ast.Module, str], CodeType] | None,
    ) -> CodeType | None:
        """Weave a file; ``make`` is what an import hook of the project has in place of compile."""
        import ast
        import hashlib
        import warnings

        from .weave import WeavingError, deep_recursion, slots_of, weave

        if hashlib.sha256(source).hexdigest() != file.sha256:
            return None
        try:
            with warnings.catch_warnings(), deep_recursion():
                warnings.simplefilter("ignore")
                tree = ast.parse(source, path)
                weave(tree, slots_of(file.decisions))
                if file.versions:
                    from .vary import vary

                    vary(tree, file.versions)
                rewrite = self.asserting.get(path)
                if rewrite is not None:
                    rewrite(tree, source, path)
                if make is not None:
                    return make(tree, path)
                return compile(tree, path, "exec", dont_inherit=True)
        except (SyntaxError, ValueError, TypeError, WeavingError, RecursionError, MemoryError):
            return None

    def _cache(self, file: WovenFile, path: str, source: bytes) -> str:
        rewritten = "a" if path in self.asserting else "p"
        tag = f"{sys.implementation.cache_tag}-{sys.flags.optimize}-{rewritten}"
        content = _imp.source_hash(0, os.fsencode(path) + b"\0" + source).hex()
        name = f"{file.number}-{tag}-{content}"
        return os.path.join(self.boot.scratch, str(self.number), "woven", name)

    def note_execution(self, code: object) -> None:
        """Note a file with rows whose code is executed without being woven."""
        path = getattr(code, "co_filename", None)
        if not isinstance(path, str) or id(code) in self.codes or SWITCH.board is None:
            return
        if getattr(code, "co_name", "") != "<module>":
            return
        for file in self._compiled.get(path, ()):
            SWITCH.board.bare(file.number)
        named = self.woven_file(path) or self.file_of_original(path)
        if named is not None:
            SWITCH.board.bare(named.number)

    def note_compilation(self, source: object, name: object) -> None:
        """Remember under what name somebody else compiles a file with rows, or a part of one."""
        if isinstance(source, str):
            source = source.encode("utf-8", "surrogatepass")
        if not isinstance(source, bytes):
            return
        if source.lstrip().startswith(_DEFINITIONS):
            self._note_part(source, name)
        if len(source) not in self._sizes:
            return
        import hashlib

        digest = hashlib.sha256(source).hexdigest()  # to read the files would count as opening them
        for file in self._files.values():
            if file.sha256 == digest:
                self._compiled.setdefault(os.fsdecode(name), []).append(file)  # type: ignore[arg-type]

    def _note_part(self, source: bytes, name: object) -> None:
        part = _stripped(source)
        for number, (file, text) in self._sources.items():
            if number not in self._stripped:
                self._stripped[number] = _stripped(text)
            if part in self._stripped[number]:
                self._compiled.setdefault(os.fsdecode(name), []).append(file)  # type: ignore[arg-type]


def _stripped(text: bytes) -> bytes:
    """Take off indents: who compiles a part of a file takes off those of its first line."""
    return b"".join(line.strip() + b"\n" for line in text.splitlines())


def _read_code(path: str) -> CodeType | None:
    from types import CodeType

    try:
        with open(path, "rb") as file:
            code = marshal.load(file)  # noqa: S302  # written by ourselves, in our own folder
    except (OSError, ValueError, EOFError, TypeError):
        return None
    return code if isinstance(code, CodeType) else None


def _write_code(path: str, code: CodeType) -> None:
    temporary = f"{path}.{os.getpid()}"
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(temporary, "wb") as file:
            marshal.dump(code, file)
        os.replace(temporary, path)
    except (OSError, ValueError):
        return  # it is woven again by the next process


class Finder:
    """Asks all other finders, and points what they find at the private tree."""

    def __init__(self, loading: Loading) -> None:
        self._loading = loading

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find a module as Python does, but in the private tree."""
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            if finder is self or find is None:
                continue
            spec: ModuleSpec | None = find(name, path, target)
            if spec is not None:
                return self._rebased(spec)
        return None

    def _rebased(self, spec: ModuleSpec) -> ModuleSpec:
        rebase = self._loading.rebase
        if spec.origin is not None and spec.has_location:
            origin = rebase(os.path.abspath(spec.origin))
            moved = origin != os.path.abspath(spec.origin)
            rewriter = type(spec.loader).__module__ == _ASSERT_REWRITER
            woven = rewriter and self._loading.woven_file(origin) is not None
            if woven:
                self._loading.asserting[origin] = _assert_rewriter(spec.loader)
            if moved or woven:
                return _moved(spec, origin, rebase, woven)
        elif spec.submodule_search_locations is not None and spec.origin is None:
            return _moved_namespace(spec, rebase)
        return spec


def _moved(spec: ModuleSpec, origin: str, rebase: Callable[[str], str], woven: bool) -> ModuleSpec:
    loader = spec.loader
    if woven or type(loader) is SourceFileLoader:
        loader = SourceFileLoader(spec.name, origin)
    elif type(loader).__module__ != _ASSERT_REWRITER:
        make: Callable[..., Loader] = type(loader)  # type: ignore[assignment]
        try:
            loader = make(spec.name, origin)
        except Exception:  # noqa: BLE001  # a loader with ways of its own keeps them
            return spec
    locations = spec.submodule_search_locations
    moved = spec_from_file_location(
        spec.name,
        origin,
        loader=loader,
        submodule_search_locations=None if locations is None else [rebase(p) for p in locations],
    )
    return spec if moved is None else moved


def _moved_namespace(spec: ModuleSpec, rebase: Callable[[str], str]) -> ModuleSpec:
    locations = list(spec.submodule_search_locations or ())
    moved = list(dict.fromkeys(rebase(location) for location in locations))
    if moved == locations:
        return spec
    new = ModuleSpec(spec.name, None, is_package=True)
    new.submodule_search_locations = moved
    return new


def _assert_rewriter(hook: object) -> Callable[[ast.Module, bytes, str], None]:
    """Return what pytest's import hook does to the asserts of a module."""
    from _pytest.assertion.rewrite import rewrite_asserts  # pytest is there by now

    config = getattr(hook, "config", None)

    def rewrite(tree: ast.Module, source: bytes, path: str) -> None:
        rewrite_asserts(tree, source, path, config)

    return rewrite


def install(boot: Boot, number: int) -> Loading:
    """Make this process load the project from its private tree."""
    loading = Loading(boot, number)
    sys.path[:] = rebased_path(loading)
    sys.meta_path.insert(0, Finder(loading))
    original = SourceFileLoader.get_code

    def get_code(self: SourceFileLoader, fullname: str) -> CodeType | None:
        file = loading.woven_file(self.path)
        if file is None:
            return original(self, fullname)
        code = loading.code(file, self.path, self.get_data(self.path), self)
        if code is None and SWITCH.board is not None:
            SWITCH.board.bare(file.number)
        return code if code is not None else original(self, fullname)

    _keep_bytecode(loading)
    SourceFileLoader.get_code = get_code  # type: ignore[method-assign, assignment]
    return loading


def _keep_bytecode(loading: Loading) -> None:
    """Keep the byte code of the tree's modules beside the tree, and write none anywhere else.

    What lies elsewhere is read where it lies: to compile pytest anew costs more than a run. The
    user's environment is not written.
    """
    where: Callable[..., str] = external.cache_from_source
    write = SourceFileLoader._cache_bytecode  # type: ignore[attr-defined]  # noqa: SLF001

    def cache_from_source(
        path: str, debug_override: bool | None = None, *, optimization: str | None = None
    ) -> str:
        cached = where(path, debug_override, optimization=optimization)
        return loading.bytecode(os.fspath(path), cached)

    def cache_bytecode(self: SourceFileLoader, source: str, cached: str, content: bytes) -> None:
        if cached.startswith(loading.boot.scratch):
            write(self, source, cached, content)

    vars(external)["cache_from_source"] = cache_from_source
    SourceFileLoader._cache_bytecode = cache_bytecode  # type: ignore[attr-defined]  # noqa: SLF001


def keep_rewritten_tests(loading: Loading) -> None:
    """Keep the byte code of test modules, whose asserts pytest rewrites, beside the tree too."""
    from pathlib import Path

    from _pytest.assertion import rewrite

    original = rewrite.get_cache_dir

    def get_cache_dir(path: Path) -> Path:
        found = original(path)
        return Path(loading.bytecode(str(path), str(found / path.name))).parent

    rewrite.get_cache_dir = get_cache_dir  # type: ignore[assignment]


def move_to_front() -> None:
    """Put our finder in front again, after others (pytest's) have put theirs there."""
    ours = [finder for finder in sys.meta_path if isinstance(finder, Finder)]
    sys.meta_path[:] = [*ours, *(each for each in sys.meta_path if each not in ours)]


def rebased_path(loading: Loading) -> list[str]:
    """Return ``sys.path`` with the project's folders in the private tree."""
    return list(dict.fromkeys(loading.rebase(entry) if entry else entry for entry in sys.path))


def _source_beside(path: str) -> str:
    """Return the source that a compiled module hides: Python takes ``a.so`` before ``a.py``."""
    folder, name = os.path.split(path)
    return path if name.endswith(".py") else os.path.join(folder, name.partition(".")[0] + ".py")


def note_bare_modules(loading: Loading, modules: Iterable[ModuleType]) -> None:
    """Note the files with rows that this process loaded in some way that does not weave."""
    board = SWITCH.board
    if board is None:
        return
    for module in modules:
        path = getattr(module, "__file__", None)
        if not isinstance(path, str):
            continue
        path = _source_beside(path)
        file = loading.woven_file(path)
        if file is None and loading.rebase.is_original(path):
            file = loading.file_of_original(path)
            if file is not None:
                board.bare(file.number)
        elif file is not None and not board.is_woven(file.number):
            board.bare(file.number)
