"""Which assertions of a patch's Python test files are gone or weakened, by their trees."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from invertgate.lanes.checks import Check, Checks
from invertgate.lanes.normal import readable
from invertgate.lanes.pairs import paired
from invertgate.lanes.stronger import implies, renamed
from invertgate.lanes.touched import touched
from invertgate.lanes.units import Module, Role, Unit, words

_CAUGHT = ("exception", "value")  # the exception that was expected: unittest's word, pytest's
_SHOWN = 100  # characters of an assertion


@dataclass(frozen=True, slots=True)
class Removal:
    """Assertions of one function that the head does not make any more."""

    path: str
    line: int
    """Of the first one, at the base."""
    text: str


@dataclass(frozen=True, slots=True)
class Version:
    """The test files of one side of a patch."""

    changed: tuple[Module, ...]
    unchanged: tuple[Module, ...] = ()
    """Files that the patch leaves alone, for the helpers in them."""


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What the rest of the patch says about its test files."""

    renames: Mapping[str, str] = field(default_factory=dict)
    """New paths of files that were renamed, by their old ones."""
    gone: frozenset[str] = frozenset()
    """Names that production code has no more."""
    new: frozenset[str] = frozenset()
    """Names that production code has now."""
    excused: frozenset[str] = frozenset()
    """Test files that were deleted together with what they test."""


def removals(base: Version, head: Version, around: Circumstances) -> tuple[Removal, ...]:
    """Compare the assertions of both sides, function by function and across files.

    Args:
        base: The files as they were.
        head: As they are.
        around: What else the patch does.

    Returns:
        What is gone, one entry for each function; what was moved, renamed or written in another
        style is not.
    """
    comparison = _Comparison(base, head, around)
    found = (
        *comparison.lost(),
        *comparison.replaced(),
        *comparison.patched(),
        *_silenced(base, head),
    )
    return tuple(sorted(found, key=lambda one: (one.path, one.line)))


class _Comparison:
    def __init__(self, base: Version, head: Version, around: Circumstances) -> None:
        self._around = around
        self._before = Checks((*base.changed, *base.unchanged))
        self._after = Checks((*head.changed, *head.unchanged))
        self._units, self._head_units = touched(base.changed, head.changed, around.renames)
        self._old = {unit: self._before.of(unit) for unit in self._units}
        self._new = {unit: self._after.of(unit, all_that_hold=True) for unit in self._head_units}
        self._counted: dict[Unit, Counter[str]] = {}
        self._pairs = paired(self._units, self._head_units, around.renames, self._texts)
        self._imports = {module.path: module.imports for module in base.changed}
        self._made_up = {
            module.path: module.defined - module.imports.keys() for module in head.changed
        }
        self._defined_before = _names_of(base.changed)
        self._defined = _names_of(head.changed)
        self._used_fixtures = {
            name
            for module in head.changed
            for unit in module.units
            if unit.role is Role.TEST
            for name in unit.parameters
        }

    def lost(self) -> Iterator[Removal]:
        free: dict[Unit, list[Check]] = {unit: list(found) for unit, found in self._new.items()}
        left = {unit: self._unmatched_in_pair(unit, free) for unit in self._units}
        pool = _Pool(one for unit, found in free.items() if self._is_run(unit) for one in found)
        for unit, checks in left.items():
            gone = [one for one in checks if not pool.take(one)]
            if gone and not self._is_excused(unit):
                yield self._told(unit, gone)

    def replaced(self) -> Iterator[Removal]:
        """Find what tests imported to test it, and now give a value to themselves."""
        for unit, successor in self._pairs.items():
            imported = self._imports[unit.path].keys() & unit.words
            made_up = imported & (successor.bound | self._made_up[successor.path]) - unit.bound
            for name in sorted(made_up if unit.role is Role.TEST else ()):
                said = f"{unit.name} no longer uses the `{name}` that was imported"
                yield Removal(unit.path, unit.line, said)

    def patched(self) -> Iterator[Removal]:
        """Find what tests assert something about and now replace."""
        for unit, successor in self._pairs.items():
            asserted = {name for check in self._old[unit] for name in words(check.known)}
            parts = {part for name in asserted for part in name.split(".")}
            for name in sorted((successor.patched - unit.patched) & parts):
                said = f"{unit.name} now replaces the `{name}` that it asserts something about"
                yield Removal(unit.path, unit.line, said)

    def _unmatched_in_pair(self, unit: Unit, free: dict[Unit, list[Check]]) -> list[Check]:
        """Match the assertions of a function with those of its successor."""
        successor = self._pairs.get(unit)
        wanted = self._old[unit]
        if successor is None:
            return wanted
        may_be = self._renaming(unit, successor)
        offered = free[successor]
        for fits in (_as_written, _as_meant, _as_strong, _as_renamed(may_be)):
            wanted = _without_matches(wanted, offered, fits)
        return wanted

    def _renaming(self, unit: Unit, successor: Unit) -> Callable[[str, str], bool]:
        """Tell which name may have become which: one that is defined no more, and a new one."""
        around = self._around
        before, after = unit.words, successor.words
        gone = unit.bound | (self._defined_before - self._defined) | around.gone
        new = successor.bound | (self._defined - self._defined_before) | around.new

        def may_be(old: str, now: str) -> bool:
            in_place = old not in after and now not in before
            return in_place and ((old in gone and now in new) or (old, now) == _CAUGHT)

        return may_be

    def _texts(self, unit: Unit) -> Counter[str]:
        if unit not in self._counted:
            checks = self._old[unit] if unit in self._old else self._new[unit]
            self._counted[unit] = Counter(one.raw[0] for one in checks)
        return self._counted[unit]

    def _is_run(self, unit: Unit) -> bool:
        """Tell whether what a function of the head asserts is asserted at all."""
        match unit.role:
            case Role.TEST | Role.IMPLICIT:
                return True
            case Role.FIXTURE:
                return unit.last_name in self._used_fixtures
            case Role.HELPER:
                return False

    def _is_excused(self, unit: Unit) -> bool:
        if unit.path in self._around.excused:
            return True
        inlined = unit.last_name in self._before.called and unit.last_name not in self._defined
        return unit.role is Role.HELPER and inlined

    def _told(self, unit: Unit, gone: Sequence[Check]) -> Removal:
        first = gone[0]
        more = f", and {len(gone) - 1} more" if len(gone) > 1 else ""
        said = f"{unit.name} no longer asserts {_shown(first)}{more}{self._why(unit, first)}"
        return Removal(unit.path, first.line, said)

    def _why(self, unit: Unit, check: Check) -> str:
        successor = self._pairs.get(unit)
        if successor is None:
            return "; the function is gone, or is not run any more"
        for one in self._new[successor]:
            if one.raw[0] == check.raw[0] and (added := one.conditions - check.conditions):
                return f"; now {_condition(min(added))}"
        return ""


