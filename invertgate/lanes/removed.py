"""What a patch's Python files lose of assertions and property ids, as their trees tell."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from invertgate.lanes.assertions import Circumstances, Removal, Version, removals
from invertgate.lanes.facts import PathFacts, ProbeFacts
from invertgate.lanes.paths import PathClass, is_collected
from invertgate.lanes.production import (
    Sides,
    by_old_path,
    defined_names,
    deleted_with_product,
    lost_asserts,
    property_ids,
)
from invertgate.lanes.units import Module, read_tests
from invertgate.model import NotParsed
from invertgate.outcomes.source import Source, parse, room_for_deep_trees

_NO_TESTS = frozenset({PathClass.PRODUCTION, PathClass.NEUTRAL})


@dataclass(frozen=True, slots=True)
class Removed:
    """What is gone, and what could not be compared."""

    assertions: tuple[Removal, ...]
    properties: tuple[tuple[str, str], ...]
    """Paths, and the ids that they had."""
    not_compared: tuple[tuple[str, str], ...]
    """Paths, and why they cannot be compared at all."""
    compared: frozenset[str]
    """Paths of which nothing else has to be asked."""


def removed_from_trees(facts: ProbeFacts) -> Removed:
    """Compare the Python files of a patch.

    Args:
        facts: What git says of the patch. Neutral files hold nothing that could be removed.
    """
    python = [one for one in facts.paths if _is_python(one)]
    read = {one.path: _sides(one) for one in python}
    files = [sides for sides in read.values() if isinstance(sides, Sides)]
    broken = {path: error for path, error in read.items() if isinstance(error, NotParsed)}
    kinds = {one.path: one.old_kind for one in python}
    production = [one for one in files if kinds[one.path] in _NO_TESTS]
    tests = [one for one in files if kinds[one.path] not in _NO_TESTS]
    try:
        with room_for_deep_trees():
            lost = (*_lost_in_tests(facts, tests, production), *_lost_in(production))
            ids = tuple(_lost_ids(tests, production))
    except RecursionError:
        deep = ((one.path, "nested too deeply to be compared") for one in files)
        return Removed((), (), (*_told(facts.paths, broken), *deep), frozenset())
    return Removed(
        lost,
        ids,
        tuple(_told(facts.paths, broken)),
        frozenset(one.path for one in files if one.old_path.endswith(".py")),
    )


def _is_python(file: PathFacts) -> bool:
    neutral = {file.kind, file.old_kind} == {PathClass.NEUTRAL}
    return not neutral and any(source is not None for source in _sources(file))


def _sources(file: PathFacts) -> tuple[bytes | None, bytes | None]:
    """Give what is Python of the head and of the base."""
    return (
        file.head if file.path.endswith(".py") else None,
        file.base if file.old_path.endswith(".py") else None,
    )


def _sides(file: PathFacts) -> Sides | NotParsed:
    """Parse both versions; the error of the head's, if there are two."""
    read: list[Source | None] = []
    for source in _sources(file):
        parsed = None if source is None else parse(file.path, source)
        if isinstance(parsed, NotParsed):
            return parsed
        read.append(parsed)
    head, base = read
    return Sides(file.path, file.old_path, base, head)


def _told(paths: Iterable[PathFacts], broken: dict[str, NotParsed]) -> Iterator[tuple[str, str]]:
    """Say which files cannot be classified: what was no Python before is read by its lines."""
    for one in paths:
        if one.path not in broken or one.head is None or one.kind is PathClass.FIXTURE:
            continue
        head = parse(one.path, one.head)
        if isinstance(head, NotParsed):
            yield one.path, f"line {head.line}: no Python ({head.message})"


def _lost_in_tests(
    facts: ProbeFacts, tests: Sequence[Sides], production: Sequence[Sides]
) -> tuple[Removal, ...]:
    if not tests:
        return ()
    before = defined_names(one.base for one in production)
    after = defined_names(one.head for one in production)
    around = Circumstances(
        by_old_path(tests),
        before - after,
        after - before,
        deleted_with_product(tests, production),
    )
    unchanged = tuple(_unchanged(facts))
    base = (
        read_tests(one.old_path, one.base_source, collected=True)
        for one in tests
        if one.base_source is not None
    )
    head = (
        read_tests(one.path, one.head_source, collected=_is_still_collected(one))
        for one in tests
        if one.head_source is not None
    )
    return removals(Version(tuple(base), unchanged), Version(tuple(head), unchanged), around)


def _is_still_collected(file: Sides) -> bool:
    """Tell whether pytest runs the tests of a file, if it ran those of the file that it was."""
    return is_collected(file.path) or (file.base is not None and file.path == file.old_path)


def _unchanged(facts: ProbeFacts) -> Iterator[Module]:
    for path, source in facts.unchanged:
        parsed = parse(path, source)
        if not isinstance(parsed, NotParsed):
            yield read_tests(path, parsed, collected=True)


def _lost_in(production: Sequence[Sides]) -> Iterator[Removal]:
    return (Removal(one.path, one.line, one.text) for one in lost_asserts(production))


def _lost_ids(tests: Sequence[Sides], production: Sequence[Sides]) -> Iterator[tuple[str, str]]:
    files = [(one, True) for one in tests] + [(one, False) for one in production]
    kept = {name for file, is_test in files for name in property_ids(file.head, with_texts=is_test)}
    for file, is_test in files:
        for name in sorted(property_ids(file.base, with_texts=is_test) - kept):
            yield file.old_path, name
