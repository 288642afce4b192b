"""Builds the repository of a fixture tree: ``base/`` on main, ``head/`` on patch, a table."""

import sys
import venv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from support.repo import Repo
from support.run import Place, run

TREES = Path(__file__).parents[2] / "fixtures" / "trees"


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
    says: tuple[str, ...] = ()
    """Parts of what is printed."""
    args: tuple[str, ...] = ("run", "--changed", "--workers", "1")
    """One worker, where nothing else is said: it saves seconds, and the verdicts may not differ."""
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
    repo = Repo(into / "repo")
    repo.commit("base", _contents(tree.folder / "base"))
    repo.remote_branch("main")
    repo.branch("patch")
    repo.replace(_contents(tree.folder / "head"))
    place = Place(repo.path, _interpreter(setup, into))
    if not setup.uncommitted:
        repo.commit("patch")
    repo.write(setup.untracked)
    if tree.expected.claims:
        _write_table(place, tree.expected.claims)
    if tree.expected.claims and not setup.uncommitted:
        repo.git("add", "branch_rows.json")
        repo.git("commit", "--quiet", "--message", "table")
    _merge(setup.merge, repo, tree.folder)
    return _shallow_clone(repo) if setup.shallow else place


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


def _contents(folder: Path) -> dict[str, str | bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def _merge(what: str, repo: Repo, folder: Path) -> None:
    if not what:
        return
    repo.switch("main")
    if what == "main":
        repo.merge("patch")
    else:
        repo.replace(_contents(folder / what))
        repo.commit(what)
        repo.switch("patch")
        repo.merge("main")
    repo.remote_branch("main", "main")


def _shallow_clone(repo: Repo) -> Place:
    repo.switch("main")  # or else the clone would take the patch for the default branch
    clone = repo.clone(repo.path.with_name("clone"), "--depth=1", "--branch=patch")
    clone.git("fetch", "--quiet", "--depth=1", "origin", "main:refs/remotes/origin/main")
    return Place(clone.path)


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
    assert listed.stdout, str(listed)
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
