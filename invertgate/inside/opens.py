"""Which files the runs of a test opened, from the start of its process on. PYTEST_DONT_REWRITE."""

from collections.abc import Iterable
from typing import Any

from .switch import FLAG_UNSEEN
from .witnessed import Witness

Opened = list[str] | None
"""Paths, relative to the tree or absolute; None if it is not sure that they are all."""


class Opens:
    """Tells what was opened in a run, and before: at the start, and during collection."""

    def __init__(self, witness: Witness | None) -> None:
        """Take what the process that is forked from has opened so far."""
        self._witness = witness
        self._at_start, self._is_sure = (set[str](), False) if witness is None else witness.new()
        self._collecting = set[str]()
        self._collected_surely = False

    def collected(self) -> None:
        """Take what was opened while a file was collected."""
        if self._witness is not None:
            self._collecting, self._collected_surely = self._witness.new()

    def of_run(self, board: bytes) -> Opened:
        """Return all that a run hangs on.

        Args:
            board: What its processes noted.
        """
        if self._witness is None:
            return None
        found, is_sure = self._witness.new()
        if not (is_sure and self._is_sure and self._collected_surely) or board[FLAG_UNSEEN]:
            return None
        return sorted(self._at_start | self._collecting | found)

    def skip(self) -> None:
        """Forget what was opened since: it was by us."""
        if self._witness is not None:
            self._witness.skip()


def all_opened(runs: Iterable[dict[str, Any]]) -> Opened:
    """Return what several runs opened; None if that is not sure of one of them."""
    found: dict[str, None] = {}
    for run in runs:
        if run.get("opened") is None:
            return None
        found.update(dict.fromkeys(run["opened"]))
    return sorted(found)
