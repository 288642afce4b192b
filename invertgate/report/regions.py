"""The one line of a row that machines are shown, in characters and not in bytes."""

from dataclasses import dataclass

from invertgate.report.document import ReportRow


@dataclass(frozen=True, slots=True)
class Region:
    """A part of one line."""

    line: int
    """From 1."""
    text: str = ""
    """The whole line, without its end; empty if nobody wrote it into the report."""
    start: int | None = None
    """First character of the decision in ``text``, from 0; None if it is not on this line."""
    end: int | None = None
    """One past its last character on this line."""


def region(row: ReportRow) -> Region | None:
    """Return the line that a reader should look at, with the decision in it if it stands there.

    Args:
        row: Its anchor counts UTF-8 bytes, as ``ast`` does; its excerpt has the text that tells
            how many characters these are.

    Returns:
        None if the outcome is gone.
    """
    if row.line < 1:
        return None
    text = _line(row)
    if text is None or row.anchor is None or row.anchor.line != row.line:
        return Region(row.line, text or "")
    anchor = row.anchor
    start = _characters(text, anchor.column)
    end = _characters(text, anchor.end_column) if anchor.end_line == row.line else len(text)
    if start is None or end is None or end <= start:
        return Region(row.line, text)
    return Region(row.line, text, start, end)


def _line(row: ReportRow) -> str | None:
    if row.excerpt is None:
        return None
    place = row.line - row.excerpt.first
    lines = row.excerpt.lines
    return lines[place] if 0 <= place < len(lines) else None


def _characters(text: str, size: int) -> int | None:
    """Return how many characters the first bytes of a line are; None if they end within one."""
    encoded = text.encode("utf-8", "surrogatepass")
    if not 0 <= size <= len(encoded):
        return None
    try:
        return len(encoded[:size].decode("utf-8", "surrogatepass"))
    except UnicodeDecodeError:
        return None
