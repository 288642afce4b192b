"""Which part of a run a row belongs to: by a stable hash, so that no machine asks another."""

import re
from collections.abc import Iterable
from hashlib import sha256
from typing import Final

from invertgate.errors import UsageError
from invertgate.model import Shard

Place = tuple[str, str, bool]
"""Path, id, and whether it is a row of the table that no outcome answers."""

MOST: Final = 10_000
"""More shards than anybody has machines; a larger number is a slip."""

_FORM: Final = re.compile(r"([0-9]+)/([0-9]+)")


def parse(text: str) -> Shard:
    """Read which shard a user means: ``2/5`` is the second of five.

    Raises:
        UsageError: It is no shard.
    """
    form = _FORM.fullmatch(text)
    if form is None:
        raise UsageError(f"--shard {text!r} is no shard; write INDEX/COUNT, as in 2/5")
    index, count = map(int, form.groups()) if len(text) <= len(f"{MOST}/{MOST}") else (0, 0)
    if not 1 <= index <= count <= MOST:
        raise UsageError(
            f"--shard {text}: the index is from 1 to the count, the count from 1 to {MOST}"
        )
    return Shard(index, count)


def in_shard(path: str, row_id: str, shard: Shard) -> bool:
    """Tell whether a shard judges a row; each row belongs to just one of a set.

    It depends on path and id only: neither on other rows, nor on the machine, nor on the version
    of Python. Rows of one test may come to lie in several shards, each of which runs its control.

    Args:
        path: The row's file, relative to the top of the repository.
        row_id: The row's id.
        shard: Which part of how many.
    """
    digest = sha256(_bytes(f"{path}\0{row_id}")).digest()
    return int.from_bytes(digest[:8]) % shard.count == shard.index - 1


def keys_digest(places: Iterable[Place]) -> str:
    """Return a digest of the rows of a whole, in any order; a row that is there twice counts twice.

    Args:
        places: Every row, judged or not.
    """
    lines = sorted(f"{path}\0{row_id}\0{int(gone)}" for path, row_id, gone in places)
    return sha256(_bytes("\n".join(lines))).hexdigest()


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
