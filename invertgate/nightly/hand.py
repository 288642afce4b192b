"""What a worker of a cluster does for a run on another machine: keeps its tree, judges a shard."""

import json
import os
import shutil
import sys
import tempfile
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import distributions
from pathlib import Path
from typing import Final

from invertgate import process
from invertgate.nightly.archive import digest_of, unpack

ENTRY: Final = "invertgate.cluster_shard"
"""The module that judges a shard, in a process of its own."""

_US: Final = Path(__file__).parents[1]
_KEPT: Final = 3
"""Archives that stay for runs to come."""
_LOOK_EVERY: Final = 0.2
_LAST_WORDS: Final = 2000
_OUT: Final = Path("invertgate.out", "report.json")

_one_at_a_time = threading.Lock()
_stopped: set[str] = set()


@dataclass(frozen=True, slots=True)
class Stance:
    """What verdicts hang on, beside the tree."""

    python: str
    platform: str
    sources: str
    """Digest of our own."""
    installed: tuple[str, ...]
    """Each distribution with its version."""

    def differs(self, other: "Stance") -> str:
        """Say in what another machine is not like this one; empty if it is."""
        if self.python != other.python:
            return f"it runs Python {other.python}, and this machine {self.python}"
        if self.platform != other.platform:
            return f"its platform is {other.platform}, and this machine's {self.platform}"
        if self.installed != other.installed:
            here, there = set(self.installed), set(other.installed)
            return f"what is installed differs: {_listed(there - here, here - there)}"
        return "" if self.sources == other.sources else "its invertgate is another one"


def _listed(there: set[str], here: set[str]) -> str:
    parts = [
        f"{', '.join(sorted(names)[:5])} only {where}"
        for names, where in ((there, "there"), (here, "here"))
        if names
    ]
    return "; ".join(parts)


def stance() -> Stance:
    """Return what verdicts hang on here."""
    found = {
        f"{each.name.lower().replace('_', '-')} {each.version}"
        for each in distributions()
        if each.name
    }
    python = f"{sys.implementation.name} {'.'.join(map(str, sys.version_info[:3]))}"
    return Stance(python, sys.platform, _sources(), tuple(sorted(found)))


def _sources() -> str:
    whole = sha256()
    for source in sorted(_US.rglob("*.py")):
        whole.update(source.read_bytes())
    return whole.hexdigest()


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a shard."""

    code: int
    """How its process ended."""
    report: str
    """Empty if there is none."""
    said: str
    """The last of what it printed."""


def holds(digest: str) -> bool:
    """Tell whether an archive is on this host, and let it stay for another while."""
    archive = _archive(digest)
    if not archive.is_file():
        return False
    os.utime(archive)
    return True


def take(digest: str, token: str, offset: int, piece: bytes) -> None:
    """Write a piece of an archive that is on its way."""
    with _partial(digest, token).open("r+b" if offset else "wb") as stream:
        stream.seek(offset)
        stream.write(piece)


def keep(digest: str, token: str) -> bool:
    """Keep an archive all of which has come; tell whether it is the one that was sent."""
    partial = _partial(digest, token)
    if digest_of(partial) != digest:
        partial.unlink()
        return False
    partial.replace(_archive(digest))
    archives = sorted(_cache().glob("*.tar.gz"), key=lambda each: each.stat().st_mtime)
    for old in archives[:-_KEPT]:
        old.unlink(missing_ok=True)
    return True


def judge(digest: str, name: str, token: str, job: str) -> Answer:
    """Judge a shard in a copy of the tree that belongs to this process.

    Args:
        digest: The archive.
        name: What the top of the tree is called.
        token: The run's.
        job: What the shard's process is told, as JSON.
    """
    with _one_at_a_time:
        if token in _stopped:
            return Answer(-1, "", "the run was stopped")
        place = _tree(digest)
        top = place / name
        if not (place / "whole").exists():
            shutil.rmtree(place, ignore_errors=True)
            unpack(_archive(digest), top)
            (place / "whole").touch()
        told = place / "job.json"
        told.write_text(json.dumps({**json.loads(job), "top": str(top)}), encoding="utf-8")
        return _judged(token, told, top)


def stop(token: str) -> None:
    """End what a run has started in this process, and remove its tree."""
    _stopped.add(token)
    with _one_at_a_time:
        for place in _trees():
            if _owner(place) == os.getpid():
                shutil.rmtree(place, ignore_errors=True)


def _judged(token: str, told: Path, top: Path) -> Answer:
    log = told.with_name("log")
    log.unlink(missing_ok=True)
    (top / _OUT).unlink(missing_ok=True)
    argv = [sys.executable, "-m", ENTRY, str(told)]
    with process.running(argv, cwd=top, env=os.environ, log=log) as shard:
        while (code := shard.poll()) is None and token not in _stopped:
            time.sleep(_LOOK_EVERY)
    said = log.read_text(encoding="utf-8", errors="replace")[-_LAST_WORDS:]
    try:
        report = (top / _OUT).read_text(encoding="utf-8")
    except OSError:
        report = ""
    return Answer(-1 if code is None else code, report, said)


def _cache() -> Path:
    """Return the folder for archives and trees, which is nobody else's.

    Raises:
        PermissionError: Somebody else has put it there.
    """
    folder = Path(tempfile.gettempdir(), f"invertgate-{os.getuid()}")
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    about = folder.lstat()
    if folder.is_symlink() or about.st_uid != os.getuid() or about.st_mode & 0o077:
        raise PermissionError(f"{folder} belongs to somebody else, or is open to others")
    return folder


def _archive(digest: str) -> Path:
    return _cache() / f"{digest}.tar.gz"


def _partial(digest: str, token: str) -> Path:
    return _cache() / f"{digest}.{token}.part"


def _tree(digest: str) -> Path:
    """Return the place of this process's tree; those of processes that are gone are removed."""
    for place in _trees():
        if not _runs(_owner(place)):
            shutil.rmtree(place, ignore_errors=True)
    return _cache() / "trees" / f"{digest[:16]}-{os.getpid()}"


def _trees() -> list[Path]:
    return list(_cache().glob("trees/*-*"))


def _owner(place: Path) -> int:
    return int(place.name.rpartition("-")[2])


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
