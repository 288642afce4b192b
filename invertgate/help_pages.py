"""Help pages that a newcomer can act on: examples below each, and commands by what they are for."""

from collections.abc import Mapping, Sequence
from typing import Final

import click

SECTIONS: Final[Mapping[str, Sequence[str]]] = {
    "Begin": ("init", "doctor", "completion"),
    "Judge a patch": ("run", "table", "bind", "explain", "try", "report"),
    "Judge more": ("sweep", "merge", "trend"),
    "Patches that nobody looks after": ("route", "lane", "quarantine"),
}
"""Commands in the order in which one meets them; what is not named here comes last."""


def examples(*lines: tuple[str, str]) -> str:
    """Return the end of a help page, with a command and what it is for in each line.

    click takes a paragraph that begins with a backspace as it stands.
    """
    width = max(len(command) for command, _ in lines)
    return "\n".join(["\b", "Examples:", *(f"  {a:<{width}}  {b}".rstrip() for a, b in lines)])


class Sections(click.Group):
    """A group that shows its commands by what they are for, each on one line as far as it goes."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands; see `click.Group`."""
        names = [name for name in self.list_commands(ctx) if not self._found(ctx, name).hidden]
        width = max(map(len, names), default=0)
        limit = formatter.width - 6 - width
        named = {name for section in SECTIONS.values() for name in section}
        others = [name for name in names if name not in named]
        for title, section in {**SECTIONS, "More": others}.items():
            known = [name for name in section if name in names]
            rows = [
                (f"{name:<{width}}", self._found(ctx, name).get_short_help_str(limit))
                for name in known
            ]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)

    def _found(self, ctx: click.Context, name: str) -> click.Command:
        command = self.get_command(ctx, name)
        if command is None:
            raise KeyError(name)
        return command
