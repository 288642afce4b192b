"""What git says of a patch that the probe judges: sizes, classes of paths, contents, lines."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from invertgate.config import Config
from invertgate.lanes.paths import PathClass, classify
from invertgate.lanes.units import imports
from invertgate.model import ChangedFile, NotParsed
from invertgate.outcomes.source import parse
from invertgate.patch.contents import changed_files
from invertgate.patch.difference import Entry
from invertgate.patch.git import SUBMODULE, SYMLINK, Repository, entries, strings
from invertgate.patch.globs import first_match
from invertgate.patch.numbers import Numbers, count, removed_lines
from invertgate.patch.projects import is_configuration
from invertgate.patch.scope import Judged
from invertgate.patch.worktree import Listing, listing

_TESTING: Final = frozenset({PathClass.TEST, PathClass.FIXTURE})


class Content(StrEnum):
    """What stands at a path, on both sides of the patch."""

    FILE = "file"
    LINK = "symbolic link"
    REPOSITORY = "another git repository"
    CONFLICT = "merge conflict"


@dataclass(frozen=True, slots=True)
class PathFacts:
    """A path that differs."""

    path: str
    """From the top of the repository, with slashes; at the base, if it was deleted."""
    kind: PathClass
    old_path: str
    """At the base: another one after a rename."""
    old_kind: PathClass
    added: int | None
    """Lines; None where git does not count."""
    deleted: int | None
    content: Content = Content.FILE
    is_generated: bool = False
    """A glob of the policy calls it so, under both names."""
    base: bytes | None = None
    """Its bytes, if it is Python or configures something; None if it was not there."""
    head: bytes | None = None
    removed: tuple[bytes, ...] = ()
    """Lines that git calls removed, unless it is neutral."""


@dataclass(frozen=True, slots=True)
class ProbeFacts:
    """What the probe has to know of a patch."""

    base: str
    """The merge base; empty if there is none."""
    paths: tuple[PathFacts, ...] = ()
    unchanged: tuple[tuple[str, bytes], ...] = ()
    """Test files that the patch leaves alone and that its test files import, with their bytes."""
    hidden: tuple[str, ...] = ()
    """Paths that git was told to take for unchanged."""


def collect_facts(repository: Repository, base: str, head: str, config: Config) -> ProbeFacts:
    """Ask git what a patch does.

    Args:
        repository: Where it lies.
        base: The merge base.
        head: The revision that is judged; empty for the working tree.
        config: The options that count, under the policy of the merge base.

    Raises:
        NoBaseError: git cannot give the difference.
    """
    commit = (repository.commits([head])[0] or head) if head else ""
    listed = Listing() if head else listing(repository)
    unmerged = frozenset() if head else _unmerged(repository)
    numbers = count(repository, base, commit, listed.untracked)
    removed = removed_lines(repository, base, commit, listed.untracked) if numbers else {}
    judged = Judged(repository, base, commit)
    contents = {file.path: file for file in changed_files(judged, _readable(numbers), {})}
    classified = _classifier(config)
    found = (
        _path_facts(one, contents.get(one.entry.path), removed, classified, config)
        for one in sorted(numbers, key=lambda one: one.entry.path)
    )
    paths = tuple(
        replace(one, content=Content.CONFLICT) if one.path in unmerged else one for one in found
    )
    unchanged = _imported(judged, listed, paths, classified)
    return ProbeFacts(base, paths, tuple(sorted(unchanged.items())), listed.hidden)


def _unmerged(repository: Repository) -> frozenset[str]:
    listing_of_stages = repository.read("ls-files", "-z", "--unmerged")
    return frozenset(path for _, path in entries(listing_of_stages))


def _classifier(config: Config) -> Callable[[str], PathClass]:
    return lambda path: classify(
        path, table=config.table, neutral=first_match(path, config.neutral) is not None
    )


def _path_facts(
    numbers: Numbers,
    file: ChangedFile | None,
    removed: Mapping[str, tuple[bytes, ...]],
    classified: Callable[[str], PathClass],
    config: Config,
) -> PathFacts:
    entry = numbers.entry
    kind, old_kind = classified(entry.path), classified(entry.old_path)
    names = {entry.path, entry.old_path}
    neutral = {kind, old_kind} == {PathClass.NEUTRAL}
    return PathFacts(
        path=entry.path,
        kind=kind,
        old_path=entry.old_path,
        old_kind=old_kind,
        added=numbers.added,
        deleted=numbers.deleted,
        content=_content(entry),
        is_generated=all(first_match(name, config.generated) for name in names),
        base=file.base if file else None,
        head=file.head if file else None,
        removed=() if neutral else removed.get(entry.old_path, ()),
    )


def _content(entry: Entry) -> Content:
    modes = {entry.mode, entry.old_mode}
    if SUBMODULE in modes:
        return Content.REPOSITORY
    return Content.LINK if SYMLINK in modes else Content.FILE


def _readable(numbers: Iterable[Numbers]) -> list[Entry]:
    """Choose what is read: plain files whose content says more than their lines."""
    return [
        one.entry
        for one in numbers
        if _content(one.entry) is Content.FILE
        and any(
            name.endswith(".py") or is_configuration(name)
            for name in (one.entry.path, one.entry.old_path)
        )
    ]


def _imported(
    judged: Judged,
    listed: Listing,
    paths: Sequence[PathFacts],
    classified: Callable[[str], PathClass],
) -> Mapping[str, bytes]:
    """Read the test files that the patch leaves alone and that its test files import."""
    wanted = {ending for one in paths if one.kind in _TESTING for ending in _imports(one)}
    if not wanted:
        return {}
    changed = {name for one in paths for name in (one.path, one.old_path)}
    known = _files_at(judged) if judged.head else listed.known
    chosen = [
        path
        for path in known
        if path.endswith(".py")
        and path not in changed
        and classified(path) in _TESTING
        and any(f"/{path}".endswith(ending) for ending in wanted)
    ]
    return judged.head_files()(chosen)


def _files_at(judged: Judged) -> list[str]:
    names = ("ls-tree", "-r", "-z", "--name-only", "--full-tree", judged.head)
    return strings(judged.repository.read(*names))


def _imports(file: PathFacts) -> Iterator[str]:
    """Give how the paths end of which a test file may import something."""
    for source in (file.base, file.head):
        parsed = parse(file.path, source) if source and file.path.endswith(".py") else None
        if parsed is None or isinstance(parsed, NotParsed):
            continue
        for _, origin in imports(parsed.tree):
            whole = "/" + origin.replace(".", "/")
            outer = whole.rpartition("/")[0]
            yield from (f"{one}{end}" for one in (whole, outer) for end in _MODULE_ENDS if one)


_MODULE_ENDS: Final = (".py", "/__init__.py")
