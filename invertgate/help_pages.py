"""Help pages that a newcomer can act on: examples below each, commands by what they are for."""

from collections.abc import Mapping, Sequence
from typing import Final

import click

from invertgate.options import OPTIONS

SECTIONS: Final[Mapping[str, Sequence[str]]] = {
    "Begin": ("init", "doctor", "completion"),
    "Judge a patch": ("run", "bind", "table", "explain", "try", "report"),
    "Judge more than a patch": ("sweep", "merge", "trend"),
    "Lanes, for patches that nobody looks after": ("route", "lane", "quarantine"),
}
"""Commands in the order in which one meets them; what is not named here comes last."""

Examples = tuple[tuple[str, str], ...]

ROOT: Final = """\b
Begin with:
  invertgate doctor            is all in place?
  invertgate run --changed     lists the new outcomes, writes a table for them
  invertgate bind              finds a test for each row
  invertgate run --changed     judges the rows
\b
Exit codes:
  0 passed       3 unproven rows           6 a file does not parse
  1 findings     4 a claimed test is red   7 turned away by a lane
  2 usage        5 no base                 8 on hold: a person decides
  70 a bug in invertgate                   130 interrupted
"""

PAGES: Final[Mapping[str, tuple[str, Examples]]] = {
    "run": (
        "Judge a patch: each new outcome needs a test.",
        (
            ("invertgate run --changed", "what differs from the merge base"),
            ("invertgate run --list", "only list the new outcomes"),
            ("invertgate run --id 0e39ba75e0ba -v", "one row, with all its runs"),
            ("invertgate run --base origin/dev", "compare with another branch"),
            ("invertgate run shop/orders.py", "a whole file, all of it as new"),
            ("invertgate run --shard 1/4", "a quarter; `merge` joins the four"),
        ),
    ),
    "bind": (
        "Find a test for each row that has none.",
        (
            ("invertgate bind", "all rows without a test"),
            ("invertgate bind --id 0e39ba75e0ba", "one of them"),
            ("invertgate bind --tests tests/unit", "try the tests of one folder"),
            ("invertgate bind --rebind --dry-run", "is there better for rows with a test?"),
            ("invertgate bind --markers", "marker lines in place of the table"),
        ),
    ),
    "table": (
        "Show the table beside the outcomes; run nothing.",
        (
            ("invertgate table", "what is claimed, and what is not"),
            ("invertgate table --write", "bring it up to date"),
            ("invertgate table --check", "end 1 unless it is; for a hook"),
        ),
    ),
    "merge": (
        "Join reports of shards or machines to one.",
        (
            ("invertgate merge invertgate.shards", "all reports in a folder"),
            ("invertgate merge --matrix linux macos", "of several machines"),
        ),
    ),
    "trend": (
        "Compare the last report with those before it.",
        (("invertgate trend", "what is new, mended or flaky"),),
    ),
    "sweep": (
        "Judge outcomes at large, as every night.",
        (
            ("invertgate sweep --since 2026-01-31", "what came since that day"),
            ("invertgate sweep --all", "everything"),
        ),
    ),
    "route": (
        "Plan what may be done with a patch.",
        (
            ("invertgate route", "the plan; 7 if it is turned away"),
            ("invertgate route --log /tmp/lane.jsonl", "with another log"),
        ),
    ),
    "lane": ("Run properties; add up the log.", ()),
    "lane run": (
        "Plan, and run the properties that the plan allows.",
        (("invertgate lane run --base origin/main", "of what differs from there"),),
    ),
    "lane summary": (
        "Add up logs by day.",
        (("invertgate lane summary lane-log.jsonl --since 2026-03-01", ""),),
    ),
    "quarantine": ("Look after the list of flaky tests.", ()),
    "quarantine check": (
        "Show which tests the entries of flaky.yaml mean.",
        (
            ("invertgate quarantine check", "2 if the list is malformed"),
            ("invertgate quarantine check --strict", "1 if an entry is stale"),
        ),
    ),
}
"""The line in the list of commands, and the examples, of commands that do not bring their own."""

_SHOWING: Final = frozenset(("as_json", "verbose", "no_annotations", "annotations", "github"))
_KEYS: Final = frozenset(option.name for option in OPTIONS)


def examples(*lines: tuple[str, str]) -> str:
    """Return the end of a help page, with a command and what it is for in each line.

    click takes a paragraph that begins with a backspace as it stands.
    """
    width = max(len(command) for command, _ in lines)
    return "\n".join(["\b", "Examples:", *(f"  {a:<{width}}  {b}".rstrip() for a, b in lines)])


class Page(click.Command):
    """A command whose options are shown in groups, as it has many."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options; see `click.Command`."""
        groups: dict[str, list[tuple[str, str]]] = {
            "Options": [],
            "What is shown and written": [],
            "Options that [tool.invertgate] may hold too": [],
        }
        plain, shown, keys = groups.values()
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is None or isinstance(param, click.Argument):
                continue
            if param.name in _KEYS:
                keys.append(record)
            elif param.name in _SHOWING or param.metavar == "FILE":
                shown.append(record)
            else:
                plain.append(record)
        for title, records in groups.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


class Sections(click.Group):
    """A group that shows its commands by what they are for."""

    command_class = Page

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands; see `click.Group`."""
        width = max(map(len, self.commands), default=0)
        limit = formatter.width - 6 - width
        named = {name for section in SECTIONS.values() for name in section}
        others = [name for name in self.list_commands(ctx) if name not in named]
        for title, names in {**SECTIONS, "More": others}.items():
            known = [self.commands[name] for name in names if name in self.commands]
            rows = [
                (f"{command.name or '':<{width}}", command.get_short_help_str(limit))
                for command in known
                if not command.hidden
            ]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


def furnish(group: click.Group, path: str = "") -> None:
    """Give the commands of a group their lines and examples, where they do not bring their own."""
    for name, command in group.commands.items():
        known = f"{path} {name}".strip()
        line, lines = PAGES.get(known, ("", ()))
        command.short_help = command.short_help or line or None
        if lines and not command.epilog:
            command.epilog = examples(*lines)
        if isinstance(command, click.Group):
            furnish(command, known)
