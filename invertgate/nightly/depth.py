"""What mutmut's operators make of the predicates and bodies of rows; the one caller of mutmut."""

# What is imported within functions is needed only by those who ask for depth.
# ruff: noqa: PLC0415

import ast
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import chain, zip_longest
from typing import TYPE_CHECKING, Final

from invertgate.errors import UsageError
from invertgate.inside.vary import STATEMENT
from invertgate.model import Outcome
from invertgate.nightly.regions import Position, Region, regions_of

if TYPE_CHECKING:
    import libcst

    from invertgate.nightly.depth_sites import Site

    Operator = Callable[[libcst.CSTNode], Iterable[libcst.CSTNode]]
    Operators = Sequence[tuple[type[libcst.CSTNode], Operator]]

INTERFACE: Final = ("mutmut.mutation.mutators", "mutation_operators")
"""Where mutmut 3.8 keeps pairs of a node's type and a function that yields what may replace it."""
PINNED: Final = "mutmut>=3.8,<3.9"

_SAMPLE: Final = ("a < 1", "a <= 1")
_SHOWN: Final = 60
_BINDING: Final = (ast.Yield, ast.YieldFrom, ast.NamedExpr)
"""What makes of its function another one by merely standing in it."""

Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Variant:
    """Another version of a part of a file."""

    line: int
    before: str
    """What mutmut changes, as short as it can be said."""
    after: str
    statement: Position
    """Where the statement stands that the part is of."""
    part: str
    """All of it, or an expression in its head (see ``inside.vary``)."""
    text: str
    """The part's other version."""
    is_predicate: bool


@dataclass(frozen=True, slots=True)
class Chosen:
    """Variants of one row."""

    variants: tuple[Variant, ...]
    left_out: int = 0
    """How many more there would be."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A node, and what an operator would put in its place."""

    region: Region
    site: "Site"
    replacement: "libcst.CSTNode"

    @property
    def place(self) -> tuple[Position, str]:
        return (self.site.statement, self.site.part)


def operators() -> "Operators":
    """Return mutmut's operators.

    Raises:
        UsageError: mutmut is not there, or keeps them in another place or form than it did.
    """
    module, name = INTERFACE
    try:
        found: Operators = tuple(getattr(import_module(module), name))
        works = _SAMPLE[1] in _of_sample(found)
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        raise UsageError(_moved(str(error))) from error
    if not works:
        raise UsageError(_moved(f"they do not turn `{_SAMPLE[0]}` into `{_SAMPLE[1]}`"))
    return found


