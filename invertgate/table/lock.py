"""Locks: what a claimed test looked like, in one line, and what has changed since."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from invertgate.table.document import Entry

_VERSION: Final = "1"
_LOCK: Final = re.compile(r"(?P<version>\d+) (?P<digest>[0-9a-f]{32})(?: \((?P<parts>.*)\))?")
_SHORT: Final = 8
_BETWEEN: Final = "; "

Parts = Mapping[str, str]
"""What a test is made of: what each part is called in messages, and its text."""
Changes = Callable[[str, str], str]
"""Says what has become of a test since a lock was made; empty if nothing."""


def lock_of(parts: Parts) -> str:
    """Write a lock: a digest of everything, which decides, and a short one for each part.

    The short ones only serve to name what has changed.

    Args:
        parts: What the test is made of.
    """
    named = (f"{name}={_digest(text)[:_SHORT]}" for name, text in sorted(parts.items()))
    return f"{_VERSION} {_digest_of(parts)} ({_BETWEEN.join(named)})"


def changes_since(lock: str, parts: Parts) -> str:
    """Say which parts have changed since a lock was made; empty if none has.

    Args:
        lock: As the table has it.
        parts: What the test is made of now.
    """
    read = _LOCK.fullmatch(lock)
    if read is None or read["version"] != _VERSION:
        return "another version of invertgate locked it; `invertgate bind --lock` locks it anew"
    if read["digest"] == _digest_of(parts):
        return ""
    pairs = (one.rpartition("=") for one in (read["parts"] or "").split(_BETWEEN))
    before = {name: digest for name, _, digest in pairs}
    now = {name: _digest(text)[:_SHORT] for name, text in parts.items()}
    told = [name for name in before.keys() & now.keys() if before[name] != now[name]]
    came, went = now.keys() - before.keys(), before.keys() - now.keys()
    told += [f"{name} (new)" for name in came if not _is_import(name)]
    told = told or [f"{name} (gone)" for name in went if name]  # else they went with what changed
    told = told or [f"{name} (new)" for name in came]
    what = ", ".join(sorted(told, key=_own_first)) or "what it is made of"
    return f"the claimed test changed since it was locked: {what}"


@dataclass(frozen=True, slots=True)
class Held:
    """What the tables say of one row."""

    entry: Entry | None
    """In the judged table."""
    base: Entry | None = None
    """In the merge base's table, where that counts."""

    @property
    def lock(self) -> str | None:
        """The lock that counts: the merge base's, if it has one."""
        if self.base is not None and self.base.lock is not None:
            return self.base.lock
        return self.entry.lock if self.entry is not None else None

    @property
    def is_held(self) -> bool:
        """Tell whether the row has one test by which it must be bound."""
        return self.lock is not None or bool(self.base is not None and self.base.test)


def trouble_with(held: Held, changes: Changes) -> str:
    """Say why a row is locked out; empty if it is not.

    Args:
        held: What the tables say of it.
        changes: Looks at the test as it is judged.
    """
    entry, base = held.entry, held.base
    test = entry.test if entry is not None else None
    if base is not None and base.test is not None and test != base.test:
        return f"the merge base's table holds this row for {base.test}; {_pointed_at(test)}"
    changed = changes(test, held.lock) if test is not None and held.lock is not None else ""
    if base is not None and base.lock is not None and entry is not None:
        if entry.lock is None:
            return _both("the patch unlocks a row that the merge base's table has locked", changed)
        if entry.lock != base.lock:
            return _both("the patch locks a row anew that the merge base has locked", changed)
    return changed


def _pointed_at(test: str | None) -> str:
    return f"the patch points it at {test}" if test else "the patch takes its test away"


def _both(first: str, second: str) -> str:
    return "; ".join(filter(None, (first, second)))


def _is_import(name: str) -> bool:
    return name.startswith("the import of ")


def _own_first(name: str) -> tuple[bool, str]:
    return (not name.startswith("its "), name)


def _digest_of(parts: Parts) -> str:
    whole = "\0".join(f"{name}\0{text}" for name, text in sorted(parts.items()))
    return _digest(whole)[:32]


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
