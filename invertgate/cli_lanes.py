"""The commands of the lanes."""

# What is imported within functions is needed only by these commands.
# ruff: noqa: PLC0415

import os
import shlex
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from invertgate.errors import ExitCode
from invertgate.report.words import visible
from invertgate.request import Request, UseCases
from invertgate.streams import complain, put, writable

if TYPE_CHECKING:
    from invertgate.lanes.log import Counts, Summary
    from invertgate.lanes.quarantine import Standing
    from invertgate.route import Routed

Action = Callable[[UseCases], int]

_WIDTH: Final = 15

_base = click.option("--base", metavar="REV", help="Branch or commit to compare with.")
_head = click.option(
    "--head", default="", metavar="REV", help="Judge a commit, not the working tree."
)
_log = click.option(
    "--log",
    "log_path",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Log to append to.  [default: lane-log.jsonl at the top of the repository]",
)
_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.command()
@_base
@_head
@_log
@_json
def route(*, base: str | None, head: str, log_path: Path | None, as_json: bool) -> Action:
    """Plan what may be done with a patch that nobody looks after; nothing of it is run.

    Tells whether the patch is narrow enough to look at, which properties it calls for and what they
    cost, and which flaky tests are frozen. Appends one object to the log. Ends 7 if the patch is
    turned away. Its merge credit is 0, whatever is found.
    """
    return partial(_route, _request(base, head), log_path, as_json=as_json)


@click.group()
def lane() -> None:
    """Run the properties that a patch calls for; add up the log."""


@lane.command("run")
@_base
@_head
@_log
@_json
def lane_run(*, base: str | None, head: str, log_path: Path | None, as_json: bool) -> Action:
    """Plan as `invertgate route` does, and run the properties that the plan allows.

    Ends 0 if all of them hold, 1 if one fails, 3 if one is unresolved, 8 if one is quarantined, and
    7 if the patch is turned away.
    """
    return partial(_lane_run, _request(base, head), log_path, as_json=as_json)


@lane.command("summary")
@click.argument(
    "files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE..."
)
@click.option("--since", default="", metavar="DATE", help="The first day that counts, in UTC.")
@_json
def lane_summary(*, files: tuple[Path, ...], since: str, as_json: bool) -> Action:
    """Add up logs by day: attempts, probe rejects, calls armed, credit bugs.

    A credit bug is an attempt in which something was credited beside a quarantine. Ends 1 if there
    is one.
    """
    return partial(_summary, files, since, as_json=as_json)


@click.group()
def quarantine() -> None:
    """Look after the list of flaky tests."""


@quarantine.command("check")
@_base
@_head
@click.option("--strict", is_flag=True, help="End 1 if an entry is stale or expired.")
@_json
def quarantine_check(*, base: str | None, head: str, strict: bool, as_json: bool) -> Action:
    """Read flaky.yaml strictly, and show which collected tests each entry means.

    Ends 2 if the list is malformed or an entry lives too long.
    """
    return partial(_quarantine_check, _request(base, head), strict=strict, as_json=as_json)


COMMANDS: Final[tuple[click.Command, ...]] = (route, lane, quarantine)


def _request(base: str | None, head: str) -> Request:
    return Request(
        root=Path.cwd(),
        command=shlex.join(("invertgate", *click.get_current_context().obj)),
        overrides={"base": base},
        head=head,
        environment=dict(os.environ),
    )


def _route(request: Request, log_path: Path | None, _: UseCases, *, as_json: bool) -> int:
    from invertgate import route as use_case

    return _told(use_case.route(request, log_path), as_json=as_json)


def _lane_run(request: Request, log_path: Path | None, _: UseCases, *, as_json: bool) -> int:
    from invertgate import route as use_case

    return _told(use_case.run(request, log_path), as_json=as_json)


def _told(routed: "Routed", *, as_json: bool) -> int:
    if as_json:
        _put_json(routed.attempt)
        for note in routed.notes:
            complain(note)
    else:
        put(f"{_page(routed)}\n", writable(sys.stdout))
    return routed.exit_code


