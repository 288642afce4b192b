"""Read whole files, as if all that is in them were new."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from invertgate.errors import NoBaseError, UsageError
from invertgate.model import Patch
from invertgate.patch.contents import changed_files
from invertgate.patch.difference import Entry, mode_on_disk, new_entry
from invertgate.patch.git import Repository, entries, open_repository
from invertgate.patch.scope import Judged, Rules, choose
from invertgate.patch.worktree import listing


def whole_files(
    root: Path,
    paths: Iterable[Path],
    *,
    head: str | None = None,
    rules: Rules | None = None,
    environment: Mapping[str, str] = os.environ,
) -> Patch:
    """Read files as if all that is in them were new.

    Args:
        root: Any folder of the work tree.
        paths: Files, or folders that stand for the Python files in them; relative ones start at
            ``root``.
        head: The revision that is judged; the working tree by default.
        rules: Which files make rows.
        environment: What git runs in.

    Raises:
        UsageError: A path does not exist, lies outside the repository, or holds no Python.
        NoBaseError: git cannot read the repository or the head.
    """
    rules = rules or Rules()
    repository = open_repository(root, environment)
    commit = _commit(repository, head) if head else ""
    judged = Judged(repository, "", commit)
    found: dict[str, Entry] = {}
    for path in paths:
        found |= _below(judged, path, _relative(repository, root, path))
    chosen, left_out, notes = choose(judged, list(found.values()), rules)
    return Patch("", "whole files", commit, changed_files(judged, chosen, {}), left_out, notes)


def _commit(repository: Repository, head: str) -> str:
    [commit] = repository.commits([head])
    if commit is None:
        raise NoBaseError(f"--head {head} names no commit here; fetch it, or correct the name")
    return commit


def _relative(repository: Repository, root: Path, path: Path) -> str:
    # Only the folder is resolved: a link is named as a link, not as what it points at.
    whole = Path(os.path.abspath(root / path))  # noqa: PTH100
    folder = whole.parent.resolve() / whole.name
    top = repository.top.resolve()
    if not folder.is_relative_to(top):
        raise UsageError(f"{path} lies outside the repository {repository.top}")
    inside = folder.relative_to(top).as_posix()
    return "" if inside == "." else inside


def _below(judged: Judged, given: Path, path: str) -> dict[str, Entry]:
    found = _at_head(judged, path) if judged.head else _in_worktree(judged.repository, path)
    if found is None:
        where = f" at {judged.head[:12]}" if judged.head else ""
        raise UsageError(f"{given} does not exist{where}")
    modules = {name: entry for name, entry in found.items() if name.endswith(".py")}
    if not modules:
        raise UsageError(f"{given} holds no Python file that git knows or does not ignore")
    return modules


def _at_head(judged: Judged, path: str) -> dict[str, Entry] | None:
    where = (path,) if path else ()
    listed = judged.repository.read("ls-tree", "-r", "-z", judged.head, "--", *where)
    found = {}
    for header, name in entries(listed):
        mode, _, blob = header.split(" ")
        found[name] = new_entry(name, mode, blob)
    return found or None


def _in_worktree(repository: Repository, path: str) -> dict[str, Entry] | None:
    place = repository.top / path
    if not place.is_dir():
        exists = place.is_file() or place.is_symlink()
        return {path: new_entry(path, mode_on_disk(place))} if exists else None
    listed = listing(repository, [path] if path else [])
    there = (name for name in listed.known if name in listed.sparse or _exists(repository, name))
    return {name: new_entry(name, mode_on_disk(repository.top / name)) for name in there}


def _exists(repository: Repository, name: str) -> bool:
    return os.path.lexists(repository.top / name)