def _moved(why: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        there = f"mutmut {version('mutmut')} keeps the operators that --deep uses elsewhere"
    except PackageNotFoundError:
        there = "--deep uses the operators of mutmut, which is not installed"
    return f"{there} ({why}); pip install '{PINNED}'"


def _of_sample(found: "Operators") -> list[str]:
    import libcst

    node = libcst.parse_expression(_SAMPLE[0])
    assert isinstance(node, libcst.Comparison)  # noqa: S101
    module = libcst.Module(())
    return [
        module.code_for_node(node.with_changes(comparisons=(replacement,)))
        for replacement in _replacements(node.comparisons[0], found)
    ]


def _replacements(node: "libcst.CSTNode", found: "Operators") -> Iterator["libcst.CSTNode"]:
    for kind, operator in found:
        if isinstance(node, kind):
            yield from operator(node)


class NotReadError(Exception):
    """libcst cannot read a file that Python can; the message says why."""


def variants(
    source: bytes,
    outcomes: Sequence[Outcome],
    wanted: Collection[Key],
    most: int,
    found: "Operators",
) -> Mapping[Key, Chosen]:
    """Choose other versions of the predicates and bodies of rows.

    What stands in the body of a row within a row is the inner one's.

    Args:
        source: The file.
        outcomes: All its new outcomes.
        wanted: The rows that are asked about.
        most: Variants of one row, at most.
        found: What :func:`operators` returned.

    Returns:
        For each row that has any, by path and id.

    Raises:
        NotReadError: libcst cannot read the file.
    """
    import libcst

    regions = regions_of(ast.parse(source), outcomes)
    try:
        module = libcst.parse_module(source)
        candidates = _candidates(module, regions.innermost, wanted, found)
    except Exception as error:  # whatever libcst trips over is no reason to stop
        raise NotReadError(f"{type(error).__name__}: {error}".splitlines()[0]) from error
    by_row: dict[Key, list[_Candidate]] = {}
    for candidate in candidates:
        by_row.setdefault(candidate.region.outcome.key, []).append(candidate)
    return {key: _chosen(module, each, most) for key, each in by_row.items()}


def _candidates(
    module: "libcst.Module",
    innermost: Callable[[Position], Region | None],
    wanted: Collection[Key],
    found: "Operators",
) -> list[_Candidate]:
    from invertgate.nightly.depth_sites import Sites

    placed = ((site, innermost(site.position)) for site in Sites.of(module))
    return [
        _Candidate(region, site, replacement)
        for site, region in placed
        if region is not None and region.outcome.key in wanted
        for replacement in _tried(site.node, found)
    ]


def _tried(node: "libcst.CSTNode", found: "Operators") -> list["libcst.CSTNode"]:
    """Ask the operators; one that stumbles over a node has nothing to say of it."""
    try:
        return list(_replacements(node, found))
    except Exception:  # noqa: BLE001  # code of others, on any source
        return []


def _chosen(module: "libcst.Module", candidates: Sequence[_Candidate], most: int) -> Chosen:
    made: list[Variant] = []
    known: set[tuple[tuple[Position, str], str]] = set()
    left_out = 0
    for candidate in _in_order(candidates):
        if len(made) == most:
            left_out += 1
            continue
        variant = _variant(module, candidate)
        if variant is not None and (candidate.place, variant.text) not in known:
            known.add((candidate.place, variant.text))
            made.append(variant)
    return Chosen(tuple(made), left_out)


def _in_order(candidates: Sequence[_Candidate]) -> Iterator[_Candidate]:
    """Put predicates first, then one of each statement in turn; texts come last."""
    import libcst

    def is_text(each: _Candidate) -> bool:
        return isinstance(each.site.node, libcst.BaseString)

    yield from (each for each in candidates if each.region.is_predicate and not is_text(each))
    rest = [each for each in candidates if not each.region.is_predicate and not is_text(each)]
    by_place: dict[tuple[Position, str], list[_Candidate]] = {}
    for each in rest:
        by_place.setdefault(each.place, []).append(each)
    turns = chain.from_iterable(zip_longest(*by_place.values()))
    yield from (each for each in turns if each is not None)
    yield from (each for each in candidates if is_text(each))


def _variant(module: "libcst.Module", candidate: _Candidate) -> Variant | None:
    """Write a candidate down; None if it is not Python, or not just another version."""
    import libcst

    site = candidate.site
    if site.node is site.whole:
        replaced = candidate.replacement
    else:
        changed = site.whole.deep_replace(site.node, candidate.replacement)
        assert isinstance(changed, libcst.CSTNode)  # noqa: S101  # a node within was replaced
        replaced = changed
    before, text = _code(module, site.whole), _code(module, replaced)
    mode = "exec" if site.part == STATEMENT else "eval"
    if not _is_version(before, text, mode, in_function=site.in_function):
        return None
    old, new = _said(module, candidate)
    return Variant(
        site.position[0],
        old,
        new,
        site.statement,
        site.part,
        text,
        candidate.region.is_predicate,
    )


def _code(module: "libcst.Module", node: "libcst.CSTNode") -> str:
    return module.code_for_node(node).strip().rstrip(";").rstrip()


def _is_version(before: str, after: str, mode: str, *, in_function: bool) -> bool:
    """Tell whether a text is Python, says something else, and leaves its function what it is."""
    try:
        old, new = (_parsed(text, mode) for text in (before, after))
    except (SyntaxError, ValueError):
        return False
    if ast.dump(old) == ast.dump(new) or (mode == "exec" and _statements(new) != 1):
        return False
    if not in_function and _count(new, (ast.Return,)):
        return False
    if _count(new, _BINDING) < _count(old, _BINDING):
        return False
    awaits = _count(new, (ast.Await,)) < _count(old, (ast.Await,))
    return not (awaits and _count(old, (ast.GeneratorExp,)))


def _parsed(text: str, mode: str) -> ast.AST:
    return ast.parse(text) if mode == "exec" else ast.parse(f"({text}\n)", mode="eval")


def _statements(tree: ast.AST) -> int:
    return len(tree.body) if isinstance(tree, ast.Module) else 0


def _count(tree: ast.AST, kinds: tuple[type[ast.AST], ...]) -> int:
    return sum(isinstance(node, kinds) for node in ast.walk(tree))


def _said(module: "libcst.Module", candidate: _Candidate) -> tuple[str, str]:
    """Return what is changed, without what both have in common if they are long."""
    old, new = (
        " ".join(_code(module, node).replace(", )", ")").split())
        for node in (candidate.site.node, candidate.replacement)
    )
    if max(len(old), len(new)) <= _SHOWN:
        return old, new
    same = next(
        (place for place, (a, b) in enumerate(zip(old, new, strict=False)) if a != b),
        min(len(old), len(new)),
    )
    start = max(0, same - _SHOWN // 3)
    return _cut(old, start), _cut(new, start)


def _cut(text: str, start: int) -> str:
    shown = text[start : start + _SHOWN]
    return f"{'…' if start else ''}{shown}{'…' if start + _SHOWN < len(text) else ''}"
