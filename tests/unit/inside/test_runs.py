import marshal

from invertgate.inside.limits import Limits
from invertgate.inside.runs import Order, asked
from invertgate.inside.settings import Boot

LIMITS = Limits(cpu=2.0, wall=30.0, memory=1 << 30)
NOTHING = Boot("/scratch", "/original", "shop", [], [], slots=6).nothing()


def test_control_is_asked_for_like_an_inverted_run() -> None:
    control, inverted = told(()), told((4,))

    assert (*control[:2], len(control[2]), *control[3:]) == (*inverted[:2], 1, *inverted[3:])


def test_what_is_inverted_in_a_control_is_no_slot_of_an_outcome() -> None:
    assert set(NOTHING).isdisjoint(range(6))


def told(slots: tuple[int, ...]) -> tuple[int, str, tuple[int, ...], float]:
    request = asked(7, Order("t", slots, cold=False, limits=LIMITS), NOTHING)
    content: tuple[int, str, tuple[int, ...], float] = marshal.loads(request)  # noqa: S302
    return content
