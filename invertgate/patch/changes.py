"""Read a patch: the Python files that differ between a merge base and a head."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from invertgate.model import Patch
from invertgate.patch.base import Base, find_base
from invertgate.patch.contents import changed_files
from invertgate.patch.difference import (
    Entry,
    added_lines,
    differences,
    ids_of_files,
    index_with,
    mode_on_disk,
    new_entry,
)
from invertgate.patch.git import REGULAR, SUBMODULE, SYMLINK, Repository, open_repository
from invertgate.patch.globs import first_match
from invertgate.patch.scope import ALL_PYTHON, Judged, Rules, choose
from invertgate.patch.worktree import Listing, listing


@dataclass(frozen=True, slots=True)
class _Difference:
    entries: list[Entry]
    added: Mapping[str, frozenset[int]] = field(default_factory=dict)


def read(
    root: Path,
    *,
    base: str | None = None,
    head: str | None = None,
    rules: Rules | None = None,
    environment: Mapping[str, str] = os.environ,
) -> Patch:
    """Read what differs between the merge base and a head.

    Args:
        root: Any folder of the work tree.
        base: The branch or commit to compare with; by default what the CI host says, else
            origin's default branch, else (without an origin) a local main or master.
        head: The revision that is judged; the working tree by default, with what is staged,
            not staged, or untracked and not ignored.
        rules: Which files make rows.
        environment: Where a CI host speaks, and what git runs in.

    Returns:
        The files that may make rows, deleted ones that may lend outcomes, and those left out.

    Raises:
        NoBaseError: There is no base, or git cannot give the difference; never "no changes".
    """
    repository = open_repository(root, environment)
    found = find_base(repository, base, head)
    return compare(repository, found, head=head, rules=rules)


def compare(
    repository: Repository, found: Base, *, head: str | None = None, rules: Rules | None = None
) -> Patch:
    """Read what differs between a merge base that was found and a head.

    Args:
        repository: Where both are.
        found: The merge base, and how it was found.
        head: The revision that is judged; the working tree by default.
        rules: Which files make rows.

    Raises:
        NoBaseError: git cannot give the difference; never "no changes".
    """
    rules = rules or Rules()
    judged = Judged(repository, found.commit, found.head if head else "")
    listed = Listing() if head else listing(repository)
    difference = _difference(judged, listed.untracked)
    chosen, left_out, notes = choose(judged, difference.entries, rules)
    return Patch(
        base=found.commit,
        base_name=found.name,
        head=judged.head,
        files=changed_files(judged, chosen, difference.added),
        left_out=left_out,
        notes=(
            *found.notes,
            *(() if difference.entries or listed.hidden else _at_base(found)),
            *notes,
            *_hidden(listed),
            *_idle_globs(listed, rules),
        ),
    )


def _at_base(found: Base) -> Iterator[str]:
    if found.commit == found.head:
        yield "what is judged is the merge base itself; name another with --base if that is wrong"


def _difference(judged: Judged, untracked: Sequence[str]) -> _Difference:
    repository, base, head = judged.repository, judged.base, judged.head
    found = differences(repository, base, head)
    new = [new_entry(path, mode_on_disk(repository.top / path)) for path in untracked]
    modules = [entry.path for entry in new if entry.mode == REGULAR and _is_python(entry.path)]
    if modules and any(entry.status == "D" and _is_python(entry.path) for entry in found):
        with index_with(repository, modules, base) as extra:
            found = differences(repository, base, head, extra)
            added = added_lines(repository, base, head, extra)
        new = [entry for entry in new if entry.path not in set(modules)]
    elif any(entry.status in "MRTU" and _is_python(entry.path) for entry in found):
        added = added_lines(repository, base, head)
    else:
        added = {}
    return _Difference([*_changed(judged, found, added), *new], added)


def _changed(
    judged: Judged, found: list[Entry], added: Mapping[str, frozenset[int]]
) -> Iterator[Entry]:
    """Leave out files that only look changed, because their time stamps are new."""
    touched = [] if judged.head else [entry for entry in found if _may_be_touched(entry)]
    others = [entry for entry in touched if not _is_python(entry.path)]
    ids = ids_of_files(judged.repository, (entry.path for entry in others)) if others else []
    same = {entry.path for entry, blob in zip(others, ids, strict=True) if blob == entry.old_id}
    same |= {entry.path for entry in touched if _is_python(entry.path) and entry.path not in added}
    unmerged = {entry.path for entry in found if entry.status == "U"}
    for entry in found:
        if entry.path in same or (entry.path in unmerged and entry.status != "U"):
            continue
        yield entry


def _may_be_touched(entry: Entry) -> bool:
    regular = entry.mode not in {SYMLINK, SUBMODULE}
    return entry.status == "M" and entry.mode == entry.old_mode and regular and not entry.has_id


def _is_python(path: str) -> bool:
    return path.endswith(".py")


def _hidden(listed: Listing) -> Iterator[str]:
    hidden = [path for path in listed.hidden if _is_python(path)]
    if hidden:
        yield (
            f"git was told to take {', '.join(hidden)} for unchanged, so edits there are not seen; "
            "undo it with git update-index --no-assume-unchanged"
        )


def _idle_globs(listed: Listing, rules: Rules) -> Iterator[str]:
    if not listed.known or rules.include == ALL_PYTHON:
        return
    for glob in rules.include:
        if not any(first_match(path, [glob]) for path in listed.known):
            yield f"include {glob} matches no file of the repository"
