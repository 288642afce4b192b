"""What would help with a row: the shortest sentences that its evidence proves. Pure."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from invertgate.evidence.bodies import Body
from invertgate.model import Ending, Killer, Kind, Run, Side, Verdict

PASSES_ON_BASE: Final = (
    "the test also passes on the base's source: it does not show what this patch changes"
)
_OTHER_SIDE: Final = {Side.TRUE: Side.FALSE, Side.FALSE: Side.TRUE}
_IN_NEED: Final = frozenset(
    (
        Verdict.WEAK,
        Verdict.UNREACHED,
        Verdict.UNBOUND,
        Verdict.UNCOLLECTED,
        Verdict.RED,
        Verdict.UNPROVEN,
        Verdict.QUARANTINED,
        Verdict.EXTERNAL,
        Verdict.LOCKED_OUT,
    )
)


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known of a row and of the test that claims it."""

    verdict: Verdict
    kind: Kind
    predicate: str
    side: Side
    test: str = ""
    runs: tuple[Run, ...] = ()
    nearest: tuple[str, ...] = ()
    """Collected nodeids that an uncollected claim could mean."""
    body: Body | None = None
    """What the test holds, or None if that could not be seen."""
    ends_alike: bool = False
    """Nothing differs after the decision, whichever side is taken."""
    takes_other_side: bool | None = None
    """The test takes the other side of the decision; None if nobody looked, or there is none."""
    passes_on_base: bool | None = None
    """None if nobody asked."""
    killers: tuple[str, ...] = ()
    """Other tests that were tried on the inverted outcome, and notice."""
    takers: int | None = None
    """How many tests were seen to take the outcome; None if nobody looked."""


Rule = Callable[[Evidence], str]
"""A sentence, or nothing where the evidence does not prove it."""


def advice(evidence: Evidence) -> tuple[str, ...]:
    """Say what would help, the most useful first.

    Args:
        evidence: What is known.

    Returns:
        Sentences; none where nothing is in need of help.
    """
    return tuple(said for rule in RULES if (said := rule(evidence)))


def _another_kills(known: Evidence) -> str:
    if known.verdict not in _IN_NEED or not known.killers:
        return ""
    return f"`{known.killers[0]}` notices: name it in the table"


def _ends_alike(known: Evidence) -> str:
    if known.verdict is not Verdict.WEAK or not known.ends_alike:
        return ""
    return "both sides end alike: no test can tell them apart; leave the `if` out, or waive the row"


def _any_error_satisfies(known: Evidence) -> str:
    if known.verdict is not Verdict.WEAK or known.body is None or not known.body.any_error:
        return ""
    return (
        f"line {known.body.any_error[0]} of the test expects `Exception`, and any error satisfies "
        "it: expect the type that is meant, with `match=`"
    )


def _swallowed(known: Evidence) -> str:
    if known.verdict is not Verdict.WEAK or known.body is None or not known.body.swallows:
        return ""
    return (
        f"line {known.body.swallows[0]} of the test takes any exception and does nothing about it: "
        "let it through"
    )


def _asserts_nothing(known: Evidence) -> str:
    is_seen = known.body is not None and not known.body.asserts
    if known.verdict is not Verdict.WEAK or not is_seen or _only_exceptions(known):
        return ""
    return "the test asserts nothing: assert what the code returns or does"


def _asserts_constants(known: Evidence) -> str:
    if known.verdict is not Verdict.WEAK or known.body is None or not known.body.constant:
        return ""
    return f"line {known.body.constant[0]} of the test asserts what is always true"


def _only_exceptions(known: Evidence) -> str:
    kills = [run for run in known.runs if run.inverted and run.ending is Ending.FAILED]
    is_crash = kills and all(run.killer is Killer.EXCEPTION for run in kills)
    if known.verdict not in {Verdict.WEAK, Verdict.BOUND} or not is_crash:
        return ""
    crash = kills[0].exception or "an exception"
    if known.body is not None and not known.body.asserts:
        return f"the test asserts nothing; only {crash} out of the code lets it fail"
    if known.verdict is Verdict.BOUND:
        return ""
    return f"only {crash} out of the code lets the test fail: assert what is to come out of it"


def _assertions_hold(known: Evidence) -> str:
    stayed_green = [run for run in known.runs if run.inverted and run.ending is Ending.PASSED]
    if known.verdict is not Verdict.WEAK or not stayed_green:
        return ""
    better = (_ends_alike, _any_error_satisfies, _swallowed, _asserts_nothing, _asserts_constants)
    if any(rule(known) for rule in better):
        return ""
    return "what the test asserts holds on both sides: assert something that differs between them"


def _other_side_only(known: Evidence) -> str:
    if known.verdict is not Verdict.UNREACHED or known.side not in _OTHER_SIDE:
        return ""
    if known.takes_other_side:
        value = known.side == Side.TRUE
        return (
            f"the test takes the {_OTHER_SIDE[known.side]} side only: give it something for which "
            f"`{known.predicate}` is {value}"
        )
    if known.takes_other_side is False:
        return f"the test never comes to `{known.predicate}`"
    return ""


def _never_raised(known: Evidence) -> str:
    if known.verdict is not Verdict.UNREACHED or known.kind is not Kind.EXCEPT:
        return ""
    return f"in the test nothing is raised that `{known.predicate}` gets to take"


def _nobody_takes(known: Evidence) -> str:
    if known.verdict not in {Verdict.UNREACHED, Verdict.UNBOUND} or known.killers:
        return ""
    if known.takers == 0:
        return "no test that was run takes the outcome: write one"
    if known.takers and known.verdict is Verdict.UNBOUND:
        return "the tests that take the outcome do not notice: assert what differs, or write one"
    return ""


def _nearest(known: Evidence) -> str:
    if known.verdict is not Verdict.UNCOLLECTED or len(known.nearest) != 1:
        return ""
    return f"pytest collects `{known.nearest[0]}`: name that"


def _red(known: Evidence) -> str:
    if known.verdict is not Verdict.RED or not known.runs:
        return ""
    return "the test does not pass although nothing is inverted: mend it first"


def _endless(known: Evidence) -> str:
    inverted = [run for run in known.runs if run.inverted]
    is_endless = inverted and all(run.ending is Ending.CPU for run in inverted)
    if known.verdict is not Verdict.UNPROVEN or not is_endless:
        return ""
    return (
        "inverted, the code does not come to an end: claim a test that fails before that, or let "
        'the merge base say `timeout = "kill"`'
    )


def _passes_on_base(known: Evidence) -> str:
    return PASSES_ON_BASE if known.passes_on_base else ""


RULES: Final[Sequence[Rule]] = (
    _another_kills,
    _ends_alike,
    _any_error_satisfies,
    _swallowed,
    _asserts_nothing,
    _asserts_constants,
    _only_exceptions,
    _assertions_hold,
    _other_side_only,
    _never_raised,
    _nobody_takes,
    _nearest,
    _red,
    _endless,
    _passes_on_base,
)
"""In the order in which they are said."""
