"""The facts of a patch, made from two trees of files without asking git."""

from collections.abc import Mapping
from difflib import SequenceMatcher

from invertgate.lanes.facts import PathFacts, ProbeFacts
from invertgate.lanes.paths import PathClass, classify

Tree = Mapping[str, str]


def facts_of(base: Tree, head: Tree, renames: Mapping[str, str] | None = None) -> ProbeFacts:
    """Say what a patch does.

    Args:
        base: Text by path.
        head: Text by path; what is equal on both sides is not part of the patch.
        renames: New paths by old ones.
    """
    old_paths = {new: old for old, new in (renames or {}).items()}
    moved = set(old_paths.values())
    paths = [
        path_facts(old_paths.get(path, path), path, base.get(old_paths.get(path, path)), text)
        for path, text in head.items()
        if base.get(path) != text
    ]
    paths += [
        path_facts(path, path, text, None)
        for path, text in base.items()
        if path not in head and path not in moved
    ]
    same = [(path, text.encode()) for path, text in base.items() if head.get(path) == text]
    return ProbeFacts("0" * 40, tuple(sorted(paths, key=lambda one: one.path)), tuple(same))


def path_facts(old_path: str, path: str, base: str | None, head: str | None) -> PathFacts:
    """Say what a patch does to one path."""
    removed, added = _changed_lines(base or "", head or "")
    kind = classify(path, table="branch_rows.json", neutral=False)
    return PathFacts(
        path=path,
        kind=kind,
        old_path=old_path,
        old_kind=classify(old_path, table="branch_rows.json", neutral=False),
        added=added,
        deleted=len(removed),
        base=None if base is None else base.encode(),
        head=None if head is None else head.encode(),
        removed=() if kind is PathClass.NEUTRAL else removed,
    )


def _changed_lines(base: str, head: str) -> tuple[tuple[bytes, ...], int]:
    before, after = base.splitlines(), head.splitlines()
    removed: list[bytes] = []
    added = 0
    for tag, start, end, first, last in SequenceMatcher(None, before, after).get_opcodes():
        if tag != "equal":
            removed += [line.encode() for line in before[start:end]]
            added += last - first
    return tuple(removed), added
