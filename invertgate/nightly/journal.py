"""What a run has said so far, line by line, so that one that is killed can be gone on with."""

import json
import os
import time
import zlib
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from msgspec import to_builtins

from invertgate.model import Result, Row, Span, Verdict
from invertgate.source_text import json_of

_VERSION: Final = 1
_PREFIX: Final = "resume-"
_OLDEST: Final = 24 * 3600.0
_SYNC_EVERY: Final = 1.0
_PRIVATE: Final = 0o600
_OTHERS_WRITE: Final = 0o022

KEPT: Final = frozenset({Verdict.BOUND, Verdict.WEAK, Verdict.UNREACHED})
"""What is taken over. All else may have come from what ended the run, and is tried again."""


@dataclass(frozen=True, slots=True)
class Line:
    """A row that was judged, and all that the verdict hangs on beside the key of the journal."""

    anchor: Span
    claims: tuple[str, ...]
    result: Result


class Journal:
    """An open journal: what it held, and what is added to it."""

    def __init__(self, stream: int | None, lines: Sequence[Line]) -> None:
        self._stream = stream
        self._lines = {line.result.key: line for line in lines}
        self._synced = time.monotonic()

    def result_for(self, row: Row) -> Result | None:
        """Return what was said of a row, if it was said of the same decision and the same tests."""
        line = self._lines.get(row.outcome.key)
        claims = tuple(claim.test for claim in row.claims)
        same = line is not None and (line.anchor, line.claims) == (row.outcome.anchor, claims)
        return line.result if line is not None and same else None

    def add(self, row: Row, result: Result) -> None:
        """Note down what is said of a row; a disk that refuses costs only the resuming."""
        if self._stream is None or result.verdict not in KEPT:
            return
        claims = tuple(claim.test for claim in row.claims)
        try:
            line = to_builtins(Line(row.outcome.anchor, claims, result))
            os.write(self._stream, _encoded(line))
            if time.monotonic() - self._synced > _SYNC_EVERY:
                # a kill loses nothing that was written; only a machine that falls over can
                os.fsync(self._stream)
                self._synced = time.monotonic()
        except OSError:
            self._stream = None


@contextmanager
def opened(folder: Path, tag: str, key: str) -> Generator[Journal]:
    """Lend the journal of a run; it is there afterwards until :func:`remove` is called.

    The file has a line of JSON for each row, each behind its checksum; the first names the key. A
    line that is torn is ignored, and so is a file of another key, of another user, or older than a
    day.

    Args:
        folder: Where it lies.
        tag: What was asked for, in a word that a file name may hold.
        key: Digest of all that verdicts hang on.
    """
    path = folder / f"{_PREFIX}{tag}-{key[:16]}.jsonl"
    try:
        stream, lines = _open(path, key)
    except OSError:
        yield Journal(None, ())
        return
    try:
        yield Journal(stream, lines)
    finally:
        with suppress(OSError):
            os.fsync(stream)
        os.close(stream)


def remove(folder: Path, tag: str) -> None:
    """Remove the journals of a run that has come to its end, and those that nobody came back to."""
    for path in folder.glob(f"{_PREFIX}*.jsonl"):
        with suppress(OSError):
            age = time.time() - path.lstat().st_mtime
            if path.name.startswith(f"{_PREFIX}{tag}-") or age > _OLDEST:
                path.unlink()


def is_there(folder: Path, tag: str) -> bool:
    """Tell whether a run that was asked for in these words left a journal."""
    return any(folder.glob(f"{_PREFIX}{tag}-*.jsonl"))


def _open(path: Path, key: str) -> tuple[int, list[Line]]:
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    stream = os.open(path, flags, _PRIVATE)
    try:
        about = os.fstat(stream)
        mine = about.st_uid == os.geteuid() and not about.st_mode & _OTHERS_WRITE
        young = time.time() - about.st_mtime < _OLDEST
        with os.fdopen(os.dup(stream), "rb") as held:
            content = held.read() if mine and young else b""
        lines = list(_read(content, key))
        header = {"invertgate": _VERSION, "key": key}
        if not lines:
            os.ftruncate(stream, 0)
            os.write(stream, _encoded(header))
        elif not content.endswith(b"\n"):
            os.write(stream, b"\n")
    except BaseException:
        os.close(stream)
        raise
    return stream, lines


def _encoded(value: object) -> bytes:
    text = json.dumps(value).encode("ascii")
    return b"%08x %s\n" % (zlib.crc32(text), text)


def _read(content: bytes, key: str) -> Iterator[Line]:
    from msgspec import ValidationError, convert  # noqa: PLC0415 - only who resumes waits for it

    first, *rest = content.split(b"\n")
    if _decoded(first) != {"invertgate": _VERSION, "key": key}:
        return
    for line in rest:
        with suppress(ValidationError):
            told = convert(_decoded(line), Line)
            if told.result.verdict in KEPT:
                yield told


def _decoded(line: bytes) -> object:
    """Return what a line says; None if it is torn."""
    checksum, _, text = line.partition(b" ")
    try:
        return json_of(text) if int(checksum, 16) == zlib.crc32(text) else None
    except ValueError:
        return None
