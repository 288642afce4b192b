"""The decision table on disk: read if it is there, replaced as a whole or not at all."""

import os
from pathlib import Path

from invertgate.errors import TableError
from invertgate.table.document import Table, read


def read_file(path: Path, name: str) -> Table | None:
    """Read a table from disk.

    Args:
        path: Where it stands.
        name: What messages call it.

    Returns:
        The table, or None if there is no such file; an empty file is a table without rows.

    Raises:
        TableError: It cannot be read, or is malformed.
    """
    try:
        source = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise TableError(f"{name} cannot be read: {error.strerror}") from error
    return read(source, name)


def change_of(path: Path, content: bytes, name: str) -> str:
    """Return what replacing a file would change, as a unified diff; empty if nothing.

    Args:
        path: The file; it need not be there.
        content: Its new bytes.
        name: What the diff calls it.

    Raises:
        TableError: It cannot be read.
    """
    from difflib import unified_diff  # noqa: PLC0415 (only a dry run pays for it)

    try:
        before = path.read_bytes() if path.exists() else b""
    except OSError as error:
        raise TableError(f"{name} cannot be read: {error.strerror}") from error
    old, new = (each.decode(errors="replace").splitlines() for each in (before, content))
    lines = unified_diff(old, new, f"a/{name}", f"b/{name}", lineterm="")
    return "".join(f"{line}\n" for line in lines)


def write_file(path: Path, content: bytes, top: Path) -> bool:
    """Replace a file as a whole; a reader sees the old bytes or the new, never a part.

    A symbolic link stays one, and what it leads to is replaced. The file keeps its mode.

    Args:
        path: The file; folders that it needs are made.
        content: Its new bytes.
        top: The folder that must not be left, also not through a link.

    Returns:
        Whether the bytes differed.

    Raises:
        TableError: It leads out of the repository, or the system refuses.
    """
    try:
        target = Path(os.path.realpath(path))  # Path.resolve() fails on a circle before 3.13
        if target.is_symlink():
            raise TableError(f"{path} cannot be written: its links lead in a circle")
        if not target.is_relative_to(top.resolve()):
            raise TableError(f"{path} leads to {target}, outside {top}; nothing was written")
        if target.is_file() and target.read_bytes() == content:
            return False
        target.parent.mkdir(parents=True, exist_ok=True)
        _replace(target, content)
    except OSError as error:
        raise TableError(f"{path} cannot be written: {error.strerror}") from error
    return True


def _replace(target: Path, content: bytes) -> None:
    mode = target.stat().st_mode & 0o7777 if target.exists() else None
    beside = target.with_name(f".{target.name}.{os.urandom(4).hex()}")
    try:
        with beside.open("xb") as file:
            file.write(content)
        if mode is not None:
            beside.chmod(mode)
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)
