"""What GitHub's runner makes of a log and of the files of a step; it shares nothing with our code.

Written from how ``actions/runner`` parses: ``ActionCommand.TryParseV2`` and ``TryParse``,
``ActionCommandManager`` for what stops and resumes commands, ``FileCommandManager`` for outputs.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

REGISTERED = {
    "add-mask",
    "add-matcher",
    "add-path",
    "debug",
    "echo",
    "endgroup",
    "error",
    "group",
    "notice",
    "remove-matcher",
    "save-state",
    "set-env",
    "set-output",
    "stop-commands",
    "warning",
}
LINE_ENDS = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True)
class Command:
    """A command that the runner carries out."""

    name: str
    properties: dict[str, str] = field(default_factory=dict)
    data: str = ""


def commands(log: str) -> list[Command]:
    """Return what a log commands, until it stops commands."""
    return list(_carried_out(log))


def _carried_out(log: str) -> Iterator[Command]:
    stopped_until = None
    for line in LINE_ENDS.split(log):
        known = REGISTERED | ({stopped_until.lower()} if stopped_until else set())
        command = _colons(line, known) or _brackets(line, known)
        if command is None:
            continue
        if stopped_until is not None:
            if command.name.lower() == stopped_until.lower():
                stopped_until = None
            continue
        if command.name.lower() == "stop-commands":
            stopped_until = command.data
        yield command


def _colons(line: str, known: set[str]) -> Command | None:
    line = line.lstrip()
    if not line.startswith("::") or (end := line.find("::", 2)) < 0:
        return None
    name, _, written = line[2:end].partition(" ")
    if name.lower() not in known:
        return None
    escapes = {"%0D": "\r", "%0A": "\n", "%3A": ":", "%2C": ",", "%25": "%"}
    properties = _properties(written.strip(), ",", escapes)
    return Command(
        name, properties, _decoded(line[end + 2 :], {"%0D": "\r", "%0A": "\n", "%25": "%"})
    )


def _brackets(line: str, known: set[str]) -> Command | None:
    start = line.find("##[")
    end = line.find("]", start)
    if start < 0 or end < 0:
        return None
    name, _, written = line[start + 3 : end].partition(" ")
    if name.lower() not in known:
        return None
    escapes = {"%3B": ";", "%0D": "\r", "%0A": "\n", "%5D": "]", "%25": "%"}
    return Command(name, _properties(written, ";", escapes), _decoded(line[end + 1 :], escapes))


def _properties(written: str, between: str, escapes: dict[str, str]) -> dict[str, str]:
    pairs = (part.partition("=") for part in written.split(between) if part)
    return {name: _decoded(value, escapes) for name, _, value in pairs if name and value}


def _decoded(text: str, escapes: dict[str, str]) -> str:
    for escape, letter in escapes.items():
        text = text.replace(escape, letter)
    return text


def outputs(text: str) -> dict[str, str]:
    """Return the outputs that a file of a step sets.

    Raises:
        ValueError: The runner would not accept the file.
    """
    found = {}
    lines = iter(text.split("\n"))
    for line in filter(None, lines):
        name, mark, value = re.split("(=|<<)", line, maxsplit=1)
        if not name or (mark == "<<" and not value):
            raise ValueError(line)
        found[name] = value if mark == "=" else _until(lines, value)
    return found


def _until(lines: Iterator[str], end: str) -> str:
    found: list[str] = []
    for line in lines:
        if line == end:
            return "\n".join(found)
        found.append(line)
    raise ValueError(end)
