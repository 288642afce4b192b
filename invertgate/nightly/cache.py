"""Verdicts of earlier nights, each with all that it hangs on; what is not sure is not kept.

On disk lie two kinds of files, each a line of JSON behind its checksum. Those in ``rows`` are named
after a digest of the row and of what holds for all rows; they say what each test came to, and name
a file in ``files``. That lists paths with digests of what they held: what the runs opened. A
verdict counts as long as all of them hold the same. A file that is torn, strange or gone is as good
as none.
"""

import json
import os
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Final

from msgspec import ValidationError, convert, to_builtins

from invertgate.model import Outcome, Result, Verdict
from invertgate.nightly.contents import NotToldError, file_digest_of
from invertgate.source_text import json_of

KEPT: Final = frozenset({Verdict.BOUND, Verdict.WEAK})
"""All else may have come from the machine, or from what is not there yet, and is tried again."""

_VERSION: Final = 1
_ROWS: Final = "rows"
_FILES: Final = "files"
_OLDEST: Final = 30 * 86_400.0
_MOST_BYTES: Final = 512 << 20
_OTHERS_WRITE: Final = 0o022
_SETTLED: Final = 2.0
"""Seconds that a file outside must have been left alone before the runs began."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What one test came to for a row."""

    result: Result
    files: str
    """Names the file that lists what it hangs on."""
    since: str


@dataclass(frozen=True, slots=True)
class _Row:
    version: int
    key: str
    kept: tuple[Kept, ...]


@dataclass(frozen=True, slots=True)
class _Files:
    version: int
    digests: dict[str, str]


@dataclass(slots=True)
class Cache:
    """Verdicts that hold for one tree and one set of surroundings."""

    folder: Path | None
    """Where they lie; None if nothing is kept."""
    context: str
    """Digest of all that holds for every row."""
    tree: Path
    """A copy of the tree in which nothing was run."""
    today: str
    started: float
    """When the runs began, as ``time.time`` counts."""
    _digests: dict[str, str] = field(default_factory=dict)
    _holding: dict[str, bool] = field(default_factory=dict)
    _new: dict[str, dict[str, Kept]] = field(default_factory=dict)

    def known(self, outcome: Outcome, source: bytes) -> Mapping[str, Result]:
        """Return what is known of a row, by test.

        Args:
            outcome: The row's.
            source: The bytes of its file.
        """
        kept = self._read(self._key(outcome, source))
        holding = (each for each in kept.values() if self._holds(each.files))
        return {
            each.result.test: replace(each.result, cached_since=each.since)
            for each in holding
            if each.result.key == outcome.key and each.result.verdict in KEPT
        }

    def keep(
        self, outcome: Outcome, source: bytes, result: Result, opened: Iterable[str] | None
    ) -> None:
        """Keep what a test came to, if it is sure what that hangs on.

        Args:
            outcome: The row's.
            source: The bytes of its file.
            result: Of just one test.
            opened: What its runs opened; None if that is not known.
        """
        if self.folder is None or opened is None or not _is_plain(result):
            return
        try:
            files = self._write_files(self.folder, {path: self._digest(path) for path in opened})
        except (NotToldError, OSError):
            return
        key = self._key(outcome, source)
        self._new.setdefault(key, {})[result.test] = Kept(result, files, self.today)

    def save(self) -> None:
        """Write down what was kept since the last time; a disk that refuses costs only the hits."""
        for key, new in self._new.items():
            if self.folder is not None:
                row = _Row(_VERSION, key, tuple({**self._read(key), **new}.values()))
                with suppress(OSError):
                    _write(_path(self.folder, _ROWS, key), to_builtins(row))
        self._new.clear()

    def _key(self, outcome: Outcome, source: bytes) -> str:
        told = (
            self.context,
            outcome.path,
            outcome.id,
            str(outcome.anchor),
            sha256(source).hexdigest(),
        )
        return sha256(os.fsencode(repr(told))).hexdigest()

    def _read(self, key: str) -> dict[str, Kept]:
        if self.folder is None:
            return {}
        try:
            row = convert(_content(_path(self.folder, _ROWS, key)), _Row)
        except (ValidationError, OSError):
            return {}
        if (row.version, row.key) != (_VERSION, key):
            return {}
        return {each.result.test: each for each in row.kept}

    def _holds(self, name: str) -> bool:
        """Tell whether all that a verdict hangs on is as it was."""
        if name not in self._holding:
            self._holding[name] = self._is_as_it_was(name)
        return self._holding[name]

    def _is_as_it_was(self, name: str) -> bool:
        if self.folder is None:
            return False
        try:
            files = convert(_content(_path(self.folder, _FILES, name)), _Files)
            if files.version != _VERSION or _name_of(files.digests) != name:
                return False
            return all(self._digest(path) == digest for path, digest in files.digests.items())
        except (ValidationError, OSError, NotToldError):
            return False

    def _digest(self, path: str) -> str:
        """Return a digest of what a path held when the runs began.

        Raises:
            NotToldError: It cannot be read, or was written since.
        """
        if path not in self._digests:
            place = self.tree / path
            if Path(path).is_absolute() and _changed_at(place) > self.started - _SETTLED:
                raise NotToldError(f"{path} was changed")
            self._digests[path] = file_digest_of(place)
        return self._digests[path]

    def _write_files(self, folder: Path, digests: dict[str, str]) -> str:
        name = _name_of(digests)
        path = _path(folder, _FILES, name)
        if name not in self._holding or not path.exists():
            _write(path, to_builtins(_Files(_VERSION, digests)))
            self._holding[name] = True
        return name


