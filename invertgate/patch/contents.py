"""Turn what git says differs into files with both contents and their added lines."""

from collections.abc import Iterator, Mapping

from invertgate.errors import NoBaseError
from invertgate.model import ChangedFile
from invertgate.patch.difference import Entry
from invertgate.patch.git import SUBMODULE, SYMLINK
from invertgate.patch.scope import Judged

_NO_ID = ""


def changed_files(
    judged: Judged, chosen: list[Entry], added: Mapping[str, frozenset[int]]
) -> tuple[ChangedFile, ...]:
    """Read the contents of files that differ, in the order of their paths.

    Args:
        judged: Where they stand.
        chosen: The files.
        added: Lines that git calls added, by path; new files need none.

    Raises:
        NoBaseError: A content cannot be had.
    """
    unmerged = [entry.path for entry in chosen if entry.status == "U"]
    bases = judged.repository.files_at(judged.base, unmerged)
    blobs = judged.repository.blobs(_wanted(judged, chosen))
    return tuple(
        _changed_file(
            entry,
            bases.get(entry.path) if entry.status == "U" else blobs.get(_base_id(entry)),
            blobs.get(entry.id) if judged.head else _on_disk(judged, entry),
            added.get(entry.path, frozenset()),
        )
        for entry in sorted(chosen, key=lambda entry: entry.path)
    )


def _changed_file(
    entry: Entry, base: bytes | None, head: bytes | None, lines: frozenset[int]
) -> ChangedFile:
    return ChangedFile(
        path=entry.path,
        base_path=None if base is None else entry.old_path,
        base=base,
        head=head,
        added=_added(base, head, lines),
        is_row_source=head is not None,
    )


def _wanted(judged: Judged, chosen: list[Entry]) -> Iterator[str]:
    for entry in chosen:
        ids = (_base_id(entry), entry.id if judged.head else _NO_ID)
        yield from (blob for blob in ids if blob.strip("0"))


def _base_id(entry: Entry) -> str:
    return _NO_ID if entry.old_mode in {SYMLINK, SUBMODULE} else entry.old_id


def _on_disk(judged: Judged, entry: Entry) -> bytes | None:
    if entry.status == "D":
        return None
    try:
        return (judged.repository.top / entry.path).read_bytes()
    except OSError as error:
        raise NoBaseError(
            f"{entry.path} is part of the patch but cannot be read from the working tree "
            f"({error.strerror}); in a sparse checkout run git sparse-checkout disable"
        ) from error


def _added(base: bytes | None, head: bytes | None, lines: frozenset[int]) -> frozenset[int]:
    if head is None:
        return frozenset()
    if base is None:
        return frozenset(range(1, len(head.splitlines()) + 1))
    return as_python_counts(head, lines)


def as_python_counts(content: bytes, lines: frozenset[int]) -> frozenset[int]:
    """Turn line numbers of git, which knows only line feeds, into those of Python.

    Args:
        content: The file, in which a lone carriage return ends a line for Python.
        lines: Line numbers from 1 as git counts.
    """
    if content.count(b"\r") == content.count(b"\r\n"):
        return lines
    numbers: set[int] = set()
    line = 1
    for number, text in enumerate(content.split(b"\n"), 1):
        count = len((text + b"\n").splitlines())
        if number in lines:
            numbers.update(range(line, line + count))
        line += count
    return frozenset(numbers)
