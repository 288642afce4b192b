"""Pairs of releases as two-commit repositories, each with an environment that runs its tests."""

import csv
import os
import shlex
import shutil
import sys
import tarfile
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from _environments import Environment, Finished, ScriptError, make_environment, must, run

CORPUS_FILE: Final = Path(__file__).with_name("corpus.csv")
PYTHON_MINOR: Final = 12
"""The pins of the corpus are known to work on this Python."""
LEFT_BY_TOOLS: Final = ("*.egg-info/", "__pycache__/", ".pytest_cache/", ".hypothesis/")
GIT_ENVIRON: Final = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    **{
        f"GIT_{who}_{what}": value
        for who in ("AUTHOR", "COMMITTER")
        for what, value in (
            ("NAME", "Corpus"),
            ("EMAIL", "corpus@example.org"),
            ("DATE", "2024-01-01T00:00:00+0000"),
        )
    },
}


@dataclass(frozen=True, slots=True)
class Pair:
    """Two releases of a project, the later one with new outcomes."""

    name: str
    base: str
    head: str
    sources: str
    """The folder whose outcomes need rows; documents and examples lie elsewhere."""
    install: tuple[str, ...]
    """What pip installs in the tree of head."""
    tests: tuple[str, ...]
    """Where the tests lie that are quick and need no network."""
    options: tuple[str, ...]
    """Options for pytest that leave out tests which cannot pass on every machine."""


@dataclass(frozen=True, slots=True)
class Workplace:
    """Where a pair's things lie; all of it is kept between calls."""

    pair: Pair
    folder: Path

    @property
    def repository(self) -> Path:
        """Two commits: ``main`` is base, ``patch`` is head and checked out."""
        return self.folder / "repository"

    @property
    def environment(self) -> Environment:
        """Where the tests of the repository run."""
        return Environment(self.folder / "environment")


def read_pairs(file: Path = CORPUS_FILE) -> dict[str, Pair]:
    """Read the list of pairs, by name, in its order."""
    with file.open(encoding="utf-8", newline="") as lines:
        return {row["name"]: _pair(row) for row in csv.DictReader(lines)}


def choose(pairs: dict[str, Pair], names: Iterable[str]) -> list[Pair]:
    """Take the named pairs.

    Raises:
        ScriptError: A name is not in the list.
    """
    unknown = [name for name in names if name not in pairs]
    if unknown:
        raise ScriptError(f"no such pair: {', '.join(unknown)}; there are {', '.join(pairs)}")
    return [pairs[name] for name in names]


def prepare(pair: Pair, work: Path, python: Path) -> Workplace:
    """Make the repository and the environment of a pair, or use those of an earlier call.

    Raises:
        ScriptError: A release cannot be had or installed.
    """
    workplace = Workplace(pair, work.resolve() / pair.name)
    workplace.folder.mkdir(parents=True, exist_ok=True)
    if not (workplace.repository / ".git" / "complete").exists():
        _make_repository(workplace, python)
    make_environment(
        workplace.environment.folder,
        python,
        pair.install,
        cwd=workplace.repository,
        # Version tools would read the two commits, which know no version.
        variables={"SETUPTOOLS_SCM_PRETEND_VERSION": pair.head},
    )
    restore(workplace)
    return workplace


def restore(workplace: Workplace) -> None:
    """Bring the repository back to its head: what builds and tests wrote is gone."""
    _git(workplace.repository, "checkout", "-q", "-f", "patch")
    _git(workplace.repository, "clean", "-q", "-f", "-d")


def run_tests(workplace: Workplace, limit: float) -> Finished:
    """Run the pair's tests in its environment, to see that they pass there."""
    pair = workplace.pair
    argv: list[str | Path] = [
        workplace.environment.python,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
    ]
    return run([*argv, *pair.options, *pair.tests], cwd=workplace.repository, limit=limit)


def _pair(row: dict[str, str]) -> Pair:
    return Pair(
        name=row["name"],
        base=row["base"],
        head=row["head"],
        sources=row["sources"],
        install=tuple(shlex.split(row["install"])),
        tests=tuple(shlex.split(row["tests"])),
        options=tuple(shlex.split(row["options"])),
    )


def _make_repository(workplace: Workplace, python: Path) -> None:
    repository = workplace.repository
    shutil.rmtree(repository, ignore_errors=True)
    repository.mkdir()
    _git(repository, "init", "-q", "--initial-branch=main")
    Path(repository, ".git", "info", "exclude").write_text("\n".join(LEFT_BY_TOOLS) + "\n", "utf-8")
    for branch, version in (("main", workplace.pair.base), ("patch", workplace.pair.head)):
        if branch != "main":
            _git(repository, "checkout", "-q", "-b", branch)
            _git(repository, "rm", "-q", "-r", ".")
        _unpack_release(workplace.pair.name, version, repository, python)
        _mark_root(repository)
        # The build of a release writes files that its .gitignore names, and the tests import them.
        _git(repository, "add", "--all", "--force", ".", ":!*.egg-info")
        _git(repository, "commit", "-q", "--no-verify", "-m", version)
    Path(repository, ".git", "complete").touch()


def _unpack_release(name: str, version: str, into: Path, python: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="corpus-") as scratch:
        download: list[str | Path] = [
            python,
            "-m",
            "pip",
            "download",
            "-q",
            "--no-deps",
            "--no-binary",
            name,
        ]
        must([*download, "--dest", scratch, f"{name}=={version}"], cwd=Path(scratch))
        (archive,) = Path(scratch).glob("*.tar.gz")
        with tarfile.open(archive) as members:
            members.extractall(Path(scratch, "tree"), filter="data")
        (top,) = Path(scratch, "tree").iterdir()
        shutil.copytree(top, into, dirs_exist_ok=True, symlinks=True)


def _mark_root(repository: Path) -> None:
    """Keep pytest from taking the configuration of whatever project the work folder lies in."""
    own = {
        "pytest.ini": "",
        ".pytest.ini": "",
        "pyproject.toml": "[tool.pytest",
        "tox.ini": "[pytest]",
        "setup.cfg": "[tool:pytest]",
    }
    files = [(repository / name, word) for name, word in own.items()]
    if not any(file.exists() and word in file.read_text("utf-8") for file, word in files):
        Path(repository, "pytest.ini").write_text("[pytest]\n", "utf-8")


def _git(repository: Path, *words: str) -> None:
    environ = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    must(["git", *words], cwd=repository, environ={**environ, **GIT_ENVIRON})


if __name__ == "__main__":
    sys.exit("this is a part of corpus.py")
