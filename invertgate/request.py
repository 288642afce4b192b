"""What a user asked for, and the use cases that it goes into."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from invertgate.model import PolicySource, Shard
from invertgate.report.document import BindReport, Report
from invertgate.report.progress import Progress, Silent

if TYPE_CHECKING:
    from invertgate.patch.base import Base


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Request:
    """A command line, read and not yet looked into."""

    root: Path
    """Where the user stands; paths are relative to it."""
    command: str = ""
    """As the user gave it (``invertgate run --changed``)."""
    overrides: Mapping[str, object] = field(default_factory=dict)
    """Options by name, as ``policy.load_under_policy`` takes them; None and () are "not given"."""
    paths: tuple[str, ...] = ()
    """Files all of whose outcomes count as new; none means the files that changed."""
    ids: tuple[str, ...] = ()
    """Rows to be judged, each ``ID`` or ``PATH:ID``; none means all."""
    head: str = ""
    """Revision to judge; empty for the working tree."""
    list_only: bool = False
    """List outcomes and run nothing."""
    policy: PolicySource = PolicySource.BASE
    """Whose policies count, where there is a base."""
    rebind: bool = False
    """Search also for rows that have a claim, and replace those that do not hold."""
    dry_run: bool = False
    """Say what `bind` would write, and write nothing."""
    markers: bool = False
    """Say by which markers tests would claim the rows, and write no table."""
    lock: bool = False
    """Write into the table what the claimed tests look like now."""
    shard: Shard | None = None
    """Judge only this part of the rows; None means all."""
    against_base: bool = False
    """Run the claimed tests on the base's source too."""
    deep: int = 0
    """How many of mutmut's changes are tried in each bound row, at most; 0 is none."""
    resume: bool = True
    """Take over what a run of the very same things said before it was ended."""
    base: "Base | None" = None
    """The base, where it was found on another machine; None means that it is looked for."""
    cluster: str = ""
    """Address of the scheduler of a Dask cluster that judges the rows; empty for this machine."""
    environment: Mapping[str, str] = field(default_factory=dict)
    progress: Progress = field(default_factory=Silent)
    now: datetime = field(default_factory=_now)
    """When it was asked for; lists that expire go by its day in UTC."""

    @property
    def today(self) -> date:
        """Return the day in UTC, whatever the machine's zone."""
        return self.now.astimezone(UTC).date()


class UseCases(Protocol):
    """What the commands do; tests give their own."""

    def run(self, request: Request) -> Report:
        """Judge a patch."""

    def bind(self, request: Request) -> BindReport:
        """Search a test for each row without one."""

    def table(self, request: Request, *, write: bool) -> Report:
        """Compare the table with the outcomes, and bring it up to date if asked."""
