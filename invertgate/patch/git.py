"""The one caller of git: plumbing, bytes, explicit settings, no write to the user's files."""

import os
import re
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from invertgate import process
from invertgate.errors import NoBaseError
from invertgate.process import Completed

REGULAR: Final = "100644"
SYMLINK: Final = "120000"
SUBMODULE: Final = "160000"

_NAMES_AT_ONCE: Final = 1000  # as arguments, whose length systems limit
_KEPT: Final = re.compile(
    # where git and its settings are, how far it may look, and how it reaches a remote (partial
    # clones fetch what is missing); GIT_TEST_ASSUME_DIFFERENT_OWNER lets our tests be refused
    r"GIT_(EXEC_PATH|CONFIG_(GLOBAL|SYSTEM|NOSYSTEM|COUNT|KEY_\d+|VALUE_\d+)|ATTR_NOSYSTEM"
    r"|CEILING_DIRECTORIES|DISCOVERY_ACROSS_FILESYSTEM|TEST_ASSUME_DIFFERENT_OWNER"
    r"|ASKPASS|SSH(_COMMAND|_VARIANT)?|SSL_\w+|PROXY_\w+|HTTP_\w+|ALLOW_PROTOCOL)"
)
_ALWAYS: Final = {
    "GIT_OPTIONAL_LOCKS": "0",  # never refresh the user's index
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",  # we read its messages
    "LANGUAGE": "C",
}
_SETTINGS: Final = (
    "--no-pager",
    "-c",
    "core.quotePath=false",
    "-c",
    "core.fsmonitor=false",  # starts no daemon, runs no hook
    "-c",
    "core.hooksPath=" + os.devnull,
    "-c",
    "submodule.recurse=false",
    "-c",
    "advice.graftFileDeprecated=false",
)


