"""Let waivers count: those of the merge base, so that no patch excuses itself."""

import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from invertgate.errors import UsageError
from invertgate.model import ChangedFile, Kind, PolicySource, Result, Verdict, Waiver
from invertgate.outcomes.identity import new_outcomes
from invertgate.patch.scope import Judged
from invertgate.policy import HOW_TO_ADOPT
from invertgate.request import Request
from invertgate.survey import Survey
from invertgate.table import waivers
from invertgate.table.selection import Key

_REVIEWED: Final = "that counts, by `--policy head`"


@dataclass(frozen=True, slots=True)
class Waived:
    """Results under the waivers that count."""

    results: tuple[Result, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Lists:
    """The waivers of one file, by path and id."""

    counting: Mapping[Key, Waiver]
    judged: Mapping[Key, Waiver]
    notes: tuple[str, ...] = ()


def with_waivers(request: Request, seen: Survey, results: Sequence[Result]) -> Waived:
    """Let waivers count.

    Args:
        request: What the user asked for.
        seen: What is judged.
        results: What was found without them, in all projects.

    Raises:
        UsageError: A list that is judged is malformed. One that is malformed at the merge base
            waives nothing, and that is told: or else nobody could mend it.
    """
    lists = _read(request, seen)
    counting = {key: waiver for one in lists for key, waiver in one.counting.items()}
    named = {key: waiver for one in lists for key, waiver in one.judged.items()}
    applied = waivers.applied(results, counting, request.today)
    notes = [note for one in lists for note in one.notes]
    notes += _killed(applied)
    notes += _stale(seen, named)
    return Waived(applied, tuple(notes))


def live_waivers(request: Request, seen: Survey) -> frozenset[Key]:
    """Return path and id of every row that a live waiver lets pass.

    Raises:
        UsageError: A list that is judged is malformed.
    """
    return frozenset(
        key
        for one in _read(request, seen)
        for key, waiver in one.counting.items()
        if waivers.is_live(waiver, request.today)
    )


def _read(request: Request, seen: Survey) -> list[_Lists]:
    """Read the lists of the repository and of each project, as far as there are any."""
    paths = [posixpath.join(project.folder, waivers.NAME) for project in seen.projects]
    judged = Judged(seen.repository, seen.patch.base, seen.patch.head)
    head = judged.head_files()(paths)
    base = judged.base_files()(paths) if seen.patch.base else {}
    lists = []
    for path, project in zip(paths, seen.projects, strict=True):
        if path in head or path in base:
            days, sources = (
                project.config.max_waiver_days,
                (base.get(path, b""), head.get(path, b"")),
            )
            lists.append(_lists(request, path, days, sources, seen))
    return lists


def _lists(
    request: Request, path: str, days: int, sources: tuple[bytes, bytes], seen: Survey
) -> _Lists:
    base, head = sources
    judged = _by_key(waivers.read(head, path, request.today, days))
    notes: list[str] = []
    before: Mapping[Key, Waiver] = {}
    try:
        before = _by_key(waivers.read(base, path, request.today, days))
    except UsageError as error:
        if seen.policy is PolicySource.BASE:
            notes.append(f"at the merge base, {error}; nothing is waived until that is mended")
    if seen.patch.base:
        notes += _changes(path, before, judged, seen.policy)
    return _Lists(before if seen.policy is PolicySource.BASE else judged, judged, tuple(notes))


def _by_key(found: Iterable[Waiver]) -> dict[Key, Waiver]:
    return {(waiver.path, waiver.id): waiver for waiver in found}


def _changes(
    path: str, base: Mapping[Key, Waiver], head: Mapping[Key, Waiver], policy: PolicySource
) -> Iterator[str]:
    for key in sorted(base.keys() | head.keys()):
        if base.get(key) == head.get(key):
            continue
        word = "adds" if key not in base else "removes" if key not in head else "changes"
        counts = _REVIEWED if policy is PolicySource.HEAD else HOW_TO_ADOPT
        yield f"the patch {word} the waiver of {':'.join(key)} in {path}; {counts}"


def _killed(results: Iterable[Result]) -> Iterator[str]:
    for result in results:
        if result.beneath is Verdict.BOUND:
            name = f"{result.path}:{result.id}"
            yield f"this waived row is killed now: {name}, by {result.test}; remove its waiver"


def _stale(seen: Survey, named: Mapping[Key, Waiver]) -> Iterator[str]:
    """Name waivers of outcomes that are not there, new or old."""
    new = {outcome.key for outcome in seen.listing.outcomes if not outcome.exempt}
    doubtful = sorted(named.keys() - new)
    files = Judged(seen.repository, "", seen.patch.head).head_files()(
        {path for path, _ in doubtful}
    )
    kinds = tuple(Kind(kind) for kind in seen.projects[0].config.extra_kinds)
    for path, row_id in doubtful:
        known = _outcomes(path, files[path], kinds) if path in files else {}
        if known is not None and (why := known.get(row_id, "there is no such outcome")):
            name = f"{path}:{row_id}"
            yield f"the waiver of {name} is stale, and can go: {why}"


def _outcomes(path: str, content: bytes, kinds: Sequence[Kind]) -> Mapping[str, str] | None:
    """Return why each outcome of a whole file is exempt, by id; None if it does not parse."""
    file = ChangedFile(path, None, None, content, frozenset())
    listing = new_outcomes([file], kinds)
    if listing.not_parsed:
        return None
    return {
        outcome.id: f"exempt, {outcome.exempt}" if outcome.exempt else ""
        for outcome in listing.outcomes
    }