def _names_of(modules: Iterable[Module]) -> frozenset[str]:
    return frozenset(unit.last_name for module in modules for unit in module.units)


class _Pool:
    """The assertions of the head that answer none of their own function's."""

    def __init__(self, checks: Iterable[Check]) -> None:
        self._by_text: dict[str, list[Check]] = {}
        for one in checks:
            self._by_text.setdefault(one.full, []).append(one)

    def take(self, wanted: Check) -> bool:
        """Use one up that says the same wherever it stands; tell whether there was one."""
        offered = self._by_text.get(wanted.full, []) if self._by_text else []
        for one in offered:
            if one.conditions <= wanted.conditions:
                offered.remove(one)
                return True
        return False


Fits = Callable[[Check, Check], bool]
"""Tells whether an assertion of the base, the first, is made by one of the head."""


def _without_matches(wanted: Sequence[Check], offered: list[Check], fits: Fits) -> list[Check]:
    left = []
    for check in wanted:
        match = next((one for one in offered if fits(check, one)), None)
        if match is None:
            left.append(check)
        else:
            offered.remove(match)
    return left


def _as_written(old: Check, new: Check) -> bool:
    return old.raw == new.raw and new.conditions <= old.conditions


def _as_meant(old: Check, new: Check) -> bool:
    return old.full == new.full and new.conditions <= old.conditions


def _as_strong(old: Check, new: Check) -> bool:
    as_written = old.raw[1] == new.raw[1] and implies(new.stated, old.stated)
    as_meant = old.unwritten == new.unwritten and implies(new.resolved, old.resolved)
    return new.conditions <= old.conditions and (as_written or as_meant)


def _as_renamed(may_be: Callable[[str, str], bool]) -> Fits:
    def fits(old: Check, new: Check) -> bool:
        conditional = " ".join(sorted(new.conditions))
        before = " ".join(sorted(old.conditions))
        same_conditions = not new.conditions or renamed(before, conditional, may_be)
        return same_conditions and any(
            renamed(one, other, may_be)
            for one, other in ((_whole(old), _whole(new)), (old.full, new.full))
        )

    return fits


def _whole(check: Check) -> str:
    return " | ".join(check.raw)


def _shown(check: Check) -> str:
    text, parameters = readable(check.test), check.raw[1]
    with_parameters = f" with {parameters}" if parameters else ""
    return f"`{text[:_SHOWN]}`{with_parameters[:_SHOWN]}"


def _condition(text: str) -> str:
    mark = re.fullmatch(r"without\((.*)\)", text, re.DOTALL)
    if mark:
        return f"with `{mark[1][:_SHOWN]}`"
    return f"only if `{text.removesuffix('()')[:_SHOWN]}`"


def _silenced(base: Version, head: Version) -> Iterator[Removal]:
    """Find what the patch adds that may take tests of any file out of the run."""
    known = {text for module in base.changed for text in module.silencers}
    for module in head.changed:
        for text in sorted(module.silencers - known):
            first = text.partition("\n")[0][:_SHOWN]
            yield Removal(module.path, 1, f"tests may be left out of the run now: `{first}`")
