"""The assertions that a function leads to, also through helpers, for each of its parameters."""

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice, product
from typing import Final

from invertgate.lanes.bindings import UNWRITTEN, Axis, Values, bound, fixed, substituted
from invertgate.lanes.constant import is_constant, is_fixed, truth
from invertgate.lanes.live import Guards
from invertgate.lanes.normal import last_name, named, text
from invertgate.lanes.units import Module, Role, Unit

_RUNS: Final = "runs"
"""Stands for the assertion of a test that asserts nothing: that it runs to its end."""
_MOST_RUNS: Final = 5_000  # of one test, over all its parameters
_MOST_HELPERS: Final = 6  # one in another


@dataclass(frozen=True, eq=False)
class Check:
    """An assertion that a function makes, for one choice of its parameters."""

    unit: Unit
    test: ast.expr
    """Its normal form, with the names that the function uses."""
    stated: ast.expr
    """The same with the constants that names stand for."""
    known: ast.expr
    """The same with all that names stand for."""
    line: int
    conditions: frozenset[str]
    """Under which it is made, and the marks without which."""
    parameters: Values = field(default_factory=dict)

    @cached_property
    def raw(self) -> tuple[str, str]:
        """Give it as it is written, and the parameters of this run."""
        given = sorted(f"{name}={ast.unparse(one)}" for name, one in self.parameters.items())
        return text(self.stated), ", ".join(given)

    @cached_property
    def resolved(self) -> ast.expr:
        """Give it with its parameters put in."""
        return substituted(self.known, self.parameters, 2)

    @cached_property
    def full(self) -> str:
        """Give what it says wherever it stands."""
        return " ".join([text(self.resolved), *self.unwritten])

    @property
    def unwritten(self) -> list[str]:
        """Name the lists of parameters that are not written out."""
        return sorted(name for name in self.parameters if name.startswith(UNWRITTEN))


@dataclass(frozen=True, slots=True)
class _Flat:
    """An assertion of a function or of a helper that it calls."""

    test: ast.expr
    known: ast.expr
    line: int
    guards: Guards
    axes: tuple[Axis, ...]


