"""Tell which changed files name what runs inside of tests: a test may know what is inverted."""

import re
from typing import Final

from invertgate.patch.scope import Judged
from invertgate.survey import Survey

_INSIDE: Final = re.compile(
    rb"_invertgate|INVERTGATE_|invertgate[ _.](?:inside|test|body|guard|handler|star|everything)"
)


def mention_notes(seen: Survey) -> tuple[str, ...]:
    """Tell, a sentence each, which Python files of a patch name our internals.

    A control looks from within like an inverted run, but a test that is written for this gate can
    tell them apart, and fail on purpose; nothing else has a reason to name them. Names that are put
    together at run time are not found: it is a hint for a reviewer.

    Args:
        seen: What is judged; nothing is told where there is no base to compare with.
    """
    patch = seen.patch
    changed = [file.path for file in patch.files] + [left.path for left in patch.left_out]
    paths = [path for path in dict.fromkeys(changed) if path.endswith(".py")]
    if not patch.base or not paths:
        return ()
    judged = Judged(seen.repository, patch.base, patch.head)
    before, after = judged.base_files()(paths), judged.head_files()(paths)
    notes = (_note(path, before.get(path), after.get(path)) for path in paths)
    return tuple(note for note in notes if note)


def _note(path: str, before: bytes | None, after: bytes | None) -> str:
    known = set(_lines(before or b"").values())
    for number, line in _lines(after or b"").items():
        if line not in known:
            return (
                f"{path}:{number} names what invertgate runs inside of tests: look at it, "
                "as a test that knows what is inverted can fail on purpose"
            )
    return ""


def _lines(source: bytes) -> dict[int, bytes]:
    """Return the lines that name it, by their numbers."""
    if not _INSIDE.search(source):
        return {}
    lines = enumerate(source.splitlines(), 1)
    return {number: line.strip() for number, line in lines if _INSIDE.search(line)}