def _page(routed: "Routed") -> str:
    plan = routed.plan
    priced = ", ".join(f"{each.stated.id} ({each.stated.units})" for each in plan.properties)
    frozen = ", ".join(f"{each.entry.id} (until {each.entry.expires})" for each in plan.quarantine)
    lines = {
        "probe": plan.probe.value,
        "property lane": f"{plan.lane}: {priced}" if priced else plan.lane.value,
        "quarantine": f"{frozen}: credit 0" if frozen else "-",
        "model call": "allowed" if plan.model_call_allowed else "not allowed",
        "merge credit": f"{plan.merge_credit}" + ("" if plan.is_shut else ", pending human review"),
    }
    page = [f"{name:{_WIDTH}}{visible(text)}" for name, text in lines.items()]
    page += [f"{'reason':{_WIDTH}}{visible(reason)}" for reason in plan.reasons]
    page += [
        f"{'result':{_WIDTH}}{visible(' '.join(filter(None, (each.id, each.token, each.reason))))}"
        for each in plan.findings
    ]
    page += [f"{'note':{_WIDTH}}{visible(note)}" for note in routed.notes]
    return "\n".join(page)


def _summary(files: tuple[Path, ...], since: str, _: UseCases, *, as_json: bool) -> int:
    from invertgate import route as use_case

    summary = use_case.summarize(files, since)
    if as_json:
        _put_json(_summary_object(summary))
    else:
        put(f"{_summary_table(summary)}\n", writable(sys.stdout))
    return ExitCode.FINDINGS if summary.total.credit_bugs else ExitCode.OK


def _summary_table(summary: "Summary") -> str:
    rows: list[tuple[str, ...]] = [
        ("day", "attempts", "probe rejects", "calls armed", "credit bugs")
    ]
    rows += [(day, *map(str, _numbers(counts))) for day, counts in summary.by_day]
    rows.append(("all", *map(str, _numbers(summary.total))))
    lines = [f"{day:12}" + "".join(f"{cell:>15}" for cell in cells) for day, *cells in rows]
    return "\n".join([*lines, *(visible(note) for note in summary.unread)])


def _summary_object(summary: "Summary") -> Mapping[str, object]:
    return {
        **_named(summary.total),
        "by_day": {day: _named(counts) for day, counts in summary.by_day},
        "unread": list(summary.unread),
    }


def _named(counts: "Counts") -> dict[str, int]:
    names = ("attempts", "probe_rejects", "calls_armed", "credit_bugs")
    return dict(zip(names, _numbers(counts), strict=True))


def _numbers(counts: "Counts") -> tuple[int, int, int, int]:
    return (counts.attempts, counts.probe_rejects, counts.calls_armed, counts.credit_bugs)


def _quarantine_check(request: Request, _: UseCases, *, strict: bool, as_json: bool) -> int:
    from invertgate import quarantine_check
    from invertgate.lanes.quarantine import State

    checked = quarantine_check.check(request)
    if as_json:
        entries = [_standing_object(standing) for standing in checked.standings]
        _put_json({"flaky": entries, "notes": list(checked.notes)})
    else:
        lines = [line for standing in checked.standings for line in _standing_lines(standing)]
        page = [*lines, *(f"note: {note}" for note in checked.notes)]
        put("".join(f"{visible(line)}\n" for line in page), writable(sys.stdout))
    is_finding = any(standing.state is not State.LIVE for standing in checked.standings)
    return ExitCode.FINDINGS if strict and is_finding else ExitCode.OK


def _standing_lines(standing: "Standing") -> list[str]:
    entry = standing.entry
    later = "; added by this patch: it counts once it is merged" if standing.is_new else ""
    head = (
        f"{standing.state:9}{entry.id}  until {entry.expires} (UTC), {entry.owner}: {entry.reason}"
    )
    return [head + later, *(f"         - {nodeid}" for nodeid in standing.nodeids)]


def _standing_object(standing: "Standing") -> Mapping[str, object]:
    entry = standing.entry
    return {
        "id": entry.id,
        "state": standing.state,
        "owner": entry.owner,
        "reason": entry.reason,
        "expires": entry.expires.isoformat(),
        "nodeids": list(standing.nodeids),
        "is_new": standing.is_new,
    }


def _put_json(found: Mapping[str, Any]) -> None:
    import json

    put(json.dumps(found, ensure_ascii=False, indent=2) + "\n", writable(sys.stdout))
