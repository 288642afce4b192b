"""Reports over time, in one SQLite file that several processes may write."""

import fcntl
import json
import os
import sqlite3
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Final

from invertgate.model import Verdict

VERSION: Final = 1
MOST: Final = 100
"""Reports of one series and machine that are kept; who compares months looks at one a night."""
_PATIENCE: Final = 30.0
_NOT_A_DATABASE: Final = ("SQLITE_NOTADB", "SQLITE_CORRUPT", "SQLITE_CORRUPT_INDEX")

_TABLES: Final = """
CREATE TABLE reports (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    series TEXT NOT NULL, machine TEXT NOT NULL, started TEXT NOT NULL, digest TEXT NOT NULL,
    base TEXT NOT NULL, tree TEXT NOT NULL, cpu REAL NOT NULL, counts TEXT NOT NULL,
    UNIQUE (series, machine, started, digest)
);
CREATE TABLE names (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE verdicts (
    report INTEGER NOT NULL REFERENCES reports ON DELETE CASCADE,
    row INTEGER NOT NULL, verdict TEXT NOT NULL, test INTEGER NOT NULL, unstable TEXT NOT NULL,
    PRIMARY KEY (report, row)
) WITHOUT ROWID;
CREATE TABLE weak (
    report INTEGER NOT NULL REFERENCES reports ON DELETE CASCADE,
    test INTEGER NOT NULL, row INTEGER NOT NULL,
    PRIMARY KEY (report, test, row)
) WITHOUT ROWID;
CREATE TABLE slow (
    report INTEGER NOT NULL REFERENCES reports ON DELETE CASCADE,
    test INTEGER NOT NULL, seconds REAL NOT NULL,
    PRIMARY KEY (report, test)
) WITHOUT ROWID;
CREATE INDEX verdicts_by_row ON verdicts (row, report);
"""