class Checks:
    """Finds the assertions of functions, across the files that were given."""

    def __init__(self, modules: Iterable[Module]) -> None:
        self._modules = {module.path: module for module in modules}
        self._by_name: dict[str, list[Unit]] = {}
        for module in self._modules.values():
            for unit in module.units:
                self._by_name.setdefault(unit.last_name, []).append(unit)
        self._known: dict[Unit, tuple[_Flat, ...]] = {}
        self._values: dict[Unit, Values] = {}
        self.called: set[str] = set()
        """Names of the helpers through which assertions were found."""

    def of(self, unit: Unit, *, all_that_hold: bool = False) -> list[Check]:
        """List the assertions of a function, one for each choice of its parameters.

        Args:
            unit: The function.
            all_that_hold: That a test runs to its end counts as an assertion of every test, not
                only of one that has no other.
        """
        flats = self._flats(unit, ())
        if unit.role is Role.TEST and (all_that_hold or not flats):
            flats = (*flats, _that_it_runs(unit))
        return list(islice(self._checks(unit, flats), _MOST_RUNS))

    def _checks(self, unit: Unit, flats: Sequence[_Flat]) -> Iterator[Check]:
        constants = fixed(unit.values)
        always = [ast.unparse(guard) for guard in unit.guards]
        for flat in flats:
            conditions = frozenset([*always, *map(text, flat.guards)])
            stated = substituted(flat.test, constants)
            for runs in product(*unit.axes, *flat.axes):
                given = {name: one for run in runs for name, one in run.items()}
                yield Check(unit, flat.test, stated, flat.known, flat.line, conditions, given)

    def _flats(self, unit: Unit, inside: tuple[Unit, ...]) -> tuple[_Flat, ...]:
        if unit in inside or len(inside) > _MOST_HELPERS:
            return ()
        if unit not in self._known:
            constants = fixed(unit.values)
            found = (*self._own(unit, inside), *self._of_helpers(unit, inside))
            self._known[unit] = tuple(
                live for flat in found if (live := _if_live(flat, constants)) is not None
            )
        return self._known[unit]

    def _own(self, unit: Unit, inside: tuple[Unit, ...]) -> Iterator[_Flat]:
        for found in unit.live.found:
            if is_constant(found.test):
                continue
            helper = self._helper(found.call, unit) if found.call else None
            if helper is None or not self._flats(helper, (*inside, unit)):
                known = substituted(found.test, self._around(unit))
                yield _Flat(found.test, known, found.line, found.where.guards, found.where.axes)

    def _of_helpers(self, unit: Unit, inside: tuple[Unit, ...]) -> Iterator[_Flat]:
        for called in unit.live.called:
            helper = self._helper(called.call, unit)
            if helper is None or isinstance(helper.node, ast.Module):
                continue
            method = "." in helper.name and "staticmethod" not in map(
                last_name, helper.node.decorator_list
            )
            given = bound(called.call, helper.node, method=method)
            for flat in self._flats(helper, (*inside, unit)):
                self.called.add(helper.last_name)
                test = substituted(flat.known, given, 1)
                guards = (substituted(guard, given, 1) for guard in flat.guards)
                yield _Flat(
                    test,
                    substituted(test, self._around(unit)),
                    called.call.lineno,
                    (*called.where.guards, *guards),
                    (*called.where.axes, *flat.axes),
                )

    def _around(self, unit: Unit) -> Values:
        """Say what the names in a function stand for; an imported one, for where it is from."""
        if unit not in self._values:
            origins = {
                name: ast.Name(origin, ast.Load())
                for name, origin in self._imports(unit).items()
                if name != origin and name not in unit.bound
            }
            self._values[unit] = {**origins, **unit.values}
        return self._values[unit]

    def _helper(self, call: ast.Call, unit: Unit) -> Unit | None:
        """Find the function that a call calls, as far as names tell."""
        match call.func:
            case ast.Name(id=name):
                return self._function(name, unit)
            case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name):
                return self._method(name, unit)
            case ast.Attribute(value=ast.Name(id=module), attr=name) if module in self._imports(
                unit
            ):
                return self._imported(f"{self._imports(unit)[module]}.{name}")
            case _:
                return None

    def _function(self, name: str, unit: Unit) -> Unit | None:
        if origin := self._imports(unit).get(name):
            return self._imported(origin)
        same_file = (one for one in self._by_name.get(name, ()) if one.path == unit.path)
        return next((one for one in same_file if one.name == name), None)

    def _method(self, name: str, unit: Unit) -> Unit | None:
        methods = [one for one in self._by_name.get(name, ()) if "." in one.name]
        own_class = unit.name.rpartition(".")[0]
        for one in methods:
            if one.path == unit.path and one.name == f"{own_class}.{name}":
                return one
        return methods[0] if len(methods) == 1 else None

    def _imported(self, origin: str) -> Unit | None:
        module, _, name = origin.rpartition(".")
        suffix = "/" + module.replace(".", "/")
        for one in self._by_name.get(name, ()):
            stem = "/" + one.path.removesuffix(".py").removesuffix("/__init__")
            if one.name == name and stem.endswith(suffix):
                return one
        return None

    def _imports(self, unit: Unit) -> Mapping[str, str]:
        return self._modules[unit.path].imports


def _that_it_runs(unit: Unit) -> _Flat:
    body = [] if isinstance(unit.node, ast.Module) else unit.node.body
    said = ast.Constant(value="\n".join(map(ast.unparse, body)))
    return _Flat(named(_RUNS, []), named(_RUNS, [said]), unit.line, (), ())


def _if_live(flat: _Flat, constants: Values) -> _Flat | None:
    """Drop the conditions that always hold; drop an assertion that cannot fail, or never runs."""
    if is_fixed(substituted(flat.test, constants)):
        return None
    guards = []
    for guard in flat.guards:
        holds = truth(substituted(guard, constants))
        if holds is False:
            return None
        if holds is None:
            guards.append(guard)
    return _Flat(flat.test, flat.known, flat.line, tuple(guards), flat.axes)
