"""The one document that everything people see is rendered from, and where it lies on disk."""

import sys
from dataclasses import dataclass, field
from typing import Final

from invertgate.errors import ExitCode
from invertgate.model import (
    Claim,
    Excerpt,
    Kind,
    LeftOut,
    NotParsed,
    Outcome,
    PolicySource,
    Run,
    Side,
    Span,
    Verdict,
    Waiver,
)
from invertgate.trend_model import Trend

SCHEMA_VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class ReportShard:
    """Which part of a whole a report is."""

    index: int
    """From 1."""
    count: int
    """Parts of the whole."""
    found_in_all: int
    """New outcomes of the whole."""
    keys: str
    """Digest of all rows of the whole, so that none can be missing unseen."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What a report says of the run itself."""

    command: str
    """As the user gave it (``invertgate run --changed``)."""
    started: str
    """UTC, ISO 8601."""
    operator: str = ""
    """How an outcome is inverted."""
    policy: PolicySource = PolicySource.BASE
    """Whose policies counted: the merge base's or, as asked or without one, the judged one's."""
    seconds: float = 0.0
    cpu: float = 0.0
    """Seconds of CPU time, children included."""
    python: str = ".".join(map(str, sys.version_info[:3]))
    platform: str = sys.platform
    complete: bool = True
    """False if the run did not get to its end."""
    judged: bool = True
    """False if outcomes were only listed or compared with the table."""
    tables: tuple[str, ...] = ()
    """The decision tables that were read, relative to the top of the repository."""
    written: tuple[str, ...] = ()
    """Files of the user that this run wrote: a stub, a table."""
    notes: tuple[str, ...] = ()
    """What a reader should be told, beside what patch and outcomes already say."""
    whole: str = ""
    """Digest of what is judged; see ``Report.whole``."""
    shard: ReportShard | None = None
    """Which part of it is judged."""
    tree: str = ""
    """Digest of all files that the tests found; see ``Report.tree``."""


@dataclass(frozen=True, slots=True)
class Gone:
    """A row of the table whose outcome the patch does not have."""

    path: str
    id: str
    kind: Kind
    predicate: str
    side: Side
    project: str = "."


@dataclass(frozen=True, slots=True)
class Survivor:
    """A small change within a bound row that no test of it notices; it may be equivalent."""

    line: int
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Deep:
    """What mutmut's operators do to a bound row, by its tests (``--deep``); advice only."""

    tried: int
    noticed: int
    not_run: int
    """Changes in code that no test of the row runs."""
    undecided: int
    left_out: int
    """Changes beyond the most that was asked for."""
    survivors: tuple[Survivor, ...] = ()


