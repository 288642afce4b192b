"""Builds the repository of a fixture tree: ``base/`` on main, ``head/`` on patch, a table."""

import os
import subprocess
import sys
import venv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from shutil import copytree, rmtree

import msgspec

from support.run import Place, run

TREES = Path(__file__).parents[2] / "fixtures" / "trees"

_ENVIRONMENT = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "Author",
    "GIT_AUTHOR_EMAIL": "author@example.org",
    "GIT_AUTHOR_DATE": "2026-01-02T03:04:05Z",
    "GIT_COMMITTER_NAME": "Author",
    "GIT_COMMITTER_EMAIL": "author@example.org",
    "GIT_COMMITTER_DATE": "2026-01-02T03:04:05Z",
}


class Setup(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What else is done to the repository, beside the two commits."""

    merge: str = ""
    """``other``: the folder of that name is committed on main, and main is merged into the patch;
    ``main``: the patch is merged into main, which is then what is judged."""
    shallow: bool = False
    """What is judged is a clone that holds nothing but the last commit."""
    uncommitted: bool = False
    """The patch lies in the working tree and is not committed."""
    untracked: dict[str, str] = {}
    """Files (path, text) that are written and never committed."""
    editable: str = ""
    """A folder that the interpreter finds by a ``.pth`` file, as after ``pip install -e``."""
    finder: str = ""
    """The same by a finder at the head of ``sys.meta_path``, as some build backends do."""


class Expected(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What ``expected.toml`` says: the case, and the answer."""

    exit: int
    rows: dict[str, str] = {}
    """The verdict of each row; a row is called ``PATH:LINE KIND-SIDE``."""
    reasons: dict[str, str] = {}
    """A part of the reason that a row gives."""
    claims: dict[str, str] = {}
    """The tests that the table of the patch names; a tree may bring a table of its own instead."""
    says: list[str] = []
    """Parts of what is printed."""
    args: list[str] = ["run", "--changed"]
    repo: Setup = Setup()
    slow: bool = False


@dataclass(frozen=True, slots=True)
class Tree:
    """A fixture: two states of a small project, and what the gate must say of the difference."""

    name: str
    folder: Path
    expected: Expected


def named(name: str) -> Tree:
    """Read a tree."""
    folder = TREES / name
    text = folder.joinpath("expected.toml").read_bytes()
    return Tree(name, folder, msgspec.toml.decode(text, type=Expected))


def everyone() -> list[Tree]:
    """Read all trees."""
    return [named(folder.name) for folder in sorted(TREES.iterdir()) if folder.is_dir()]


def build(tree: Tree, into: Path) -> Place:
    """Make the repository of a tree in an empty folder.

    Args:
        tree: The fixture.
        into: Where the repository and the private folders of its runs are made.

    Returns:
        The place to judge: HEAD is the patch, and ``origin/main`` its base.
    """
    setup = tree.expected.repo
    top = into / "repo"
    top.mkdir()
    git(top, "init", "--quiet", "--initial-branch=main")
    _commit_folder(top, tree.folder / "base", "base")
    git(top, "update-ref", "refs/remotes/origin/main", "main")
    git(top, "checkout", "--quiet", "-b", "patch")
    _lay_out(top, tree.folder / "head")
    place = Place(top, _interpreter(setup, into))
    if tree.expected.claims:
        _write_table(place, tree.expected.claims)
    if not setup.uncommitted:
        commit(top, "patch")
    _merge(setup.merge, top, tree.folder)
    for path, text in setup.untracked.items():
        top.joinpath(path).write_text(text, encoding="utf-8")
    return _shallow_clone(top) if setup.shallow else place


def git(top: Path, *args: str) -> str:
    """Run git in a folder, with no setting of the user in force."""
    own = {name: text for name, text in os.environ.items() if not name.startswith("GIT_")}
    command = ["git", "-C", str(top), *args]
    return subprocess.run(
        command,
        env=own | _ENVIRONMENT,
        check=True,
        capture_output=True,
        encoding="utf-8",
        errors="surrogateescape",
    ).stdout


def commit(top: Path, message: str) -> None:
    """Commit the working tree as it is."""
    git(top, "add", "--all")
    git(top, "commit", "--quiet", "--allow-empty", "--message", message)


def fingerprint(top: Path) -> dict[str, bytes]:
    """Read every byte of a repository that a run may not touch, git's own files among them."""
    return {str(path.relative_to(top)): path.read_bytes() for path in _files(top)}


def _files(folder: Path) -> Iterator[Path]:
    for entry in folder.iterdir():
        if entry.name in {"invertgate.out", "branch_rows.json", "branch_rows.yaml"}:
            continue
        if entry.is_dir() and not entry.is_symlink():
            yield from _files(entry)
        else:
            yield entry


def _commit_folder(top: Path, folder: Path, message: str) -> None:
    _lay_out(top, folder)
    commit(top, message)


def _lay_out(top: Path, folder: Path) -> None:
    for entry in top.iterdir():
        if entry.name == ".git":
            continue
        if entry.is_dir():
            rmtree(entry)
        else:
            entry.unlink()
    copytree(folder, top, dirs_exist_ok=True)


def _merge(what: str, top: Path, folder: Path) -> None:
    match what:
        case "":
            return
        case "main":
            git(top, "checkout", "--quiet", "main")
            git(top, "merge", "--quiet", "--no-ff", "--message", "merge", "patch")
        case _:
            git(top, "checkout", "--quiet", "main")
            _commit_folder(top, folder / what, what)
            git(top, "checkout", "--quiet", "patch")
            git(top, "merge", "--quiet", "--message", "merge", "main")
    git(top, "update-ref", "refs/remotes/origin/main", "main")


def _shallow_clone(top: Path) -> Place:
    clone = top.with_name("clone")
    git(top.parent, "clone", "--quiet", "--depth=1", "--branch=patch", top.as_uri(), str(clone))
    git(clone, "fetch", "--quiet", "--depth=1", "origin", "main:refs/remotes/origin/main")
    return Place(clone)


class _Listed(msgspec.Struct):
    """An outcome as ``run --list --json`` prints it."""

    path: str
    id: str
    kind: str
    predicate: str
    side: str
    line: int


class _Listing(msgspec.Struct):
    rows: list[_Listed]


def _write_table(place: Place, claims: dict[str, str]) -> None:
    listed = run(place, "run", "--list", "--json")
    listing = msgspec.json.decode(listed.stdout, type=_Listing)
    outcomes = {f"{row.path}:{row.line} {row.kind}-{row.side}": row for row in listing.rows}
    table = [
        {
            "id": outcomes[name].id,
            "path": outcomes[name].path,
            "kind": outcomes[name].kind,
            "predicate": outcomes[name].predicate,
            "side": outcomes[name].side,
            "test": test,
        }
        for name, test in claims.items()
    ]
    text = msgspec.json.format(msgspec.json.encode(table), indent=2)
    place.top.joinpath("branch_rows.json").write_bytes(text + b"\n")


_FINDER = """\
import sys
from importlib.machinery import PathFinder

class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        return PathFinder.find_spec(name, [{folder!r}], target) if path is None else None

sys.meta_path.insert(0, Finder)
"""


def _interpreter(setup: Setup, into: Path) -> str:
    """Give the interpreter of a project: ours, or one of its own where the project is installed."""
    if not setup.editable and not setup.finder:
        return sys.executable
    home = into / "venv"
    venv.create(home, symlinks=True)
    [site] = home.glob("lib/python*/site-packages")
    ours = [entry for entry in sys.path if entry.endswith("site-packages")]
    lines = [f"import site; site.addsitedir({entry!r})" for entry in ours]
    if setup.editable:
        lines.append(str(into / "repo" / setup.editable))
    if setup.finder:
        finder = _FINDER.format(folder=str(into / "repo" / setup.finder))
        site.joinpath("project_finder.py").write_text(finder, encoding="utf-8")
        lines.append("import project_finder")
    site.joinpath("project.pth").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(home / "bin" / "python")
