"""Write to standard output and standard error, whatever they are and whoever reads them."""

import os
import sys
from contextlib import suppress
from io import StringIO, TextIOWrapper
from typing import TextIO

from invertgate.errors import UsageError
from invertgate.report.words import inert, visible


def writable(stream: TextIO | None) -> TextIO:
    """Return a stream to write to, also where the process was started without."""
    return stream or StringIO()


def put(text: str, stream: TextIO) -> None:
    """Write text, all of it; a reader who left early misses nothing that the exit code says.

    In a log of GitHub's runner, which looks for commands in it, the text has none.

    Raises:
        UsageError: It cannot be written, as on a full disk.
    """
    command(inert(text) if os.environ.get("GITHUB_ACTIONS") == "true" else text, stream)


def command(text: str, stream: TextIO) -> None:
    """Write text as it is, with what it may command a CI runner.

    Raises:
        UsageError: It cannot be written, as on a full disk.
    """
    try:
        stream.write(text)
        stream.flush()
    except BrokenPipeError:
        _abandon(stream)
    except OSError as error:
        _abandon(stream)
        raise UsageError(f"the output cannot be written: {error.strerror}") from error


def put_bytes(content: bytes, stream: TextIO) -> None:
    """Write bytes as they are, where the stream can take them.

    Raises:
        UsageError: They cannot be written, as on a full disk.
    """
    below = getattr(stream, "buffer", None)
    if below is None:
        put(content.decode("utf-8", "replace"), stream)
        return
    try:
        below.write(content)
        below.flush()
    except BrokenPipeError:
        _abandon(stream)
    except OSError as error:
        _abandon(stream)
        raise UsageError(f"the output cannot be written: {error.strerror}") from error


def _abandon(stream: TextIO) -> None:
    """Let what is still in a broken stream go nowhere, or Python complains as it exits."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def complain(message: str) -> None:
    """Say on standard error what went wrong; a complaint that cannot be written is dropped."""
    lines = message.splitlines() or [""]
    text = "".join(
        f"{'invertgate:' if place == 0 else '|'} {visible(line)}\n"
        for place, line in enumerate(lines)
    )
    with suppress(UsageError):
        put(text, writable(sys.stderr))


def write_anything() -> None:
    """Spell out what a stream cannot encode, as under ``LANG=C``, rather than fail."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