@dataclass(frozen=True, slots=True)
class ReportRow:
    """One outcome, or one row of the table that no outcome answers, and what is said of it."""

    project: str
    """Folder with its own pytest configuration, relative to the top of the repository."""
    path: str
    """Relative to the top of the repository, with slashes."""
    id: str
    """12 hex digits; with the path it identifies the row."""
    line: int
    """Where a reader looks; 0 if there is no such outcome any more."""
    end_line: int
    """The last line that runs only if the outcome is taken; 0 if there is no such outcome."""
    scope: str
    """Qualified name of the enclosing function or class; empty at module level."""
    kind: Kind | None
    """The syntax that decides; null if the table did not say."""
    predicate: str
    """Canonical text, equal on every Python."""
    side: Side | None
    """The way that the decision goes; null if the table did not say."""
    anchor: Span | None
    """Where the decision stands; null if there is no such outcome any more."""
    verdict: Verdict | None
    """What the gate says; null if nothing was judged."""
    reason: str = ""
    """Why, in a sentence."""
    test: str = ""
    """The test that was judged: the one that kills, or else the first that is claimed."""
    claims: tuple[Claim, ...] = ()
    """Every test that claims the row, and where it does."""
    hint: str = ""
    """Where an equal outcome went missing, or empty."""
    ambiguous: bool = False
    """One of several equals of which it cannot be told which is new."""
    runs: tuple[Run, ...] = ()
    """Each control and each inverted run."""
    weak_tests: tuple[str, ...] = ()
    """Claimed tests that stayed green although the outcome was inverted."""
    nearest: tuple[str, ...] = ()
    """Collected nodeids that the claim could mean, or that came closest."""
    body_line: int = 0
    """The first line that runs only if the outcome is taken; the decision's own where it has none
    of its own, 0 if there is no such outcome any more."""
    excerpt: Excerpt | None = None
    """The source around the outcome; null if there is no such outcome any more."""
    mutant: str = ""
    """The inverted outcome as a unified diff that ``git apply`` takes, in the encoding of the file;
    empty if nothing was judged, or no edit of the text does just that."""
    waiver: Waiver | None = None
    """The live waiver of a waived row."""
    beneath: Verdict | None = None
    """What a waived row would be without its waiver; null if it is not waived."""
    passes_on_base: bool | None = None
    """Whether the test also passes on the base's source; null if nobody asked."""
    advice: tuple[str, ...] = ()
    """What would help, in sentences."""
    by_machine: dict[str, Verdict] = field(default_factory=dict)
    """In a report of several machines: what each of them says."""
    deep: Deep | None = None
    """Which small changes within the row survive; null if nobody asked, or it is not bound."""
    cached_since: str = ""
    """The day (UTC) on which this was found, if it was taken over because all it hangs on is the
    same; empty if it was judged now."""

    @property
    def name(self) -> str:
        """What a user types to mean this row."""
        return f"{self.path}:{self.id}"


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that one run found."""

    schema_version: int
    tool_version: str
    complete: bool
    """False if the run was stopped: its rows say nothing about the patch."""
    exit_code: int
    """What the process ended with; 130 in a report that was never completed."""
    started: str
    """UTC, ISO 8601."""
    command: str
    """As the user gave it."""
    judged: bool = True
    """False if outcomes were only listed or compared with the table."""
    error: str = ""
    """What stopped the run, or empty."""
    seconds: float = 0.0
    cpu: float = 0.0
    """Seconds of CPU time, children included."""
    python: str = ""
    platform: str = ""
    base: str = ""
    """Commit id of the merge base; empty if whole files were judged."""
    base_name: str = ""
    """How the base was found, in words."""
    head: str = ""
    """Commit id; empty for the working tree."""
    operator: str = ""
    """How an outcome is inverted."""
    policy: PolicySource = PolicySource.BASE
    """Whose policies counted: the merge base's or, as asked or without one, the judged one's."""
    files_examined: int = 0
    outcomes_examined: int = 0
    """All outcomes of head in those files, new or not."""
    found: int = 0
    """New outcomes: the sum of counts but leftover and inherited, and of undecided."""
    undecided: int = 0
    """New outcomes that have no verdict: the run was stopped or did not judge."""
    counts: dict[Verdict, int] = field(default_factory=dict)
    """Rows by verdict, every verdict listed."""
    tables: tuple[str, ...] = ()
    """The decision tables that were read."""
    written: tuple[str, ...] = ()
    """Files of the user that this run wrote."""
    not_parsed: tuple[NotParsed, ...] = ()
    """Changed files that could make rows and are no Python."""
    left_out: tuple[LeftOut, ...] = ()
    """Changed files that make no rows, and why."""
    notes: tuple[str, ...] = ()
    """What a reader should be told about how the patch was found and judged."""
    rows: tuple[ReportRow, ...] = ()
    """By path, line and side."""
    weak_tests: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Nodeids that stayed green under inversion, each with the rows (``PATH:ID``) that show it."""
    whole: str = ""
    """Digest of base, head, sources, tables and policy; reports that differ in it are of different
    things. Empty where there was nothing to judge."""
    shard: ReportShard | None = None
    """Which part of the whole was judged; null if all of it was."""
    joined: tuple[str, ...] = ()
    """The shards or machines whose reports were joined to this one."""
    tree: str = ""
    """Digest of all files that the tests found; empty where it was not taken."""
    trend: Trend | None = None
    """How it differs from the reports before; null if nobody compared."""


@dataclass(frozen=True, slots=True)
class Unkilled:
    """An outcome whose inversion no test noticed."""

    outcome: Outcome
    tried: int
    """How many tests were run on the inverted outcome."""
    reason: str
    nearest: tuple[str, ...] = ()
    """Nodeids of the tests that came closest."""
    why_not: dict[str, str] = field(default_factory=dict)
    """Why each of those does not bind the row, by nodeid."""


@dataclass(frozen=True, slots=True)
class Replaced:
    """A row that was pointed at another test than before."""

    outcome: Outcome
    before: str
    after: str
    reason: str
    """What is wrong with the one before."""


@dataclass(frozen=True, slots=True)
class MarkerLine:
    """A line to be added to a test file."""

    path: str
    """From the top of the repository."""
    line: int
    """The line, from 1, that it is to stand above once those listed before it were added."""
    text: str
    """With its indentation."""


@dataclass(frozen=True, slots=True)
class BindReport:
    """What a search for tests found."""

    bound: tuple[tuple[Outcome, str], ...]
    """Rows that were bound now, each with the nodeid that kills."""
    unkilled: tuple[Unkilled, ...]
    claimed: int = 0
    """Rows that had a claim before; they were not searched for."""
    tables: tuple[str, ...] = ()
    """The decision tables, relative to the top of the repository."""
    written: tuple[str, ...] = ()
    """Those of them that were changed."""
    not_parsed: tuple[NotParsed, ...] = ()
    notes: tuple[str, ...] = ()
    replaced: tuple[Replaced, ...] = ()
    """Rows among ``bound`` that another test claimed before."""
    unwritten: dict[str, str] = field(default_factory=dict)
    """Tables that would be changed, each with the change as a unified diff: in a dry run."""
    markers: tuple[MarkerLine, ...] = ()
    """Lines that claim the rows in place of a table: file by file, the lowest first."""

    @property
    def exit_code(self) -> ExitCode:
        """What the process ends with."""
        if self.not_parsed:
            return ExitCode.NOT_PARSED
        return ExitCode.FINDINGS if self.unkilled else ExitCode.OK
