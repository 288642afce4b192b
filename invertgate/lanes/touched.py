"""Which functions a patch touches, by itself or through what they use; the rest is not compared."""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from invertgate.lanes.units import OUTSIDE, Module, Unit

_WORD: Final = re.compile(rb"\w+")


def touched(
    base: Iterable[Module], head: Iterable[Module], renames: Mapping[str, str]
) -> tuple[list[Unit], list[Unit]]:
    """Leave out the functions that are the same on both sides, and use nothing that is not.

    Args:
        base: The changed files as they were.
        head: As they are.
        renames: New paths of files that were renamed, by their old ones.

    Returns:
        The functions of both sides that have to be compared.
    """
    before = {renames.get(module.path, module.path): module for module in base}
    after = {module.path: module for module in head}
    old = {(path, unit.name): unit for path, module in before.items() for unit in module.units}
    new = {(path, unit.name): unit for path, module in after.items() for unit in module.units}
    same = {key for key in old.keys() & new.keys() if _are_equal(old[key], new[key])}
    changed = {name.rpartition(".")[2] for _, name in (old.keys() | new.keys()) - same}
    for path in before.keys() & after.keys():
        changed |= set(_changed_names(before[path], after[path]))
    left_alone = {key for key in same if not _uses(old[key], changed)}
    return (
        [unit for key, unit in old.items() if key not in left_alone],
        [unit for key, unit in new.items() if key not in left_alone],
    )


def _are_equal(old: Unit, new: Unit) -> bool:
    return (
        old.text == new.text
        and old.role is new.role
        and old.name != OUTSIDE
        and _context(old) == _context(new)
    )


def _context(unit: Unit) -> tuple[list[str], list[list[list[str]]]]:
    guards = [ast.unparse(guard) for guard in unit.guards]
    axes = [
        [[f"{name}={ast.unparse(one)}" for name, one in run.items()] for run in axis]
        for axis in unit.axes
    ]
    return guards, axes


def _changed_names(old: Module, new: Module) -> Iterator[str]:
    """Name what stands for something else, or comes from elsewhere, than it did."""
    for before, after in (
        (_texts(old), _texts(new)),
        (dict(old.imports), dict(new.imports)),
        (dict.fromkeys(old.defined, ""), dict.fromkeys(new.defined, "")),
    ):
        names = before.keys() | after.keys()
        yield from (name for name in names if before.get(name) != after.get(name))


def _texts(module: Module) -> dict[str, str]:
    return {name: ast.unparse(value) for name, value in module.values.items()}


def _uses(unit: Unit, names: set[str]) -> bool:
    return not names.isdisjoint(map(bytes.decode, _WORD.findall(unit.text)))
