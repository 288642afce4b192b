"""Tell which functions and classes were renamed, or moved within their file."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from invertgate.outcomes.walk import Walk

_ENOUGH = 0.5
"""How much of two bodies must be equal, as for git's renamed files."""


@dataclass(frozen=True, slots=True)
class Move:
    """A qualified name of base that is another one in head."""

    base: str
    head: str
    rivals: tuple[str, ...] = ()
    """Names of head that it could be just as well."""


@dataclass(frozen=True, slots=True, order=True)
class _Likeness:
    """How much speaks for a move; more is better."""

    share: float
    """Of the bytes of the longer body, those in lines that both have."""
    same_name: bool
    """As in a method that moved from one class to another."""
    unchanged: int
    """Lines of head's body that git does not call added."""


def moves(base: Walk, head: Walk, added: frozenset[int]) -> list[Move]:
    """Find the functions and classes that were renamed or moved.

    Args:
        base: The file before; names that head has as well did not move.
        head: The file after.
        added: Lines of head that git calls added.

    Returns:
        One name of head at most for a name of base, and the reverse; the most alike first.
    """
    likenesses = _likenesses(base, head, added)
    ranked = sorted(likenesses, key=likenesses.__getitem__, reverse=True)
    found: list[Move] = []
    gone: set[str] = set()
    taken: set[str] = set()
    for old, new in ranked:
        if old in gone or new in taken:
            continue
        rivals = (
            other
            for other in head.scopes
            if other != new
            and other not in taken
            and likenesses.get((old, other)) == likenesses[old, new]
        )
        found.append(Move(old, new, tuple(rivals)))
        gone.add(old)
        taken.add(new)
    return found


def _likenesses(base: Walk, head: Walk, added: frozenset[int]) -> dict[tuple[str, str], _Likeness]:
    old = {name: _body(base, name) for name in base.scopes if name not in head.scopes}
    new = {name: _body(head, name) for name in head.scopes if name not in base.scopes}
    unchanged = {name: _unchanged(head, name, added) for name in new}
    return {
        pair: _Likeness(share, _last(pair[0]) == _last(pair[1]), unchanged[pair[1]])
        for pair, share in _shares(old, new)
        if share >= _ENOUGH
    }


def _shares(
    old: dict[str, Counter[bytes]], new: dict[str, Counter[bytes]]
) -> Iterator[tuple[tuple[str, str], float]]:
    """Compare bodies that have a line in common, and no others."""
    where: defaultdict[bytes, list[str]] = defaultdict(list)
    for name, lines in new.items():
        for line in lines:
            where[line].append(name)
    sizes = {name: _size(lines) for name, lines in new.items()}
    for name, lines in old.items():
        common: Counter[str] = Counter()
        for line, count in lines.items():
            for other in where[line]:
                common[other] += len(line) * min(count, new[other][line])
        size = _size(lines)
        for other, equal in common.items():
            yield (name, other), equal / max(size, sizes[other])


def _body(walk: Walk, name: str) -> Counter[bytes]:
    stripped = (walk.source.lines.stripped(*lines) for lines in walk.scopes[name])
    return Counter(line for lines in stripped for line in lines)


def _size(lines: Counter[bytes]) -> int:
    return sum(len(line) * count for line, count in lines.items())


def _unchanged(walk: Walk, name: str, added: frozenset[int]) -> int:
    bodies = walk.scopes[name]
    return sum(line not in added for first, last in bodies for line in range(first, last + 1))


def _last(name: str) -> str:
    return name.rpartition(".")[2]
