"""What a patch asks for: its new outcomes, and the rows of the tables that answer them."""

import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from invertgate.config import CONFIG_NAME, Config, load
from invertgate.config import read as read_settings
from invertgate.errors import NoBaseError, UsageError
from invertgate.model import (
    ChangedFile,
    Kind,
    Outcome,
    OutcomeList,
    Patch,
    PolicySource,
    Shard,
)
from invertgate.outcomes.identity import new_outcomes
from invertgate.patch.base import Base, find_base
from invertgate.patch.changes import compare
from invertgate.patch.git import Repository
from invertgate.patch.projects import find_projects, is_configuration
from invertgate.patch.scope import Rules
from invertgate.patch.whole import whole_files
from invertgate.policy import BY_REVIEW, load_under_policy
from invertgate.request import Request
from invertgate.table.check import Matched, Scope, match, part_of, updated
from invertgate.table.document import Table, read
from invertgate.table.selection import Key, find
from invertgate.table.store import read_file

_NOTHING_FOUND: Final[Mapping[Key, str]] = {}
_NO_MARKERS: Final[Mapping[Key, Sequence[str]]] = {}


@dataclass(frozen=True, slots=True)
class ProjectSurvey:
    """The part of a patch that one project answers for."""

    folder: str
    """From the top of the repository, with slashes; empty for the top itself."""
    config: Config
    outcomes: tuple[Outcome, ...]
    """New outcomes of its files, exempt ones among them."""
    table: Table
    has_table: bool
    base_table: Table | None

    @property
    def table_path(self) -> str:
        """Where the table stands, from the top of the repository."""
        return posixpath.normpath(posixpath.join(self.folder, self.config.table))


@dataclass(frozen=True, slots=True)
class Survey:
    """All that is known before anything is run."""

    repository: Repository
    patch: Patch
    listing: OutcomeList
    projects: tuple[ProjectSurvey, ...]
    scope: Scope
    renames: Mapping[str, str]
    notes: tuple[str, ...]
    shard: Shard | None = None
    """The part of the rows that is judged; None means all."""
    policy: PolicySource = PolicySource.BASE
    """Whose policies count; without a base they are those of the judged version."""

    def sources(self) -> Mapping[str, bytes]:
        """Return the bytes of the files that are judged, by path."""
        return {file.path: file.head for file in self.patch.files if file.head is not None}

    def matched(
        self, project: ProjectSurvey, markers: Mapping[Key, Sequence[str]] = _NO_MARKERS
    ) -> Matched:
        """Lay a project's outcomes and its table beside each other, as far as they are judged.

        Raises:
            TableError: A row has the id of an outcome and describes another one.
        """
        matched = match(
            project.outcomes,
            project.table,
            project.base_table,
            markers,
            scope=self.scope,
            renames=self.renames,
        )
        return matched if self.shard is None else part_of(matched, self.covers)

    def covers(self, key: Key) -> bool:
        """Tell whether the row of an outcome or of a table is judged."""
        if self.shard is None:
            return True
        from invertgate.nightly.shards import in_shard  # noqa: PLC0415 - few runs are divided

        return in_shard(*key, self.shard)

    def judged(self) -> OutcomeList:
        """Return the new outcomes that are judged."""
        outcomes = (one for one in self.listing.outcomes if self.covers(one.key))
        return replace(self.listing, outcomes=tuple(outcomes))

    def updated(self, project: ProjectSurvey, found: Mapping[Key, str] = _NOTHING_FOUND) -> Table:
        """Return a project's table brought up to date; what was not asked about stays as it is.

        Args:
            project: One of this survey's.
            found: Nodeids that take the place of the claims there are.
        """
        asked = updated(project.outcomes, project.table, found, self.renames)
        kept = [entry for entry in project.table.entries if not self.scope.covers(entry.key)]
        return Table((*asked.entries, *kept), project.table.name)


