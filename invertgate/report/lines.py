"""Lines on a terminal or in a log: text, never markup or control codes, and never cut in a name."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TextIO

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from invertgate.report.words import visible

_HANGING: Final = 2
_WORD: Final = re.compile(r"\S+\s*")


def console_for(stream: TextIO, environment: Mapping[str, str]) -> Console:
    """Return a console that honours ``NO_COLOR``, ``TERM`` and what the stream is."""
    return Console(
        file=stream,
        markup=False,
        highlight=False,
        emoji=False,
        no_color=bool(environment.get("NO_COLOR")),
        _environ=environment,
    )


class Page:
    """Lines; where somebody reads them live they are wrapped between words, never within one."""

    def __init__(self, console: Console) -> None:
        self._console = console
        # With FORCE_COLOR a log counts as a terminal, and nobody knows how wide its reader's is.
        self._wraps = console.is_terminal and console.file.isatty()

    def line(self, text: str, style: str = "", indent: int = 0) -> None:
        """Show a line, or a gap and a line."""
        if text.startswith("\n"):
            self._console.print()
        self.show(Text(text.lstrip("\n"), style=style), indent)

    def prose(self, label: str, text: str, indent: int = 4) -> None:
        """Show labelled sentences; line breaks in them are kept, below the label."""
        for place, part in enumerate(text.splitlines()):
            head = label if place == 0 else "|"
            self.show(Text.assemble((f"{head}:", "dim"), f" {visible(part)}"), indent)

    def name(self, nodeid: str, label: str = "", indent: int = 4) -> None:
        """Show a test as it would be copied: in one piece, be it wider than the terminal."""
        if nodeid:
            head = (f"{label}: ", "dim") if label else ""
            self._put(Text.assemble(head, visible(nodeid)), indent)

    def show(self, text: Text, indent: int = 0, hanging: int = _HANGING) -> None:
        """Show a line that may be styled.

        Args:
            text: The line.
            indent: Spaces before it.
            hanging: More spaces before what does not fit on the first line.
        """
        for place, part in enumerate(self._wrapped(text, indent, hanging)):
            self._put(part, indent + (hanging if place else 0))

    def _put(self, text: Text, indent: int) -> None:
        # At the start of a line "::" would command a CI runner.
        guard = "| " if text.plain.lstrip().startswith("::") else ""
        self._console.print(Text(" " * indent + guard).append_text(text), soft_wrap=True)

    def _wrapped(self, text: Text, indent: int, hanging: int) -> Sequence[Text]:
        room = self._console.width - indent
        if not self._wraps or text.cell_len <= room:
            return [text]
        parts = list(text.divide(_breaks(text.plain, room - hanging)))
        for part in parts:
            part.rstrip()
        return parts


def _breaks(plain: str, room: int) -> Iterator[int]:
    """Yield where a text is to be broken: between words, be one of them wider than the room."""
    column = 0
    for word in _WORD.finditer(plain):
        if column and column + cell_len(word[0].rstrip()) > room:
            yield word.start()
            column = 0
        column += cell_len(word[0])
