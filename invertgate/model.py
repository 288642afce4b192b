"""The nouns that cross the seams between stages: frozen, plain, without a stage's behaviour."""

from dataclasses import dataclass, field
from enum import StrEnum


class Kind(StrEnum):
    """The syntax that makes a decision."""

    IF = "if"
    EXCEPT = "except"
    TRY_ELSE = "try_else"
    MATCH = "match"
    FOR_ELSE = "for_else"
    WHILE_ELSE = "while_else"
    WHILE = "while"
    IFEXP = "ifexp"
    COMPREHENSION = "comprehension"


EXTRA_KINDS = (Kind.WHILE, Kind.IFEXP, Kind.COMPREHENSION)
"""Kinds that make rows only when the configuration asks for them."""


class Side(StrEnum):
    """One way a decision can go."""

    TRUE = "true"
    FALSE = "false"
    HANDLER = "handler"
    CASE = "case"
    ELSE = "else"


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A region of source as ``ast`` counts: lines from 1, UTF-8 columns from 0, end exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """One way a decision in one file can go.

    ``anchor`` says where the decision stands and, with ``kind``, is unique in its file. It is the
    span of the test for ``if``, ``while`` and ``ifexp``; of the filter for ``comprehension``; of
    the whole handler for ``except``; of the pattern for ``match``; of the whole compound statement
    for the three ``*_else`` kinds.
    """

    path: str
    """Relative to the top of the repository, with slashes."""
    id: str
    """12 hex digits; unique among the new outcomes of its file."""
    kind: Kind
    predicate: str
    """Canonical text, equal on every Python."""
    side: Side
    scope: str
    """Qualified name of the enclosing function or class (``Order.total``); empty in a module."""
    line: int
    """Where a reader looks: the keyword's (``if``, ``elif``, ``except``, ``case``, ``else``)."""
    anchor: Span
    body: tuple[int, int]
    """First and last line that run only if the outcome is taken; the decision's own lines where it
    has none of its own (an ``if`` without ``else``, a body on the decision's line)."""
    exempt: str = ""
    """Why no test has to be named, or empty."""
    ambiguous: bool = False
    """One of several equals of which it cannot be told which is new; all must be bound."""
    hint: str = ""
    """Where an equal outcome went missing (``same as lib/old.py:12``), or empty."""

    @property
    def key(self) -> tuple[str, str]:
        """What identifies it in a repository."""
        return (self.path, self.id)


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A file that differs between base and head; it may make rows, or explain where one is from."""

    path: str
    base_path: str | None
    """The path at base, another one after a rename; None if the file is new."""
    base: bytes | None
    head: bytes | None
    """None if the file was deleted."""
    added: frozenset[int]
    """Lines of head, from 1, that git calls added."""
    is_row_source: bool = True
    """False for files that only take part in hints (deleted ones, test files)."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A changed file that makes no rows, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Patch:
    """What is judged: the files that differ between a merge base and a head."""

    base: str
    """Commit id of the merge base; empty if whole files are judged (``run PATH``)."""
    base_name: str
    """How it was found, in words (``merge base with origin/main``)."""
    head: str
    """Commit id, or empty for the working tree."""
    files: tuple[ChangedFile, ...]
    left_out: tuple[LeftOut, ...] = ()
    notes: tuple[str, ...] = ()
    """What a reader should be told about how base and head were found."""


@dataclass(frozen=True, slots=True)
class NotParsed:
    """A changed file that could make rows and is no Python."""

    path: str
    line: int
    message: str


