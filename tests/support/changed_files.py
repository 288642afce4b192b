"""Build the changed files that the outcome stage takes, from two texts."""

from difflib import SequenceMatcher

from invertgate.model import ChangedFile


def changed(
    base: str | None,
    head: str | None,
    path: str = "a.py",
    base_path: str | None = None,
    *,
    is_row_source: bool = True,
) -> ChangedFile:
    """Make a changed file; the added lines are those that difflib finds."""
    return ChangedFile(
        path=path,
        base_path=None if base is None else base_path or path,
        base=None if base is None else base.encode(),
        head=None if head is None else head.encode(),
        added=added_lines(base or "", head or ""),
        is_row_source=is_row_source,
    )


def added_lines(base: str, head: str) -> frozenset[int]:
    """Number the lines of head that base has not."""
    new = head.split("\n")
    matcher = SequenceMatcher(None, base.split("\n"), new, autojunk=False)
    kept = {
        line + 1
        for block in matcher.get_matching_blocks()
        for line in range(block.b, block.b + block.size)
    }
    return frozenset(range(1, len(new) + 1)) - kept
