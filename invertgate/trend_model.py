"""What several reports say together: frozen, plain, for everybody who shows it."""

from dataclasses import dataclass, field

from invertgate.model import Verdict


@dataclass(frozen=True, slots=True)
class Night:
    """One report among those that are compared."""

    started: str
    """UTC, ISO 8601."""
    base: str
    counts: dict[Verdict, int] = field(default_factory=dict)
    """Rows by verdict."""
    cpu: float = 0.0
    """Seconds of CPU time."""


@dataclass(frozen=True, slots=True)
class RankedTest:
    """A test that stayed green although outcomes were inverted that it claims or takes."""

    test: str
    rows: tuple[str, ...]
    """The outcomes (``PATH:ID``)."""
    nights: int
    """For how many reports on end it has been weak, this one counted."""


@dataclass(frozen=True, slots=True)
class Moved:
    """A row that is not what it was the last time it was judged."""

    row: str
    """``PATH:ID``."""
    test: str
    was: Verdict | None
    """Null if it is seen for the first time."""
    now: Verdict


@dataclass(frozen=True, slots=True)
class FlakyRow:
    """A row that is judged now like this and now like that, with nothing changed."""

    row: str
    """``PATH:ID``."""
    test: str
    why: str


@dataclass(frozen=True, slots=True)
class SlowTest:
    """A test, and what one run of it takes."""

    test: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Trend:
    """What the last report says, and how it differs from those before."""

    series: str
    """Which reports are compared: those of ``sweep`` or those of ``run``."""
    machine: str
    """Platform and version of Python, which are the same in all of them."""
    nights: tuple[Night, ...]
    """The oldest first."""
    weak_tests: tuple[RankedTest, ...] = ()
    """The one that lets most outcomes pass first."""
    newly_weak: tuple[Moved, ...] = ()
    fixed: tuple[Moved, ...] = ()
    """Bound now, and not the last time."""
    flaky: tuple[FlakyRow, ...] = ()
    slowest: tuple[SlowTest, ...] = ()
    """At most ten."""
