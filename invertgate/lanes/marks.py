"""What takes a test out of the run, lets it fail, or repeats it: decorators, marks, file-wide."""

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from invertgate.lanes.bindings import Axis, Values, axis, elements, substituted
from invertgate.lanes.live import Found, Function, Where
from invertgate.lanes.normal import last_name, named

DEFINITIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)

_OFF: Final = re.compile(r"skip\w*|xfail|expectedFailure|nottest|flaky|reruns?|retry|disabled?")
_REPEATING: Final = frozenset({"parametrize", "given", "example"})
_HOOKS: Final = re.compile(
    r"pytest_(collection_modifyitems|ignore_collect|collect_\w+|pycollect_\w+|runtest_\w+"
    r"|pyfunc_call|generate_tests|deselected|itemcollected|make_collect_report)"
)
_PATCHING: Final = re.compile(r"\b(patch(\.object)?|setattr|stub)$")
_OWN_EXAMPLES: Final = 100  # what Hypothesis runs where nothing else is said


def of_scope(body: Iterable[ast.stmt]) -> Iterator[ast.expr]:
    """Give the marks that a module or a class sets for all that is in it."""
    for node in body:
        match node:
            case ast.Assign(targets=[ast.Name(id="pytestmark")], value=value):
                yield from value.elts if isinstance(value, ast.List | ast.Tuple) else [value]
            case ast.Assign(targets=[ast.Name(id="__test__")]):
                yield named("skip", [ast.Constant(value=ast.unparse(node))])
            case _:
                pass


def off(marks: Iterable[ast.expr], values: Values) -> Iterator[ast.expr]:
    """Give, as conditions, the marks with which a test is not run, or may fail.

    Args:
        marks: Decorators and marks.
        values: What names of the module stand for.
    """
    for mark in marks:
        known = substituted(mark, values)
        repeats = isinstance(known, ast.Call) and last_name(known.func) in _REPEATING
        if (_names_off(known) and not repeats) or _has_fewer_examples(known):
            yield named("without", [known])


def axes(marks: Iterable[ast.expr], values: Values, names: Sequence[str] = ()) -> Iterator[Axis]:
    """Give the lists of parameters that a test is repeated for.

    Args:
        marks: Decorators and marks.
        values: What names of the module stand for.
        names: The parameters of the function, where the mark does not name them.
    """
    for mark in marks:
        known = mark if isinstance(mark, ast.Call) else substituted(mark, values)
        if not isinstance(known, ast.Call):
            continue
        given = {one.arg: one.value for one in known.keywords}
        first, listed, *_ = [*known.args, given.get("argvalues"), None, None]
        match last_name(known.func), given.get("argnames", first), listed:
            case "parametrize", ast.expr() as named_in, ast.expr() as cases:
                yield axis(_argument_names(named_in), cases, values)
            case "expand", ast.expr() as cases, _:
                yield axis(names, cases, values)
            case _:
                pass


def stated(node: Function, values: Values) -> Iterator[Found]:
    """Give what decorators add to what a function asserts: examples, and a fixture's parameters."""
    for decorator in node.decorator_list:
        if not isinstance(decorator, ast.Call):
            continue
        name = last_name(decorator.func)
        if name in {"given", "example"}:
            yield Found(decorator, node.lineno, Where())
        if name == "fixture":
            for listed in (one.value for one in decorator.keywords if one.arg == "params"):
                for run in axis(["param"], listed, values):
                    yield Found(named("param", list(run.values())), node.lineno, Where())


def listed(values: Values) -> Iterator[Found]:
    """Give the elements of the lists that a module writes out, as things that are asserted."""
    for name, value in values.items():
        match value:
            case ast.List() | ast.Tuple():
                parts = elements(value, values) or []
            case ast.Dict(keys=keys, values=held):
                parts = [
                    ast.copy_location(ast.Tuple([key, one], ast.Load()), key)
                    for key, one in zip(keys, held, strict=True)
                    if key is not None
                ]
            case _:
                continue
        for part in parts:
            yield Found(named(f"{name} lists", [part]), part.lineno, Where())


