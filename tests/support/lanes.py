"""Builds the sample repository of the lanes: one base, and a patch for each row of their table."""

import json
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from support.repo import Repo, two_commits
from support.run import Ended, Place

LANES = Path(__file__).parents[2] / "fixtures" / "lanes"
_WEEK = timedelta(days=7)


def today() -> date:
    """Give the day in UTC."""
    return datetime.now(UTC).date()


def base() -> dict[str, str]:
    """Read the files of the base; what is frozen stays so for a week."""
    files = _files(LANES / "base")
    live = (today() + _WEEK).isoformat()
    return files | {"flaky.yaml": files["flaky.yaml"].replace("LIVE", live)}


def patched(name: str) -> dict[str, str]:
    """Read the files of the base with one of the patches laid over them."""
    return base() | _files(LANES / "patches" / name)


def place(path: Path, name: str, *, more: Mapping[str, str] | None = None) -> Place:
    """Build the repository of a patch; ``more`` is there on both sides."""
    extra = dict(more or {})
    two_commits(path / "repo", base() | extra, patched(name) | extra)
    return Place(path / "repo")


def repository(
    path: Path, before: Mapping[str, str], after: Mapping[str, str]
) -> tuple[Repo, Place]:
    """Build a repository out of what the base has beside these files."""
    repo = two_commits(path / "repo", base() | dict(before), base() | dict(before) | dict(after))
    return repo, Place(path / "repo")


def attempts(ended: Ended) -> list[dict[str, Any]]:
    """Read the log that a run has left."""
    lines = Path(ended.top, "lane-log.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def _files(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
        for path in folder.rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
