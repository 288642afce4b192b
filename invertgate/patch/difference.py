"""Ask git which files differ between a commit and a head, and which lines it calls added."""

import os
import re
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory
from typing import Final

from invertgate.patch.git import REGULAR, SUBMODULE, SYMLINK, Repository, strings, understood

_COMMON: Final = (
    "-M50%",
    "-l3000",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--no-relative",
    "--ignore-submodules=dirty",
    "-O" + os.devnull,
)
_RAW: Final = ("--raw", "-z", "--no-abbrev")
HUNKS: Final = (
    "--patch",
    "--text",  # also what attributes call binary
    "--unified=0",
    "--inter-hunk-context=0",
    "--diff-algorithm=default",
    "--indent-heuristic",
    "--src-prefix=a/",
    "--dst-prefix=b/",
    "--submodule=short",
)
HUNK: Final = re.compile(rb"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_ESCAPE: Final = re.compile(rb'\\([abtnvfr"\\]|[0-7]{3})')
_ESCAPED: Final = dict(zip(b'abtnvfr"\\', b'\a\b\t\n\v\f\r"\\', strict=True))


@dataclass(frozen=True, slots=True)
class Entry:
    """A path that differs, as git's raw format has it."""

    status: str
    """One letter: A added, D deleted, M modified, R renamed, T other type, U unmerged."""
    old_mode: str
    mode: str
    old_id: str
    id: str
    """Empty or all zeros where the content stands only in the working tree."""
    old_path: str
    path: str

    @property
    def has_id(self) -> bool:
        """Tell whether git knows the new content."""
        return bool(self.id.strip("0"))


def new_entry(path: str, mode: str, blob: str = "") -> Entry:
    """Describe a file that the base does not have."""
    return Entry("A", "000000", mode, "", blob, path, path)


def mode_on_disk(path: Path) -> str:
    """Say what a path is, in git's words; whether it can be run does not matter here."""
    if path.is_symlink():
        return SYMLINK
    return SUBMODULE if path.is_dir() else REGULAR


def differences(
    repository: Repository, base: str, head: str, extra: Mapping[str, str] | None = None
) -> list[Entry]:
    """List the paths that differ; in a working tree also those that were only touched.

    Args:
        repository: Where to look.
        base: A commit.
        head: Another, or empty for the working tree.
        extra: More environment for git (``GIT_INDEX_FILE``).

    Raises:
        NoBaseError: git failed.
    """
    return list(parse_raw(diff(repository, base, head, _RAW, (), extra)))


def added_lines(
    repository: Repository, base: str, head: str, extra: Mapping[str, str] | None = None
) -> dict[str, frozenset[int]]:
    """Give the numbers of the lines that git calls added, by path, for Python files.

    The arguments are those of ``differences``. A path without added lines may be missing.

    Raises:
        NoBaseError: git failed.
    """
    return parse_hunks(diff(repository, base, head, HUNKS, ("*.py",), extra))


def ids_of_files(repository: Repository, paths: Iterable[str]) -> list[str]:
    """Compute the ids that files of the working tree would have as blobs.

    Raises:
        NoBaseError: A file cannot be read.
    """
    asked = b"".join(_quoted(os.fsencode(path)) + b"\n" for path in paths)
    return repository.read("hash-object", "--stdin-paths", input=asked).decode().split()


def diff(
    repository: Repository,
    base: str,
    head: str,
    form: tuple[str, ...],
    paths: tuple[str, ...] = (),
    extra: Mapping[str, str] | None = None,
) -> bytes:
    """Print a difference so that no setting of the user's changes its form.

    Args:
        repository: Where to look.
        base: A commit.
        head: Another, or empty for the working tree.
        form: What git prints.
        paths: The files that are compared; all by default.
        extra: More environment for git (``GIT_INDEX_FILE``).

    Raises:
        NoBaseError: git failed.
    """
    # diff-index, not "git diff <base>": that one rewrites the user's index.
    what = ("diff-tree", "-r") if head else ("diff-index",)
    revisions = (base, head) if head else (base,)
    return repository.read(*what, *form, *_COMMON, *revisions, "--", *paths, extra=extra)


@contextmanager
def index_with(
    repository: Repository, paths: Iterable[str], base: str
) -> Generator[dict[str, str]]:
    """Lend a copy of the index that knows more files, so that git sees renames to them.

    Args:
        repository: Whose index it is.
        paths: Files of the work tree that the index lacks.
        base: Any object id, to learn how long they are here.

    Yields:
        The environment in which git uses it.

    Raises:
        NoBaseError: git failed.
    """
    with TemporaryDirectory(prefix="invertgate-") as scratch:
        index = Path(scratch, "index")
        own = repository.git_path("index")
        if own.exists():
            copyfile(own, index)
        extra = {"GIT_INDEX_FILE": str(index)}
        # The id is never looked up: without a time stamp git reads the file itself.
        entry = b"100644 " + b"1" * len(base) + b"\t"
        records = b"".join(entry + os.fsencode(path) + b"\0" for path in paths)
        repository.read("update-index", "-z", "--add", "--index-info", input=records, extra=extra)
        yield extra


def parse_raw(listing: bytes) -> Iterator[Entry]:
    """Read git's raw format with ``-z``.

    Raises:
        NoBaseError: It is none.
    """
    records = iter(strings(listing))
    with understood("diff"):
        for header in records:
            old_mode, mode, old_id, new_id, status = header.removeprefix(":").split(" ")
            old_path = next(records)
            path = next(records) if status[0] in "RC" else old_path
            yield Entry(status[0], old_mode, mode, old_id, new_id, old_path, path)


def parse_hunks(patch: bytes) -> dict[str, frozenset[int]]:
    """Read the added lines out of a patch without context, by counting, not by prefixes.

    Raises:
        NoBaseError: It holds fewer lines than it says, or a name that cannot be read.
    """
    added: dict[str, set[int]] = {}
    lines = iter(patch.split(b"\n"))
    path = ""
    with understood("diff"):
        for line in lines:
            if line.startswith(b"+++ "):
                path = path_in_header(line.removeprefix(b"+++ "), b"b/")
            elif hunk := HUNK.match(line):
                removed, start, count = (int(number or b"1") for number in hunk.groups())
                _skip(lines, removed + count)
                added.setdefault(path, set()).update(range(start, start + count))
    return {path: frozenset(numbers) for path, numbers in added.items()}


def path_in_header(name: bytes, prefix: bytes) -> str:
    """Read the path that stands in the header of a patch, quoted or not."""
    quoted = name.startswith(b'"')
    plain = _ESCAPE.sub(_unescaped, name[1:-1]) if quoted else name.removesuffix(b"\t")
    return os.fsdecode(plain.removeprefix(prefix))


def _skip(lines: Iterator[bytes], count: int) -> None:
    while count:
        if not next(lines).startswith(b"\\"):  # "\ No newline at end of file" is not counted
            count -= 1


def _unescaped(escape: re.Match[bytes]) -> bytes:
    code = escape[1]
    return bytes([int(code, 8) if len(code) > 1 else _ESCAPED[code[0]]])


def _quoted(name: bytes) -> bytes:
    plain = name.isascii() and name.decode().isprintable() and b'"' not in name
    return name if plain and b"\\" not in name else b'"%b"' % _octal(name)


def _octal(name: bytes) -> bytes:
    return b"".join(b"\\%03o" % byte for byte in name)