def patched(function: ast.AST) -> Iterator[str]:
    """Name what a function replaces while it runs, by mock or by monkeypatch."""
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and _PATCHING.search(ast.unparse(node.func)):
            for argument in node.args[:2]:
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                    yield argument.value.rpartition(".")[2]


def not_run(node: Function) -> Iterator[ast.expr]:
    """Give what keeps pytest from running a function to its end, as conditions."""
    if any(isinstance(one, ast.Yield | ast.YieldFrom) for one in _own_nodes(node)):
        yield named("without", [ast.Name("yield", ast.Load())])
    marked = any(re.search("async|anyio|trio", ast.unparse(one)) for one in node.decorator_list)
    if isinstance(node, ast.AsyncFunctionDef) and not marked:
        yield named("without", [ast.Name("async", ast.Load())])


def not_collected(node: ast.ClassDef) -> Iterator[ast.expr]:
    """Give what keeps pytest from collecting a class, as conditions."""
    constructed = any(
        isinstance(one, ast.FunctionDef) and one.name in {"__init__", "__new__"}
        for one in node.body
    )
    if constructed and not node.bases:
        yield named("without", [ast.Name("a constructor", ast.Load())])


def left_early(body: Iterable[ast.stmt]) -> Iterator[ast.expr]:
    """Give what stops the import of a module, so that its tests are skipped, as conditions."""
    statements = [node for node in body if not isinstance(node, DEFINITIONS)]
    for part in (part for node in statements for part in ast.walk(node)):
        match part:
            case ast.Call(func=function) if last_name(function) in {"skip", "importorskip"}:
                if "mark" not in ast.unparse(function):
                    yield named("without", [part])
            case ast.Raise(exc=ast.expr() as raised) if "Skip" in ast.unparse(raised):
                yield named("without", [raised])
            case _:
                pass


def silencers(tree: ast.Module) -> Iterator[str]:
    """Give, as text, what may take tests of other files out of the run."""
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id="collect_ignore" | "collect_ignore_glob")]):
                yield ast.unparse(node)
            case ast.FunctionDef(name=name) if _HOOKS.fullmatch(name):
                yield ast.unparse(node)
            case ast.FunctionDef() if is_fixture(node) and is_autouse(node):
                if _names_off(node):
                    yield ast.unparse(node)
            case _:
                pass


def is_fixture(node: Function) -> bool:
    """Tell whether a function is a fixture of pytest."""
    return any(
        last_name(one.func if isinstance(one, ast.Call) else one).endswith("fixture")
        for one in node.decorator_list
    )


def is_autouse(node: Function) -> bool:
    """Tell whether a fixture is used without being named."""
    return any("autouse=True" in ast.unparse(one) for one in node.decorator_list)


def _names_off(node: ast.AST) -> bool:
    names = (last_name(one) for one in ast.walk(node) if isinstance(one, ast.Name | ast.Attribute))
    return any(map(_OFF.fullmatch, names))


def _has_fewer_examples(mark: ast.expr) -> bool:
    if not isinstance(mark, ast.Call) or last_name(mark.func) != "settings":
        return False
    numbers = [one.value for one in mark.keywords if one.arg == "max_examples"]
    return any(
        isinstance(one, ast.Constant) and isinstance(one.value, int) and one.value < _OWN_EXAMPLES
        for one in numbers
    )


def _argument_names(node: ast.expr) -> list[str]:
    match node:
        case ast.Constant(value=str(text)):
            return [name.strip() for name in text.split(",") if name.strip()]
        case ast.Tuple(elts=elts) | ast.List(elts=elts):
            return [str(one.value) for one in elts if isinstance(one, ast.Constant)]
        case _:
            return []


def _own_nodes(node: Function) -> Iterator[ast.AST]:
    waiting: list[ast.AST] = list(node.body)
    while waiting:
        one = waiting.pop()
        yield one
        if not isinstance(one, (*DEFINITIONS, ast.Lambda)):
            waiting.extend(ast.iter_child_nodes(one))
