"""Files that a report is written to: gone when a run starts, written as a whole when it ends."""

import os
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from invertgate.errors import InvertgateError, UsageError
from invertgate.report.document import Report
from invertgate.report.formats import Format

STDOUT: Final = "-"


@dataclass(frozen=True, slots=True)
class Target:
    """A format, and where somebody wants it."""

    format: Format
    path: str
    """As the user gave it; ``-`` is standard output."""

    @property
    def is_stdout(self) -> bool:
        """Tell whether it goes to standard output."""
        return self.path == STDOUT

    @property
    def file(self) -> Path:
        """Return the file itself, behind all links."""
        return Path(os.path.realpath(self.path))


def check(targets: Iterable[Target]) -> None:
    """See that no two formats are wanted in one place.

    Raises:
        UsageError: They are, or a path is empty or a folder.
    """
    taken: dict[Path | str, Target] = {}
    for target in targets:
        flag = target.format.flag
        if not target.path:
            raise UsageError(f"{flag} needs the name of a file")
        place = STDOUT if target.is_stdout else target.file
        if (other := taken.setdefault(place, target)) is not target:
            raise UsageError(f"{other.format.flag} and {flag} both write to {target.path}")
        if not target.is_stdout and target.file.is_dir():
            raise UsageError(f"{flag} {target.path}: this is a folder; name a file in it")


def clear(targets: Iterable[Target]) -> None:
    """Remove what an earlier run wrote, so that nobody takes it for what this one found.

    Also makes the folders that are missing, so that what cannot be written is told at once. What
    is no regular file (a pipe, a device) is left alone.

    Raises:
        UsageError: A file cannot be removed, or its folder not be made or written.
    """
    for target in targets:
        if target.is_stdout:
            continue
        file = target.file
        with _or_usage_error(target):
            file.parent.mkdir(parents=True, exist_ok=True)
            if file.is_file():
                file.unlink()
        if not file.exists() and not os.access(file.parent, os.W_OK):
            raise UsageError(f"{target.format.flag} {target.path}: its folder cannot be written")


def write(report: Report, targets: Iterable[Target]) -> list[tuple[Target, str]]:
    """Write a report to each file, all of it or nothing.

    Returns:
        What is for standard output.

    Raises:
        UsageError: Some file cannot be written; the others are.
    """
    printed = []
    problems: list[InvertgateError] = []
    for target in targets:
        text = target.format.render(report)
        if target.is_stdout:
            printed.append((target, text))
            continue
        try:
            with _or_usage_error(target):
                _replace(target.file, text.encode("utf-8", "backslashreplace"))
        except UsageError as error:
            problems.append(error)
    if problems:
        raise UsageError("\n".join(map(str, problems)))
    return printed


def _replace(file: Path, content: bytes) -> None:
    if file.exists() and not file.is_file():
        file.write_bytes(content)  # a pipe or a device: there is nothing to put in its place
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    beside = file.with_name(f".{file.name}.{os.urandom(4).hex()}")
    try:
        with beside.open("xb") as unfinished:
            unfinished.write(content)
        beside.replace(file)
    finally:
        beside.unlink(missing_ok=True)


@contextmanager
def _or_usage_error(target: Target) -> Generator[None]:
    try:
        yield
    except (OSError, ValueError) as error:  # ValueError: a null byte in a path
        what = error.strerror if isinstance(error, OSError) else str(error)
        raise UsageError(f"{target.format.flag} {target.path} cannot be written: {what}") from error
