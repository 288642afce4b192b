"""What a shell offers while a command line is typed: ids of rows, and names of commits."""

# It runs at every press of the tab key: nothing heavy is loaded, and nothing is said of errors.
# ruff: noqa: PLC0415

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from invertgate.source_text import json_of

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_REPORT: Final = "invertgate.out/report.json"
_TABLE: Final = "branch_rows.json"


def rows(_: click.Context, __: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    """Offer the ids of the rows of the last report, or else of the table, and what they are."""
    from click.shell_completion import CompletionItem

    found = offered(Path.cwd(), incomplete)
    return [CompletionItem(identity, help=words) for identity, words in found.items()]


def offered(folder: Path, incomplete: str) -> dict[str, str]:
    """Return the ids that begin so, of the rows of the last report or table, and what they are."""
    return {
        str(row["id"]): _words(row)
        for row in _rows_near(folder)
        if str(row.get("id", "")).startswith(incomplete)
    }


def revisions(_: click.Context, __: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    """Offer branches and tags."""
    import os

    from click.shell_completion import CompletionItem

    from invertgate.errors import InvertgateError
    from invertgate.patch.git import open_repository

    try:
        repository = open_repository(Path.cwd(), dict(os.environ))
        names = repository.read("for-each-ref", "--format=%(refname:short)").decode().split()
    except (InvertgateError, UnicodeDecodeError):
        return []
    return [CompletionItem(name) for name in ("HEAD", *names) if name.startswith(incomplete)]


def _rows_near(folder: Path) -> Iterator[Mapping[str, Any]]:
    for above in (folder, *folder.parents):
        for name in (_REPORT, _TABLE):
            if found := _rows_in(above / name):
                yield from found
                return


def _rows_in(path: Path) -> list[Mapping[str, Any]]:
    try:
        content = json_of(path.read_bytes())
    except (OSError, ValueError):
        return []
    listed = content.get("rows", []) if isinstance(content, dict) else content
    return [row for row in listed if isinstance(row, dict)] if isinstance(listed, list) else []


def _words(row: Mapping[str, Any]) -> str:
    """Say what a row is in one line, without what could confuse a shell."""
    place = f"{row.get('path', '')}:{row['line']}" if row.get("line") else row.get("path", "")
    told = (row.get("verdict") or "", place, row.get("predicate", ""), row.get("side") or "")
    return " ".join(filter(str.isprintable, map(str, told))).strip()