@dataclass(frozen=True, slots=True)
class OutcomeList:
    """The outcomes of head that base has not, exempt ones among them."""

    outcomes: tuple[Outcome, ...]
    files_examined: int
    outcomes_examined: int
    """All outcomes of head in those files, new or not."""
    not_parsed: tuple[NotParsed, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Shard:
    """One of the parts that a run is divided into."""

    index: int
    """From 1."""
    count: int

    def __str__(self) -> str:
        """Return it as users write it (``2/5``)."""
        return f"{self.index}/{self.count}"


class Verdict(StrEnum):
    """What the gate says of a row."""

    BOUND = "bound"
    WEAK = "weak"
    UNREACHED = "unreached"
    UNBOUND = "unbound"
    UNCOLLECTED = "uncollected"
    RED = "red"
    UNPROVEN = "unproven"
    QUARANTINED = "quarantined"
    EXTERNAL = "external"
    WAIVED = "waived"
    LEFTOVER = "leftover"
    INHERITED = "inherited"
    LOCKED_OUT = "locked_out"
    EXEMPT = "exempt"


class PolicySource(StrEnum):
    """Whose policies count: options that could loosen the gate, waivers, list of flaky tests."""

    BASE = "base"
    """The merge base's, so that a patch cannot excuse itself."""
    HEAD = "head"
    """The judged version's: a person has reviewed them, or there is no base."""


class ClaimSource(StrEnum):
    """Where a claim was made."""

    TABLE = "table"
    MARKER = "marker"


@dataclass(frozen=True, slots=True)
class Claim:
    """A test that is said to notice when an outcome goes wrong."""

    test: str
    """A nodeid, relative to the project's rootdir."""
    source: ClaimSource = ClaimSource.TABLE


@dataclass(frozen=True, slots=True)
class Row:
    """A new outcome, and the tests that claim it."""

    outcome: Outcome
    claims: tuple[Claim, ...] = ()


@dataclass(frozen=True, slots=True)
class Waiver:
    """A person's word that a row need not be bound, until a day."""

    path: str
    id: str
    reason: str
    owner: str
    expires: str
    """The last day on which it counts, in UTC (``2026-03-14``)."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Lines of a source file."""

    first: int
    """Number of the first line, from 1."""
    lines: tuple[str, ...]
    """Without their line ends."""


class Ending(StrEnum):
    """How one run of one test ended, as far as that test's own reports tell."""

    PASSED = "passed"
    FAILED = "failed"
    """In the call phase; the only one that can be a kill."""
    ERROR = "error"
    """In setup or teardown."""
    SKIPPED = "skipped"
    XFAILED = "xfailed"
    XPASSED = "xpassed"
    DESELECTED = "deselected"
    NOT_COLLECTED = "not collected"
    COLLECTION_ERROR = "collection error"
    EXITED = "exited"
    """``pytest.exit`` in the test."""
    CPU = "cpu time used up"
    WALL = "wall time used up"
    MEMORY = "memory used up"
    SIGNAL = "killed by a signal"
    NO_REPORT = "ended without a report"
    LOST = "worker lost"


class Killer(StrEnum):
    """What made an inverted run fail."""

    ASSERTION = "assertion"
    """An assertion of the test."""
    EXCEPTION = "exception"
    """An exception out of the code."""


@dataclass(frozen=True, slots=True)
class Run:
    """What one run of one test told us."""

    test: str
    inverted: bool
    """False in a control."""
    ending: Ending
    phase: str = ""
    """setup, call or teardown: where it did not pass."""
    exception: str = ""
    """Type name of what ended it (``AssertionError``)."""
    message: str = ""
    where: str = ""
    """``path:line`` of the last line inside the project that the exception passed."""
    killer: Killer | None = None
    reached: bool = False
    """The outcome was taken (control), the inverted point was passed (inverted)."""
    cold: bool = False
    """In a fresh process, not a fork of a warm one."""
    seconds: float = 0.0
    cpu: float = 0.0
    notes: tuple[str, ...] = ()
    """What stood in the way of proof (``child without the switch``)."""
    counted: bool = True
    """False for a run that is shown but set aside: a control in a fork of a test that turns out
    not to live in one, and what that fork said."""
    unwatched: tuple[int, ...] = ()
    """Marks of programs that it started and that containment may have refused something."""


@dataclass(frozen=True, slots=True)
class Result:
    """What is said of one row, or of one row of the table that no outcome answers."""

    path: str
    id: str
    verdict: Verdict
    reason: str = ""
    test: str = ""
    """The test that was judged: the one that kills, or else the first that is claimed."""
    runs: tuple[Run, ...] = ()
    weak_tests: tuple[str, ...] = ()
    """Claimed tests that stayed green although the outcome was inverted."""
    nearest: tuple[str, ...] = field(default=())
    """Collected nodeids that an uncollected claim could mean."""
    waiver: Waiver | None = None
    """The live waiver of a waived row."""
    beneath: Verdict | None = None
    """What a waived row would be without its waiver; None if it is not waived."""
    cached_since: str = ""
    """The day on which this was found, if it was taken over because nothing changed; or empty."""

    @property
    def key(self) -> tuple[str, str]:
        """What identifies it in a repository."""
        return (self.path, self.id)