def survey(request: Request, repository: Repository) -> Survey:
    """Read patch, outcomes and tables.

    Args:
        request: What the user asked for.
        repository: The one in which the user stands.

    Raises:
        NoBaseError: There is no base, or git cannot give the difference.
        UsageError: An option, the configuration or a path is wrong.
        TableError: A table is malformed.
    """
    configured = Configured(repository, request)
    config = configured.of("")
    patch = _patch(request, configured)
    listing = new_outcomes(patch.files, _kinds(config))
    scope = _scope(request, patch, listing)
    listing = replace(listing, outcomes=tuple(_covered(listing.outcomes, scope)))
    folders = _project_folders(request, repository, patch, config)
    projects = tuple(_projects(configured, listing, folders))
    renames = {
        file.base_path: file.path
        for file in patch.files
        if file.base_path is not None and file.head is not None and file.base_path != file.path
    }
    policy = request.policy if configured.base is not None else PolicySource.HEAD
    return Survey(
        repository,
        patch,
        listing,
        projects,
        scope,
        renames,
        configured.notes(),
        policy=policy,
    )


class Configured:
    """Reads configurations and tables of head and base, as each is needed."""

    def __init__(self, repository: Repository, request: Request) -> None:
        self.repository = repository
        self.head = request.head
        self.policy = request.policy
        self._overrides = request.overrides
        self._known: dict[str, tuple[Config, tuple[str, ...]]] = {}
        self._notes: tuple[str, ...] = ()
        self.base = None if request.paths else request.base or self._find_base()

    def of(self, folder: str) -> Config:
        """Return the configuration of a project: its own, or that of the top."""
        if folder not in self._known:
            self._known[folder] = self._loaded(folder)
        return self._known[folder][0]

    def notes(self) -> tuple[str, ...]:
        """Return what is to be told of policies that the patch changes."""
        told = (note for _, notes in self._known.values() for note in notes)
        reviewed = self.base is not None and self.policy is PolicySource.HEAD
        loud = (BY_REVIEW,) if reviewed else ()
        return tuple(dict.fromkeys((*loud, *self._notes, *told)))

    def content(self, path: str, revision: str) -> bytes | None:
        """Return a file at a revision, or in the working tree if that is empty."""
        if revision:
            return self.repository.blob_at(revision, path)
        try:
            return (self.repository.top / path).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise UsageError(f"{path} cannot be read: {error.strerror}") from error

    def _source(self, path: str, revision: str) -> bytes:
        return self.content(path, revision) or b""

    def _find_base(self) -> Base:
        """Find the merge base; a patch cannot choose what it is compared with.

        The configuration's base counts only where the merge base that is found without it says
        the same, or where there is none, or where a person has reviewed it.
        """
        source = self._source(CONFIG_NAME, self.head)
        named = str(self._overrides.get("base") or "")
        configured = load(source, self._overrides).base
        if named or not configured:
            return find_base(self.repository, named, self.head)
        if self.policy is PolicySource.HEAD:
            return find_base(self.repository, configured, self.head)
        try:
            default = find_base(self.repository, "", self.head)
        except NoBaseError:
            return find_base(self.repository, configured, self.head)
        before = self._source(CONFIG_NAME, default.commit)
        if read_settings(before).get("base") == configured:
            return find_base(self.repository, configured, self.head)
        told = f"the patch sets tool.invertgate.base to {configured}"
        self._notes = (f"{told}; it is compared with the {default.name} all the same",)
        return default

    def _loaded(self, folder: str) -> tuple[Config, tuple[str, ...]]:
        path = posixpath.join(folder, CONFIG_NAME)
        source = self._source(path, self.head)
        if folder and b"tool.invertgate" not in source:
            return self.of(""), ()
        if self.base is None:
            return load(source, self._overrides, path), ()
        before = self._source(path, self.base.commit)
        if before == source:
            return load(source, self._overrides, path), ()
        return load_under_policy(source, before, self._overrides, path, self.policy)