def usable(folder: Path) -> str:
    """Make a folder for verdicts; return why it cannot be believed, or nothing.

    Who can write in it can say that a row is bound.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        about = folder.stat()
    except OSError as error:
        return f"{folder} cannot be used: {error.strerror}"
    if hasattr(os, "geteuid") and about.st_uid not in (0, os.geteuid()):
        return f"{folder} belongs to somebody else"
    return f"others may write in {folder}" if about.st_mode & _OTHERS_WRITE else ""


def trim(folder: Path, most: int = _MOST_BYTES, oldest: float = _OLDEST) -> None:
    """Remove what nobody asked for in a long time, and the oldest of what is too much.

    Args:
        folder: Where verdicts lie.
        most: Bytes that they may take together.
        oldest: Seconds since a file was written or used.
    """
    found = sorted(_looked_at(folder), reverse=True)
    taken, now = 0, time.time()
    for used, size, path in found:
        taken += size
        if taken > most or now - used > oldest:
            with suppress(OSError):
                path.unlink()


def _looked_at(folder: Path) -> Iterator[tuple[float, int, Path]]:
    for path in (each for kind in (_ROWS, _FILES) for each in folder.glob(f"{kind}/*/*")):
        with suppress(OSError):
            about = path.lstat()
            yield about.st_mtime, about.st_size, path


def _is_plain(result: Result) -> bool:
    """Tell whether nothing stood in the way of the runs that a verdict comes from."""
    unclear = any(run.notes for run in result.runs)
    return result.verdict in KEPT and bool(result.runs) and not unclear


def _changed_at(path: Path) -> float:
    try:
        about = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return 0.0
    except OSError as error:
        raise NotToldError(str(error)) from error
    return max(about.st_mtime, about.st_ctime)


def _name_of(digests: Mapping[str, str]) -> str:
    return sha256(os.fsencode(repr(sorted(digests.items())))).hexdigest()


def _path(folder: Path, kind: str, name: str) -> Path:
    return folder / kind / name[:2] / f"{name[2:]}.json"


def _content(path: Path) -> object:
    """Return what a file says; None if it is torn.

    Raises:
        OSError: There is no such file, or it cannot be read.
    """
    checksum, _, text = path.read_bytes().partition(b" ")
    with suppress(OSError):
        os.utime(path)  # it is in use
    try:
        return json_of(text) if int(checksum, 16) == zlib.crc32(text) else None
    except ValueError:
        return None


def _write(path: Path, value: object) -> None:
    """Write a file as a whole or not at all.

    Raises:
        OSError: It cannot be written.
    """
    text = json.dumps(value).encode("ascii")
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        unfinished.write_bytes(b"%08x %s" % (zlib.crc32(text), text))
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