class HistoryError(Exception):
    """The history cannot be used; the message says why."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A row of a report, as far as it is compared."""

    row: str
    """``PATH:ID``."""
    verdict: Verdict
    test: str = ""
    unstable: str = ""
    """Why it could not be decided, if runs disagreed; or empty."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A complete report, as far as it is compared."""

    series: str
    machine: str
    started: str
    digest: str
    """Tells two reports apart that were started at the same time."""
    base: str = ""
    tree: str = ""
    """Digest of all files that were there; empty if nobody looked."""
    cpu: float = 0.0
    counts: Mapping[Verdict, int] = field(default_factory=dict)
    rows: tuple[Judged, ...] = ()
    weak: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Rows that show a test to be weak, by its nodeid."""
    slow: Mapping[str, float] = field(default_factory=dict)
    """Seconds that a run of a test takes, by its nodeid."""


@contextmanager
def opened(path: Path, *, create: bool) -> Generator[sqlite3.Connection]:
    """Lend a history in a transaction of its own; what fails in it leaves no trace.

    Args:
        path: Where it lies.
        create: Make one where there is none; its folder has to be there.

    Raises:
        HistoryError: There is none, another process does not let go of it, it is of a newer
            version, or it is no history.
    """
    if path.is_symlink() or not (create or path.exists()):
        raise HistoryError(f"{path} is a link" if path.is_symlink() else f"there is no {path}")
    try:
        connection = sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None)
    except sqlite3.Error as error:
        raise HistoryError(f"{path}: {error}") from error
    try:
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("BEGIN IMMEDIATE" if create else "BEGIN")
        _prepare(connection, path)
        yield connection
        connection.execute("COMMIT")
    except sqlite3.Error as error:
        raise HistoryError(f"{path}: {error}") from error
    except (TypeError, ValueError) as error:  # any column of SQLite may hold a value of any type
        raise HistoryError(f"{path} holds what no report says: {error}") from error
    finally:
        connection.close()


def put_aside(path: Path) -> Path | None:
    """Move a file aside that is no history or a broken one, and return where it is now.

    Anything else (a locked one, one of a newer version, none) stays where it is, and so does what
    is not called ``.sqlite``: somebody may have named a file of theirs by mistake.
    """
    if path.suffix != ".sqlite":
        return None
    try:
        stream = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(stream, fcntl.LOCK_EX)  # or else two would move, and the second what is new
        if not _is_same(stream, path) or not _is_broken(path):
            return None
        aside = next(each for each in _names_beside(path) if not each.exists())
        path.rename(aside)
    except OSError:
        return None
    finally:
        os.close(stream)
    return aside


def add(connection: sqlite3.Connection, entry: Entry) -> None:
    """Add a report, unless it is there already, and forget the oldest of its series."""
    report = connection.execute(
        "INSERT OR IGNORE INTO reports (series, machine, started, digest, base, tree, cpu, counts)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            entry.series,
            entry.machine,
            entry.started,
            entry.digest,
            entry.base,
            entry.tree,
            entry.cpu,
            json.dumps(dict(entry.counts)),
        ),
    )
    if not report.rowcount:
        return
    number = report.lastrowid
    names = _named(connection, entry)
    connection.executemany(
        "INSERT OR REPLACE INTO verdicts VALUES (?, ?, ?, ?, ?)",
        ((number, names[r.row], r.verdict, names[r.test], r.unstable) for r in entry.rows),
    )
    connection.executemany(
        "INSERT OR IGNORE INTO weak VALUES (?, ?, ?)",
        ((number, names[test], names[row]) for test, rows in entry.weak.items() for row in rows),
    )
    connection.executemany(
        "INSERT OR REPLACE INTO slow VALUES (?, ?, ?)",
        ((number, names[test], seconds) for test, seconds in entry.slow.items()),
    )
    connection.execute(
        "DELETE FROM reports WHERE series = ? AND machine = ? AND id NOT IN (SELECT id FROM reports"
        " WHERE series = ? AND machine = ? ORDER BY started DESC, id DESC LIMIT ?)",
        (entry.series, entry.machine, entry.series, entry.machine, MOST),
    )


def last_verdicts(connection: sqlite3.Connection, series: str) -> dict[str, str]:
    """Return what the newest report of a series says of each row, on whatever machine it was made.

    Args:
        connection: A history.
        series: Of which reports.
    """
    found = connection.execute(
        "SELECT name, verdict FROM verdicts JOIN names ON names.id = row WHERE report ="
        " (SELECT id FROM reports WHERE series = ? ORDER BY started DESC, id DESC LIMIT 1)",
        (series,),
    )
    return dict(found.fetchall())


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    [[version]] = connection.execute("PRAGMA user_version")
    if version == VERSION:
        return
    if version:
        raise HistoryError(f"{path} is of version {version} of histories; this one reads {VERSION}")
    if connection.execute("SELECT 1 FROM sqlite_master").fetchone():
        raise HistoryError(f"{path} is a database of somebody else")
    for statement in _TABLES.split(";"):
        connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {VERSION}")


def _named(connection: sqlite3.Connection, entry: Entry) -> dict[str, int]:
    """Give every name of an entry its number."""
    told: Iterable[str] = {
        *(name for row in entry.rows for name in (row.row, row.test)),
        *(name for test, rows in entry.weak.items() for name in (test, *rows)),
        *entry.slow,
    }
    numbers: dict[str, int] = {}
    for name in told:
        kept = name.encode("utf-8", "backslashreplace").decode()
        connection.execute("INSERT OR IGNORE INTO names (name) VALUES (?)", (kept,))
        found = connection.execute("SELECT id FROM names WHERE name = ?", (kept,))
        [numbers[name]] = found.fetchone()
    return numbers


def _is_same(stream: int, path: Path) -> bool:
    return os.path.samestat(os.fstat(stream), path.stat())


def _names_beside(path: Path) -> Iterator[Path]:
    return (path.with_name(f"{path.name}.broken-{number}") for number in count(1))


def _is_broken(path: Path) -> bool:
    """Tell whether a file is no database, or one that was damaged."""
    try:
        with closing(sqlite3.connect(path, timeout=_PATIENCE)) as connection:
            return connection.execute("PRAGMA quick_check(1)").fetchall() != [("ok",)]
    except sqlite3.DatabaseError as error:
        return error.sqlite_errorname in _NOT_A_DATABASE