def _kinds(config: Config) -> tuple[Kind, ...]:
    return tuple(Kind(kind) for kind in config.extra_kinds)


def _patch(request: Request, configured: Configured) -> Patch:
    config = configured.of("")
    trusted = request.policy is PolicySource.HEAD
    rules = Rules(config.include, config.exclude, trust_head=trusted)
    if configured.base is None:
        return whole_files(
            request.root,
            [Path(path) for path in request.paths],
            head=request.head,
            rules=rules,
            environment=request.environment,
        )
    return compare(configured.repository, configured.base, head=request.head, rules=rules)


def _scope(request: Request, patch: Patch, listing: OutcomeList) -> Scope:
    keys = [outcome.key for outcome in listing.outcomes]
    chosen = frozenset(find(text, keys) for text in request.ids) if request.ids else None
    paths = tuple(_sorted_paths(patch.files)) if request.paths else None
    return Scope(paths, chosen)


def _sorted_paths(files: Sequence[ChangedFile]) -> list[str]:
    return sorted(file.path for file in files)


def _covered(outcomes: Sequence[Outcome], scope: Scope) -> Iterator[Outcome]:
    return (outcome for outcome in outcomes if scope.covers(outcome.key))


def _project_folders(
    request: Request, repository: Repository, patch: Patch, config: Config
) -> dict[str, str]:
    """Return the project's folder of each changed path, of those that were asked for."""
    paths = [*(file.path for file in patch.files), *(left.path for left in patch.left_out)]

    def contents(wanted: Iterable[str]) -> Mapping[str, bytes]:
        names = [path for path in wanted if is_configuration(path)]
        if request.head:
            return repository.files_at(patch.head or request.head, names)
        found = {}
        for name in names:
            try:
                found[name] = (repository.top / name).read_bytes()
            except OSError:
                continue
        return found

    folders = {path: project.folder for path, project in find_projects(paths, contents).items()}
    if not config.project:
        return folders
    asked = [_asked(repository, request.root, folder) for folder in config.project]
    return {
        path: own
        for path in paths
        if (own := next((each for each in asked if _is_below(path, each)), None)) is not None
    }


def _asked(repository: Repository, root: Path, folder: str) -> str:
    path, top = (root / folder).resolve(), repository.top.resolve()
    if not path.is_dir():
        raise UsageError(f"--project {folder} is no folder")
    if not path.is_relative_to(top):
        raise UsageError(f"--project {folder} lies outside the repository {top}")
    relative = path.relative_to(top).as_posix()
    return "" if relative == "." else relative


def _is_below(path: str, folder: str) -> bool:
    return not folder or path.startswith(folder + "/")


def _projects(
    configured: Configured, listing: OutcomeList, folders: Mapping[str, str]
) -> Iterator[ProjectSurvey]:
    for folder in sorted({"", *folders.values()}):
        config = configured.of(folder)
        outcomes = tuple(
            outcome for outcome in listing.outcomes if folders.get(outcome.path) == folder
        )
        path = posixpath.normpath(posixpath.join(folder, config.table))
        table = _table(configured, path)
        if table is None and not outcomes and folder:
            continue
        yield ProjectSurvey(
            folder,
            config,
            outcomes,
            table or Table(name=path),
            table is not None,
            _base_table(configured, path, table, held=config.locked and bool(outcomes)),
        )


def _table(configured: Configured, path: str) -> Table | None:
    if not configured.head:
        return read_file(configured.repository.top / path, path)
    content = configured.content(path, configured.head)
    return None if content is None else read(content, path)


def _base_table(
    configured: Configured, path: str, table: Table | None, *, held: bool
) -> Table | None:
    """Read the merge base's table, where rows may be inherited from it or are held by it."""
    if configured.base is None or not (held or (table is not None and table.entries)):
        return None
    content = configured.content(path, configured.base.commit)
    return None if content is None else read(content, f"{path} at the merge base")
