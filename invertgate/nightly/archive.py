"""A tree as one file that is named by its content, and back."""

import gzip
import os
import tarfile
from collections.abc import Iterator
from hashlib import file_digest
from pathlib import Path
from typing import Final

_TOP: Final = "/invertgate-tree"
"""Stands in links for the top of the tree, wherever that lies."""
_GIT: Final = ".git"


def pack(top: Path, target: Path) -> str:
    """Write a tree into an archive.

    The same tree makes the same archive: names in order, no owners, and times only of the files
    whose times tests may look at.

    Args:
        top: The tree; with a repository that needs nothing outside of it.
        target: The archive.

    Returns:
        The digest of its content.
    """
    with (
        target.open("wb") as stream,
        gzip.GzipFile(fileobj=stream, mode="wb", compresslevel=1, mtime=0, filename="") as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for path in _below(top):
            _add(archive, path, top)
    return digest_of(target)


def unpack(archive: Path, top: Path) -> None:
    """Lay a tree out in a folder that is not there yet.

    Args:
        archive: What :func:`pack` wrote.
        top: The folder.
    """
    top.mkdir(parents=True)
    with tarfile.open(archive, mode="r:gz") as packed:
        for member in packed:
            if member.issym() and (member.linkname + "/").startswith(_TOP + "/"):
                member.linkname = str(top) + member.linkname.removeprefix(_TOP)
            # It came from who may run anything here; links of the tree lead where they always led.
            packed.extract(member, top, filter="fully_trusted")


def digest_of(path: Path) -> str:
    """Return the digest of a file's content."""
    with path.open("rb") as stream:
        return file_digest(stream, "sha256").hexdigest()


def _below(folder: Path) -> Iterator[Path]:
    with os.scandir(folder) as entries:
        found = sorted(entries, key=lambda entry: entry.name)
    for entry in found:
        path = Path(entry.path)
        yield path
        if entry.is_dir(follow_symlinks=False):
            yield from _below(path)


def _add(archive: tarfile.TarFile, path: Path, top: Path) -> None:
    name = path.relative_to(top)
    archive.inodes = {}  # type: ignore[attr-defined]  # two names of one file are two files
    about = archive.gettarinfo(str(path), str(name))
    about.uid = about.gid = 0
    about.uname = about.gname = ""
    if not about.isreg() or name.parts[0] == _GIT:
        about.mtime = 0
    if about.issym() and (about.linkname + os.sep).startswith(str(top) + os.sep):
        about.linkname = _TOP + about.linkname.removeprefix(str(top))
    if about.isreg():
        with path.open("rb") as content:
            archive.addfile(about, content)
    else:
        archive.addfile(about)
