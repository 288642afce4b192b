"""What `invertgate doctor` says: a line each, with its cure."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Final

from rich.console import Console
from rich.text import Text

from invertgate.report.lines import Page
from invertgate.report.words import counted, visible

_NAME: Final = 9
_INDENT: Final = 20
_WIDE: Final = 50


class State(StrEnum):
    """How bad a finding is."""

    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"


STYLES: Final = {State.OK: "green", State.WARNING: "yellow", State.PROBLEM: "red bold"}


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at."""

    name: str
    state: State
    text: str
    """What was found."""
    cure: str = ""
    """What to do about it."""


def ok(name: str, text: str) -> Check:
    """Return a check that found nothing wrong."""
    return Check(name, State.OK, text)


def warning(name: str, text: str, cure: str) -> Check:
    """Return a check that found something that costs time or rows, and is no error."""
    return Check(name, State.WARNING, text, cure)


def problem(name: str, text: str, cure: str) -> Check:
    """Return a check that found something that keeps the gate from its work."""
    return Check(name, State.PROBLEM, text, cure)


def counts(checks: Sequence[Check]) -> dict[str, int]:
    """Count checks by state."""
    return {state.value: sum(check.state is state for check in checks) for state in State}


def as_object(checks: Sequence[Check]) -> dict[str, object]:
    """Return checks as JSON has them."""
    return {"counts": counts(checks), "checks": [asdict(check) for check in checks]}


def show(checks: Sequence[Check], console: Console) -> None:
    """Show checks, the cures below what they cure, and what to do next."""
    page = Page(console)
    hanging = _INDENT if console.width >= _WIDE else 2
    for check in checks:
        head = (f"{check.state.value:<8} ", STYLES[check.state])
        name = (f"{check.name:<{_NAME}}  ", "bold")
        page.show(Text.assemble(head, name, visible(check.text)), hanging=hanging)
        if check.cure:
            cure = Text.assemble((f"{'cure:':>{hanging - 1}} ", "bold"), visible(check.cure))
            page.show(cure, hanging=hanging)
    page.line(_ending(checks), "bold")


def _ending(checks: Sequence[Check]) -> str:
    found = counts(checks)
    problems, warnings = found[State.PROBLEM], found[State.WARNING]
    if problems:
        return f"{counted(problems, 'problem')}, {counted(warnings, 'warning')}: mend the problems"
    begun = "`invertgate run --changed` can begin"
    return f"no problem, {counted(warnings, 'warning')}: {begun}"
