"""What `invertgate doctor` says: a line each, with its cure."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Final

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from invertgate.report.words import counted, visible

_NAME: Final = 9
_INDENT: Final = 20


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
    for check in checks:
        head = Text(f"{check.state.value:<8} ", style=STYLES[check.state])
        head.append(f"{check.name:<{_NAME}}  ", style="bold")
        _line(console, head, visible(check.text))
        if check.cure:
            _line(console, Text(f"{'cure:':>{_INDENT - 1}} ", style="bold"), visible(check.cure))
    console.print(Text(_ending(checks), style="bold"), soft_wrap=not console.is_terminal)


def _line(console: Console, head: Text, text: str) -> None:
    """Show a line; where somebody reads it live, what is too long goes on below its own text."""
    if not console.is_terminal or console.width < 2 * _INDENT + 20:
        console.print(head.append(text, style="not bold default"), soft_wrap=True)
        return
    lines = Text(text).wrap(console, console.width - _INDENT)
    for place, line in enumerate(lines):
        if place == 0:
            console.print(head.append_text(line), soft_wrap=True)
        else:
            console.print(Padding(line, (0, 0, 0, _INDENT)), soft_wrap=True)


def _ending(checks: Sequence[Check]) -> str:
    found = counts(checks)
    problems, warnings = found[State.PROBLEM], found[State.WARNING]
    if problems:
        return f"{counted(problems, 'problem')}, {counted(warnings, 'warning')}: mend the problems"
    begun = "`invertgate run --changed` can begin"
    return f"no problem, {counted(warnings, 'warning')}: {begun}"
