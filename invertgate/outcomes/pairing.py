"""Pair the decisions of head with those of base; what head has left is new."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from invertgate.model import Kind
from invertgate.outcomes.expression import write
from invertgate.outcomes.moved import Move, moves
from invertgate.outcomes.walk import Decision, Walk, extent


@dataclass(frozen=True, slots=True)
class Pairing:
    """What is left of a file when equal decisions of base and head are taken away."""

    new: tuple[Decision, ...]
    """Decisions of head, in their order."""
    ambiguous: frozenset[Decision]
    """Those of the new ones that may just as well be old."""
    missing: tuple[Decision, ...]
    """Decisions of base that head has no more."""


class Predicates:
    """The texts of predicates, each written once."""

    def __init__(self) -> None:
        self._texts: dict[tuple[str | bytes, ...], str] = {}

    def of(self, decision: Decision) -> str:
        """Write the predicate of a decision."""
        raw = decision.raw
        text = self._texts.get(raw)
        if text is None:
            text = self._texts[raw] = write(decision.parts)
        return text

    def key(self, decision: Decision) -> tuple[Kind, str]:
        """Tell what two decisions must share to be equal; their sides go without saying."""
        return (decision.kind, self.of(decision))


def pair(base: Walk, head: Walk, added: frozenset[int], predicates: Predicates) -> Pairing:
    """Find the decisions of head that are new.

    A decision is paired as a whole, with all its sides: first within the function or class of the
    same qualified name, then between those that were renamed or moved.

    Args:
        base: The file before.
        head: The file after.
        added: Lines of head that git calls added.
        predicates: Writes the texts that are compared.

    Returns:
        What finds no partner.
    """
    rest = _Rest(added, predicates)
    old, new = _by_scope(base.decisions), _by_scope(head.decisions)
    for scope in old.keys() | new.keys():
        rest.pair(scope, old[scope], scope, new[scope])
    if any(scope not in base.scopes for scope in rest.new if scope) and rest.missing:
        rest.pair_moved(moves(base, head, added))
    return rest.pairing()


@dataclass(slots=True)
class _Rest:
    """What is left while pairing goes on."""

    added: frozenset[int]
    predicates: Predicates
    new: dict[str, list[Decision]] = field(default_factory=dict)
    missing: dict[str, list[Decision]] = field(default_factory=dict)
    ambiguous: set[Decision] = field(default_factory=set)

    def pair(
        self, old_scope: str, old: Sequence[Decision], new_scope: str, new: Sequence[Decision]
    ) -> None:
        """Pair two scopes; what they leave takes the place of what they had left before."""
        self.new.pop(new_scope, None)
        self.missing.pop(old_scope, None)
        if [decision.raw for decision in old] == [decision.raw for decision in new]:
            return  # equal sources are equal predicates, and as many of each
        olds, news = self._by_key(old), self._by_key(new)
        for key in olds.keys() | news.keys():
            fresh, doubtful = _which_are_new(olds[key], news[key], self.added)
            self.ambiguous |= doubtful
            if fresh:
                self.new.setdefault(new_scope, []).extend(fresh)
            if gone := olds[key][len(news[key]) :]:
                self.missing.setdefault(old_scope, []).extend(gone)

    def pair_moved(self, found: Iterable[Move]) -> None:
        """Pair scopes that were renamed or moved, and doubt what could have come from either."""
        doubts: list[tuple[list[Decision], Move]] = []
        for move in found:
            old, new = self.missing.get(move.base, []), self.new.get(move.head, [])
            self.pair(move.base, old, move.head, new)
            doubts.append((new, move))
        for new, move in doubts:
            for rival in move.rivals:
                self._doubt(move.head, new, rival)

    def _doubt(self, scope: str, decisions: Sequence[Decision], rival: str) -> None:
        left = self._by_key(self.new.get(rival, ()))
        still_new = set(self.new.get(scope, ()))
        for decision in decisions:
            equals = left[self.predicates.key(decision)]
            if equals and decision not in still_new:
                self.new.setdefault(scope, []).append(decision)
                self.ambiguous |= {decision, *equals}

    def pairing(self) -> Pairing:
        """Put in order what is left."""
        new = sorted((d for left in self.new.values() for d in left), key=_place)
        missing = sorted((d for left in self.missing.values() for d in left), key=_place)
        return Pairing(tuple(new), frozenset(self.ambiguous), tuple(missing))

    def _by_key(
        self, decisions: Iterable[Decision]
    ) -> defaultdict[tuple[Kind, str], list[Decision]]:
        groups: defaultdict[tuple[Kind, str], list[Decision]] = defaultdict(list)
        for decision in decisions:
            groups[self.predicates.key(decision)].append(decision)
        return groups


def _by_scope(decisions: Iterable[Decision]) -> defaultdict[str, list[Decision]]:
    groups: defaultdict[str, list[Decision]] = defaultdict(list)
    for decision in decisions:
        groups[decision.scope].append(decision)
    return groups


def _which_are_new(
    old: Sequence[Decision], new: Sequence[Decision], added: frozenset[int]
) -> tuple[Sequence[Decision], frozenset[Decision]]:
    """Choose among equal decisions of one scope, and tell which of the chosen are doubtful."""
    if len(new) <= len(old):
        return (), frozenset()
    if not old:
        return new, frozenset()
    suspects = [decision for decision in new if _is_added(decision, added)]
    unchanged = [decision for decision in new if not _is_added(decision, added)]
    if len(unchanged) > len(old):
        return new, frozenset(unchanged)
    if len(unchanged) < len(old):
        return suspects, frozenset(suspects)
    if _bodies_contradict(old, unchanged, suspects):
        return new, frozenset(new)
    return suspects, frozenset()


def _is_added(decision: Decision, added: frozenset[int]) -> bool:
    return any(line in added for line in range(decision.line, decision.header_end + 1))


def _bodies_contradict(
    old: Iterable[Decision], unchanged: Iterable[Decision], suspects: Iterable[Decision]
) -> bool:
    """Tell whether a body of base stands behind a decision that git calls added.

    Where equal lines follow one another, git's choice of the added ones is arbitrary.
    """
    lost = Counter(map(_body, old)) - Counter(map(_body, unchanged))
    return any(_body(decision) in lost for decision in suspects)


def _body(decision: Decision) -> tuple[bytes, ...]:
    return decision.lines.stripped(*extent(decision.taken)) if decision.taken else ()


def _place(decision: Decision) -> tuple[int, int, str]:
    return decision.place