def git_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Give the environment for git: hooks and aliases cannot point it at another repository."""
    kept = {
        name: value
        for name, value in environment.items()
        if not name.upper().startswith("GIT_") or _KEPT.fullmatch(name.upper())
    }
    return kept | _ALWAYS


@dataclass(frozen=True, slots=True)
class Repository:
    """A work tree that git knows, be it the main one, a linked one or a submodule."""

    top: Path
    """The folder at the top of the work tree."""
    environment: Mapping[str, str]
    """What the caller runs in; git sees it scrubbed."""
    shallow: bool = False
    """Its history is cut off."""

    def ask(
        self,
        *arguments: str,
        input: bytes = b"",  # noqa: A002 - as subprocess calls it
        extra: Mapping[str, str] | None = None,
    ) -> Completed:
        """Run git at the top and say how it ended, whatever that means.

        Args:
            arguments: The command and its arguments.
            input: What it reads.
            extra: More environment (``GIT_INDEX_FILE``).

        Raises:
            NoBaseError: There is no git.
        """
        return _ask(self.top, self.environment, arguments, input, extra or {})

    def read(
        self,
        *arguments: str,
        input: bytes = b"",  # noqa: A002 - as subprocess calls it
        extra: Mapping[str, str] | None = None,
    ) -> bytes:
        """Run git at the top and return what it printed.

        Raises:
            NoBaseError: There is no git, or it failed; the message quotes it.
        """
        done = self.ask(*arguments, input=input, extra=extra)
        if done.code == 0:
            return done.stdout
        if b"promisor remote" in done.stderr:
            raise _missing(refusal(done.stderr))
        raise NoBaseError(f"git {_command(arguments)} failed: {refusal(done.stderr)}")

    def commits(self, revisions: Iterable[str]) -> list[str | None]:
        """Resolve revisions to commit ids, None for those that name no commit here."""
        asked = b"".join(os.fsencode(f"{revision}^{{commit}}\n") for revision in revisions)
        answers = self.read("cat-file", "--batch-check=%(objecttype) %(objectname)", input=asked)
        return [
            os.fsdecode(answer.removeprefix(b"commit ")) if answer.startswith(b"commit ") else None
            for answer in answers.split(b"\n")[:-1]
        ]

    def blobs(self, ids: Iterable[str]) -> dict[str, bytes]:
        """Read file contents by their object ids, all in one process.

        Raises:
            NoBaseError: One is missing, as in a partial clone that cannot reach its remote.
        """
        wanted = sorted(set(ids))
        if not wanted:
            return {}
        asked = "".join(f"{blob}\n" for blob in wanted).encode()
        done = self.ask("cat-file", "--batch", input=asked)
        if done.code != 0:
            raise _missing(refusal(done.stderr))
        return dict(parse_batch(done.stdout))

    def files_at(self, revision: str, paths: Iterable[str]) -> dict[str, bytes]:
        """Read files as a commit has them; paths that are no regular file there are left out.

        Raises:
            NoBaseError: There is no such commit, or a partial clone lacks the content.
        """
        wanted = sorted(set(paths))
        ids: dict[str, str] = {}
        for start in range(0, len(wanted), _NAMES_AT_ONCE):
            names = wanted[start : start + _NAMES_AT_ONCE]
            listing = self.read("ls-tree", "-z", "--full-tree", revision, "--", *names)
            ids |= parse_tree(listing)
        contents = self.blobs(ids.values())
        with understood("cat-file"):
            return {path: contents[blob] for path, blob in ids.items()}

    def blob_at(self, revision: str, path: str) -> bytes | None:
        """Read a file as a commit has it; None where it has no such file.

        Raises:
            NoBaseError: There is no such commit, or a partial clone lacks the content.
        """
        return self.files_at(revision, [path]).get(path)

    def git_path(self, name: str) -> Path:
        """Say where git keeps something of its own (``objects``, ``index``)."""
        printed = self.read("rev-parse", "--git-path", name).removesuffix(b"\n")
        return self.top / os.fsdecode(printed)


def open_repository(path: Path, environment: Mapping[str, str]) -> Repository:
    """Find the repository that a folder lies in.

    Args:
        path: Any folder of the work tree.
        environment: What the caller runs in.

    Raises:
        NoBaseError: There is none, git refuses it, or there is no git.
    """
    asked = ("rev-parse", "--is-shallow-repository", "--show-toplevel")
    done = _ask(path, environment, asked, b"", {})
    if done.code != 0:
        raise NoBaseError(_why_not(path, done.stderr))
    with understood("rev-parse"):
        shallow, top = done.stdout.removesuffix(b"\n").split(b"\n", 1)
    return Repository(Path(os.fsdecode(top)), environment, shallow == b"true")


@contextmanager
def understood(command: str) -> Generator[None]:
    """Make a message of what git prints and nobody here can read.

    Args:
        command: Which of git's commands printed it.

    Raises:
        NoBaseError: What is read within does not have the form that git gives it.
    """
    try:
        yield
    except (ValueError, LookupError, StopIteration) as error:
        raise NoBaseError(
            f"git {command} printed what cannot be read ({str(error) or 'it is cut off'}); "
            "is the git on PATH the real one, and not a wrapper that prints more or less?"
        ) from error


def parse_tree(listing: bytes) -> dict[str, str]:
    """Read what ``ls-tree -z`` printed: the ids of regular files, by path."""
    with understood("ls-tree"):
        told = [(header.split(" "), path) for header, path in entries(listing)]
        return {
            path: blob for (mode, kind, blob), path in told if kind == "blob" and mode != SYMLINK
        }


def entries(listing: bytes) -> Iterator[tuple[str, str]]:
    """Split what ``-z`` printed at the first tab of each record (``mode kind id<tab>path``)."""
    for record in strings(listing):
        header, _, path = record.partition("\t")
        yield header, path


def strings(listing: bytes) -> list[str]:
    """Split what ``-z`` printed; names that are no text keep their bytes as surrogates."""
    return [os.fsdecode(record) for record in listing.split(b"\0")[:-1]]


def refusal(stderr: bytes) -> str:
    """Pick the sentence in which git says why it failed."""
    lines = stderr.decode(errors="replace").splitlines()
    for line in lines:
        if line.startswith(("fatal: ", "error: ")):
            return line.partition(" ")[2]
    return lines[-1] if lines else "it said nothing"


def _ask(
    folder: Path,
    environment: Mapping[str, str],
    arguments: tuple[str, ...],
    input: bytes,  # noqa: A002
    extra: Mapping[str, str],
) -> Completed:
    argv = ["git", "-C", os.fspath(folder), *_SETTINGS, *arguments]
    try:
        return process.run(argv, env={**git_environment(environment), **extra}, input=input)
    except OSError as error:
        raise NoBaseError(
            f"git cannot be started ({error.strerror}); install git and put it on PATH"
        ) from error


def _command(arguments: tuple[str, ...]) -> str:
    return _command(arguments[2:]) if arguments[0] == "-c" else arguments[0]


def _why_not(path: Path, stderr: bytes) -> str:
    said = stderr.decode(errors="replace")
    if "dubious ownership" in said or "unsafe repository" in said:
        owned = re.search(r"safe\.directory (.+)", said)
        folder = owned[1].strip() if owned else path
        return (
            f"git refuses {path}, which belongs to another user; "
            f"if you trust it: git config --global --add safe.directory {folder}"
        )
    if "not a git repository" in said:
        return f"{path} is not in a git repository; run invertgate in one (git init)"
    if "must be run in a work tree" in said:
        return f"{path} has no work tree (a bare repository); run invertgate in a checkout"
    return f"git cannot read {path}: {refusal(stderr)}"


def _missing(why: str) -> NoBaseError:
    return NoBaseError(
        f"a file that differs is missing from this clone ({why}); "
        "clone without --filter, or let git reach its remote"
    )


def parse_batch(answers: bytes) -> Iterator[tuple[str, bytes]]:
    """Read what ``cat-file --batch`` printed: ids, each with its content.

    Raises:
        NoBaseError: An object is missing, or the answer is cut off.
    """
    position = 0
    with understood("cat-file"):
        while position < len(answers):
            end = answers.index(b"\n", position)
            blob, _, rest = answers[position:end].decode().partition(" ")
            size = rest.rpartition(" ")[2]
            if not (size.isascii() and size.isdigit()):
                raise _missing(f"{blob} {rest}")
            start, position = end + 1, end + 2 + int(size)
            if answers[position - 1 : position] != b"\n":
                raise ValueError(f"{blob} is cut off")
            yield blob, answers[start : position - 1]
