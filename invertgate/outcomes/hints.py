"""Tell of a new outcome where an equal one went missing."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from invertgate.model import Kind


@dataclass(frozen=True, slots=True)
class Trace:
    """What is kept of a decision when its tree is gone."""

    file: str
    """Its file as head calls it."""
    path: str
    """Its file as a reader finds it: a missing decision stands in base."""
    line: int
    kind: Kind
    predicate: str
    loose: str
    """The predicate, its negations written in one way."""


class Hints:
    """Decisions that went missing; each explains one new decision at most."""

    def __init__(self, missing: Iterable[Trace]) -> None:
        self._exact: defaultdict[tuple[Kind, str], list[Trace]] = defaultdict(list)
        self._loose: defaultdict[tuple[Kind, str], list[Trace]] = defaultdict(list)
        for trace in missing:
            self._exact[trace.kind, trace.predicate].append(trace)
            self._loose[trace.kind, trace.loose].append(trace)
        self._used: set[Trace] = set()

    def take(self, new: Trace) -> str:
        """Explain a new decision, first by its own file; empty if nothing explains it."""
        if equal := self._free(self._exact[new.kind, new.predicate], new.file):
            return f"same as {equal.path}:{equal.line}"
        if alike := self._free(self._loose[new.kind, new.loose], new.file):
            return f"same as {alike.path}:{alike.line}, but for how `not` is written"
        return ""

    def _free(self, traces: Iterable[Trace], file: str) -> Trace | None:
        free = (trace for trace in traces if trace not in self._used)
        found = min(free, key=lambda trace: trace.file != file, default=None)
        if found:
            self._used.add(found)
        return found
