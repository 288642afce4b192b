"""Is a patch narrow enough to be looked at? Every reason against it, from git's facts alone."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from invertgate.config import Config
from invertgate.lanes.facts import Content, PathFacts, ProbeFacts, collect_facts
from invertgate.lanes.paths import PathClass, is_ci, is_policy, is_snapshot
from invertgate.lanes.policy import policy_change
from invertgate.lanes.removed import removed_from_trees
from invertgate.options import Assertions

__all__ = [
    "PathFacts",
    "ProbeFacts",
    "ProbeLimits",
    "ProbeResult",
    "Reason",
    "ReasonKind",
    "collect_facts",
    "limits_of",
    "probe",
]

_ASSERTION: Final = re.compile(rb"assert|expect\(")
_PROPERTY: Final = re.compile(rb"prop_")
_SHOWN: Final = 100  # characters of a line


class ReasonKind(StrEnum):
    """Why a patch is rejected."""

    NO_BASE = "no base"
    TOO_LONG = "too long"
    FIXTURE_AND_TEST = "fixture and test"
    ASSERTION = "assertion removed"
    PROPERTY = "property removed"
    UNCOUNTABLE = "uncountable"
    POLICY = "policy"
    CI = "continuous integration"
    UNCLASSIFIED = "unclassified"


@dataclass(frozen=True, slots=True)
class Reason:
    """One thing that speaks against a patch."""

    kind: ReasonKind
    text: str
    path: str = ""
    """Where; empty if it is the patch as a whole."""

    def __str__(self) -> str:
        return f"{self.path}: {self.text}" if self.path else self.text


@dataclass(frozen=True, slots=True)
class ProbeLimits:
    """What the policy allows."""

    line_cap: int
    assertions: Assertions = Assertions.TREE


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """Everything that speaks against a patch."""

    reasons: tuple[Reason, ...] = ()

    @property
    def rejected(self) -> bool:
        """Tell whether anything does."""
        return bool(self.reasons)


def limits_of(config: Config) -> ProbeLimits:
    """Take the limits out of the options."""
    return ProbeLimits(config.line_cap, config.assertions)


def probe(facts: ProbeFacts, limits: ProbeLimits) -> ProbeResult:
    """Judge whether a patch is narrow enough.

    Args:
        facts: What git says of it.
        limits: What the policy allows.

    Returns:
        Every reason against it, not just the first.
    """
    if not facts.base:
        return ProbeResult((Reason(ReasonKind.NO_BASE, "there is no base to compare with"),))
    reasons = (
        *_length(facts.paths, limits.line_cap),
        *_mixture(facts.paths),
        *_assertions(facts, limits.assertions),
        *_uncountable(facts),
        *_rules(facts.paths),
        *_unclassified(facts.paths),
    )
    return ProbeResult(tuple(dict.fromkeys(reasons)))


def _length(paths: Sequence[PathFacts], cap: int) -> Iterator[Reason]:
    counted = [one for one in paths if not one.is_generated]
    total = sum((one.added or 0) + (one.deleted or 0) for one in counted)
    if total > cap:
        largest = max(counted, key=lambda one: (one.added or 0) + (one.deleted or 0))
        yield Reason(
            ReasonKind.TOO_LONG,
            f"{total} lines are added and deleted, {cap} are allowed; most of them in "
            f"{largest.path}: split the patch",
        )


def _mixture(paths: Sequence[PathFacts]) -> Iterator[Reason]:
    fixture = _first_of(paths, PathClass.FIXTURE)
    test = _first_of(paths, PathClass.TEST)
    if fixture and test:
        yield Reason(
            ReasonKind.FIXTURE_AND_TEST,
            f"a fixture ({fixture}) and a test ({test}) change in one patch: split it",
        )


def _first_of(paths: Iterable[PathFacts], kind: PathClass) -> str:
    for one in paths:
        for name, its_kind in ((one.path, one.kind), (one.old_path, one.old_kind)):
            if its_kind is kind:
                return name
    return ""


def _assertions(facts: ProbeFacts, how: Assertions) -> Iterator[Reason]:
    by_lines = list(facts.paths)
    if how is Assertions.TREE:
        removed = removed_from_trees(facts)
        yield from (
            Reason(ReasonKind.ASSERTION, f"line {one.line}: {one.text}", one.path)
            for one in removed.assertions
        )
        yield from (
            Reason(ReasonKind.PROPERTY, f"{name} is gone", path)
            for path, name in removed.properties
        )
        yield from (
            Reason(ReasonKind.UNCLASSIFIED, text, path) for path, text in removed.not_compared
        )
        by_lines = [one for one in by_lines if one.path not in removed.compared]
        yield from _snapshots(facts.paths)
    for one in by_lines:
        yield from _removed_lines(one, ReasonKind.ASSERTION, _ASSERTION.search)
        yield from _removed_lines(one, ReasonKind.PROPERTY, _PROPERTY.search)


def _snapshots(paths: Iterable[PathFacts]) -> Iterator[Reason]:
    """Name stored snapshots that say something else now: they are what tests assert."""
    for one in paths:
        if one.deleted and is_snapshot(one.old_path):
            yield Reason(ReasonKind.ASSERTION, "a stored snapshot says something else", one.path)


def _removed_lines(
    file: PathFacts, kind: ReasonKind, speaks_of: Callable[[bytes], object]
) -> Iterator[Reason]:
    lines = [line for line in file.removed if speaks_of(line)]
    if lines:
        more = f", and {len(lines) - 1} more" if len(lines) > 1 else ""
        shown = lines[0].decode(errors="replace").strip()[:_SHOWN]
        yield Reason(kind, f"a removed line reads `{shown}`{more}", file.old_path)


def _uncountable(facts: ProbeFacts) -> Iterator[Reason]:
    for one in facts.paths:
        counted = one.added is not None and one.deleted is not None
        if not counted and not one.is_generated:
            yield Reason(
                ReasonKind.UNCOUNTABLE,
                "git does not count its lines (binary, or called so by an attribute); "
                "if a program writes it, name it in tool.invertgate.generated",
                one.path,
            )
    for path in facts.hidden:
        yield Reason(
            ReasonKind.UNCOUNTABLE,
            "git was told to take it for unchanged; "
            "undo it with git update-index --no-assume-unchanged",
            path,
        )


def _rules(paths: Iterable[PathFacts]) -> Iterator[Reason]:
    """Find what changes the rules by which patches are judged."""
    for one in paths:
        for name, kind in dict.fromkeys(((one.path, one.kind), (one.old_path, one.old_kind))):
            if is_ci(name):
                yield Reason(ReasonKind.CI, "says what continuous integration does", name)
            elif is_policy(name) and kind is not PathClass.FIXTURE:
                yield Reason(ReasonKind.POLICY, "holds policy, which a person must change", name)
        if PathClass.FIXTURE not in {one.kind, one.old_kind}:
            yield from (Reason(ReasonKind.POLICY, text, one.path) for text in policy_change(one))


def _unclassified(paths: Iterable[PathFacts]) -> Iterator[Reason]:
    for one in paths:
        if one.content is not Content.FILE:
            yield Reason(
                ReasonKind.UNCLASSIFIED,
                f"a {one.content}, of which the patch does not show what it brings"
                if one.content is not Content.REPOSITORY
                else f"{one.content}, of which the patch does not show what it brings",
                one.path,
            )
