"""Which function of the head is which function of the base, also under a new name or elsewhere."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from invertgate.lanes.units import Role, Unit

Texts = Callable[[Unit], Counter[str]]
"""What a function asserts, as texts."""


def paired(
    base: Sequence[Unit], head: Sequence[Unit], renames: Mapping[str, str], texts: Texts
) -> dict[Unit, Unit]:
    """Pair functions: by place and name, then by name, then by what they assert.

    Args:
        base: The functions as they were.
        head: As they are.
        renames: New paths of files that were renamed, by their old ones.
        texts: What a function asserts.

    Returns:
        The function of the head for each of the base that is still there.
    """
    found: dict[Unit, Unit] = {}
    _by(found, base, head, lambda unit: (renames.get(unit.path, unit.path), unit.name))
    _by(found, base, head, lambda unit: ("", unit.name))
    _by(found, base, head, lambda unit: ("", unit.last_name))
    _by_content(found, base, head, texts)
    return found


def _by(
    found: dict[Unit, Unit],
    base: Iterable[Unit],
    head: Iterable[Unit],
    key: Callable[[Unit], tuple[str, str]],
) -> None:
    """Pair what has the same key, where only one of each side has it."""
    before, after = _left(found, base), _left_of_head(found, head)
    left = Counter(map(key, before))
    right = Counter(map(key, after))
    by_key = {key(unit): unit for unit in after}
    for unit in before:
        name = key(unit)
        if left[name] == right[name] == 1 and _can_be(unit, by_key[name]):
            found[unit] = by_key[name]


def _by_content(
    found: dict[Unit, Unit], base: Iterable[Unit], head: Iterable[Unit], texts: Texts
) -> None:
    after = _left_of_head(found, head)
    for unit in _left(found, base):
        if not after:
            return
        own = texts(unit)
        best = max(after, key=lambda one: (_can_be(unit, one), (own & texts(one)).total()))
        if _can_be(unit, best) and (own & texts(best)).total():
            found[unit] = best
            after.remove(best)


def _can_be(base: Unit, head: Unit) -> bool:
    """Tell whether one may stand for the other: what is run stays something that is run."""
    return (base.role is Role.TEST) == (head.role is Role.TEST)


def _left(found: Mapping[Unit, Unit], base: Iterable[Unit]) -> list[Unit]:
    return [unit for unit in base if unit not in found]


def _left_of_head(found: Mapping[Unit, Unit], head: Iterable[Unit]) -> list[Unit]:
    taken = set(found.values())
    return [unit for unit in head if unit not in taken]
