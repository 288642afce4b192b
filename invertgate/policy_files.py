"""Tell what a patch changes of the files that decide what counts and what pytest runs."""

import ast
import posixpath
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final
from warnings import catch_warnings, simplefilter

from invertgate.lanes.paths import is_ci, is_policy
from invertgate.model import PolicySource
from invertgate.patch.projects import is_configuration
from invertgate.patch.pytest_options import choosing_options
from invertgate.patch.scope import Judged
from invertgate.survey import Survey

_CONFTEST: Final = "conftest.py"
_PROPERTIES: Final = "properties"
_DECIDING: Final = frozenset({"collect_ignore", "collect_ignore_glob", "pytestmark"})
"""Names of a conftest that take tests out of the run; so do its hooks, and what they are called."""


@dataclass(frozen=True, slots=True)
class _Sides:
    """A file that differs; None where a side does not have it."""

    path: str
    base: bytes | None
    head: bytes | None


def policy_file_notes(seen: Survey) -> tuple[str, ...]:
    """Tell, a sentence each, what a reviewer should look at beside the rows.

    Lists of waivers and of flaky tests, properties, continuous integration, pytest's choice of
    tests and the hooks of conftest files. None of it changes a verdict here.

    Args:
        seen: What is judged; nothing is told where there is no base to compare with.
    """
    patch = seen.patch
    if not patch.base:
        return ()
    changed = [file.path for file in patch.files] + [left.path for left in patch.left_out]
    paths = sorted(path for path in dict.fromkeys(changed) if _decides(path))
    if not paths:
        return ()
    judged = Judged(seen.repository, patch.base, patch.head)
    read = [path for path in paths if is_configuration(path) or _is_conftest(path)]
    before, after = judged.base_files()(read), judged.head_files()(read)
    notes: list[str] = []
    for path in paths:
        notes += _notes(_Sides(path, before.get(path), after.get(path)), seen.policy)
    return tuple(notes)


def changes_lists(seen: Survey) -> bool:
    """Tell whether a patch changes a list of waivers, flaky tests or properties."""
    return any(is_policy(left.path) for left in seen.patch.left_out)


def _decides(path: str) -> bool:
    return is_policy(path) or is_ci(path) or is_configuration(path) or _is_conftest(path)


def _is_conftest(path: str) -> bool:
    return posixpath.basename(path) == _CONFTEST


def _notes(file: _Sides, policy: PolicySource) -> Iterator[str]:
    if is_policy(file.path):
        yield f"the patch changes {file.path}; {_what_counts(file.path, policy)}"
    if is_ci(file.path):
        yield f"the patch changes {file.path}, which says what continuous integration does"
    if is_configuration(file.path):
        yield from _choice_of_tests(file)
    if _is_conftest(file.path):
        yield from _hooks(file)


def _what_counts(path: str, policy: PolicySource) -> str:
    if policy is PolicySource.HEAD and not posixpath.basename(path).startswith(_PROPERTIES):
        return "it counts, by `--policy head`"
    return "the merge base's counts until it is merged"


def _choice_of_tests(file: _Sides) -> Iterator[str]:
    name = posixpath.basename(file.path)
    before, after = choosing_options(name, file.base), choosing_options(name, file.head)
    if before == after:
        return
    old, new = before or {}, after or {}
    keys = sorted(key for key in old.keys() | new.keys() if old.get(key) != new.get(key))
    what = ", ".join(f"`{key}`" for key in keys) or "whether pytest reads its configuration there"
    yield f"the patch changes {what} in {file.path}: it decides which tests pytest runs and how"


def _hooks(file: _Sides) -> Iterator[str]:
    before, after = _deciding(file.base), _deciding(file.head)
    names = sorted(
        name for name in before.keys() | after.keys() if before.get(name) != after.get(name)
    )
    if names:
        what = ", ".join(f"`{name}`" for name in names)
        yield f"the patch changes {what} in {file.path}: it decides which tests pytest runs and how"


def _deciding(source: bytes | None) -> Mapping[str, tuple[str, ...]]:
    """Give what a conftest says by names that pytest looks for, whatever its layout."""
    try:
        with catch_warnings():
            simplefilter("ignore")
            tree = ast.parse(source or b"")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {"what cannot be parsed": ()}
    found: dict[str, tuple[str, ...]] = {}
    for node in ast.walk(tree):
        for name in _bound(node):
            if name in _DECIDING or name.startswith("pytest_"):
                found[name] = (*found.get(name, ()), ast.dump(node))
    return found


def _bound(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            yield name
        case ast.Assign(targets=targets):
            yield from (target.id for target in targets if isinstance(target, ast.Name))
        case ast.AnnAssign(target=ast.Name(id=name)) | ast.AugAssign(target=ast.Name(id=name)):
            yield name
        case ast.ImportFrom(names=names):
            yield from (alias.asname or alias.name for alias in names)
        case _:
            pass
