"""How much a patch adds and deletes in each file, and which lines it removes, from git alone."""

import os
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from invertgate.patch.difference import (
    HUNK,
    HUNKS,
    Entry,
    diff,
    ids_of_files,
    index_with,
    mode_on_disk,
    new_entry,
    parse_raw,
    path_in_header,
)
from invertgate.patch.git import REGULAR, SUBMODULE, SYMLINK, Repository, strings, understood

_RAW_AND_NUMBERS: Final = ("--raw", "--numstat", "-z", "--no-abbrev", "--diff-algorithm=default")


@dataclass(frozen=True, slots=True)
class Numbers:
    """What git counts in one path that differs."""

    entry: Entry
    added: int | None
    """Lines; None where git does not count (binary, or called so by an attribute)."""
    deleted: int | None


def count(
    repository: Repository, base: str, head: str, untracked: Sequence[str] = ()
) -> list[Numbers]:
    """Count the lines that are added and deleted in each path, renames followed.

    Args:
        repository: Where to look.
        base: A commit.
        head: Another, or empty for the working tree.
        untracked: Paths of the working tree that the index lacks and the patch holds.

    Raises:
        NoBaseError: git failed.
    """
    with _index(repository, base, untracked) as extra:
        listing = diff(repository, base, head, _RAW_AND_NUMBERS, extra=extra)
    found = [*parse_counts(listing), *_not_in_the_index(repository, untracked)]
    same = set() if head else _only_touched(repository, found)
    return [numbers for numbers in found if numbers.entry.path not in same]


def removed_lines(
    repository: Repository, base: str, head: str, untracked: Sequence[str] = ()
) -> dict[str, tuple[bytes, ...]]:
    """Give the lines that git calls removed, by the path that they had at the base.

    The arguments are those of ``count``. A path without removed lines may be missing.

    Raises:
        NoBaseError: git failed.
    """
    with _index(repository, base, untracked) as extra:
        return parse_removed(diff(repository, base, head, HUNKS, extra=extra))


def parse_numbers(records: Sequence[str]) -> dict[str, tuple[int | None, int | None]]:
    """Read what ``--numstat -z`` printed, by the path at the head.

    Raises:
        NoBaseError: It is none of it.
    """
    numbers = {}
    remaining = iter(records)
    with understood("diff"):
        for record in remaining:
            added, deleted, path = record.split("\t", 2)
            if not path:  # a rename: both paths follow
                next(remaining)
                path = next(remaining)
            numbers[path] = (_number(added), _number(deleted))
    return numbers


def parse_removed(patch: bytes) -> dict[str, tuple[bytes, ...]]:
    """Read the removed lines out of a patch without context, by counting, not by prefixes.

    Raises:
        NoBaseError: It holds fewer lines than it says, or a name that cannot be read.
    """
    removed: dict[str, list[bytes]] = {}
    lines = iter(patch.split(b"\n"))
    path = ""
    with understood("diff"):
        for line in lines:
            if line.startswith(b"--- "):
                path = path_in_header(line.removeprefix(b"--- "), b"a/")
            elif hunk := HUNK.match(line):
                gone, _, came = (int(number or b"1") for number in hunk.groups())
                removed.setdefault(path, []).extend(_taken(lines, gone))
                _taken(lines, came)
    return {path: tuple(gone) for path, gone in removed.items() if gone}


@contextmanager
def _index(
    repository: Repository, base: str, untracked: Sequence[str]
) -> Generator[Mapping[str, str] | None]:
    files = [path for path in untracked if mode_on_disk(repository.top / path) == REGULAR]
    if not files:
        yield None
        return
    with index_with(repository, files, base) as extra:
        yield extra


def parse_counts(listing: bytes) -> Iterator[Numbers]:
    """Read what ``--raw --numstat -z`` printed."""
    records = strings(listing)
    with understood("diff"):
        start = _end_of_raw(records)
    numbers = parse_numbers(records[start:])
    raw = "".join(f"{record}\0" for record in records[:start])
    entries = parse_raw(os.fsencode(raw))
    for entry in entries:
        added, deleted = numbers.get(entry.path, (0, 0))  # git is silent where nothing differs
        yield Numbers(entry, added, deleted)


def _end_of_raw(records: Sequence[str]) -> int:
    position = 0
    while position < len(records) and records[position].startswith(":"):
        status = records[position].rpartition(" ")[2]
        position += 3 if status[0] in "RC" else 2
    return position


def _not_in_the_index(repository: Repository, untracked: Sequence[str]) -> Iterator[Numbers]:
    for path in untracked:
        mode = mode_on_disk(repository.top / path)
        if mode != REGULAR:
            yield Numbers(new_entry(path, mode), 1, 0)


def _only_touched(repository: Repository, found: Sequence[Numbers]) -> set[str]:
    """Name the files that only look changed, because their time stamps are new."""
    touched = [numbers.entry for numbers in found if _may_be_touched(numbers.entry)]
    if not touched:
        return set()
    ids = ids_of_files(repository, (entry.path for entry in touched))
    with understood("hash-object"):
        pairs = list(zip(touched, ids, strict=True))
    return {entry.path for entry, blob in pairs if blob == entry.old_id}


def _may_be_touched(entry: Entry) -> bool:
    regular = entry.mode not in {SYMLINK, SUBMODULE}
    return entry.status == "M" and entry.mode == entry.old_mode and regular and not entry.has_id


def _number(text: str) -> int | None:
    return None if text == "-" else int(text)


def _taken(lines: Iterator[bytes], count: int) -> list[bytes]:
    taken: list[bytes] = []
    while len(taken) < count:
        line = next(lines)
        if not line.startswith(b"\\"):  # "\ No newline at end of file" is not counted
            taken.append(line[1:])
    return taken
