"""Find tests that kill the mutants of rows, and write down that they claim them."""

import posixpath
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from invertgate.evidence.marker_lines import marking
from invertgate.locked import held_keys, with_locks
from invertgate.markers import files_bearing_markers, marked
from invertgate.model import ClaimSource, Row
from invertgate.nearest import unkilled
from invertgate.patch.git import open_repository
from invertgate.patch.scope import Judged
from invertgate.report.document import BindReport, MarkerLine, Replaced
from invertgate.request import Request
from invertgate.search import Search, search_tests
from invertgate.survey import ProjectSurvey, Survey, survey
from invertgate.table import document
from invertgate.table.selection import Key, written
from invertgate.table.store import change_of, write_file
from invertgate.trial import laboratory, usable_cores
from invertgate.waived import live_waivers

_T = TypeVar("_T")


def run(request: Request) -> BindReport:
    """Search a test for each row without one, and write what is found into the tables.

    Raises:
        InvertgateError: The search cannot be made; the message says what to do.
    """
    seen = survey(request, open_repository(request.root, request.environment))
    parts = [_bound(request, seen, project) for project in seen.projects]
    notes = (*seen.notes, *seen.patch.notes, *_all(part.notes for part in parts))
    return BindReport(
        bound=_all(part.bound for part in parts),
        unkilled=_all(part.unkilled for part in parts),
        claimed=sum(part.claimed for part in parts),
        tables=_all(part.tables for part in parts),
        written=_all(part.written for part in parts),
        not_parsed=seen.listing.not_parsed,
        notes=tuple(dict.fromkeys(notes)),
        replaced=_all(part.replaced for part in parts),
        unwritten={path: diff for part in parts for path, diff in part.unwritten.items()},
        markers=_all(part.markers for part in parts),
    )


def _all(parts: "Iterator[tuple[_T, ...]]") -> tuple[_T, ...]:
    return tuple(one for part in parts for one in part)


def _bound(request: Request, seen: Survey, project: ProjectSurvey) -> BindReport:
    """Search for the rows of one project."""
    matched = seen.matched(project)
    if not matched.rows:
        return BindReport((), ())
    bearing = files_bearing_markers(seen, project)
    rows, notes = _wanted(request, seen, project, matched.rows)
    claimed = sum(bool(row.claims) for row in matched.rows)
    search = Search({})
    if rows:
        outcomes = [row.outcome for row in rows]
        most = project.config.workers or usable_cores()
        with laboratory(request, seen, project, outcomes, most_workers=most, doubt=False) as lab:
            by_marker = marked(lab, project, bearing)
            claiming = {row.outcome.key: row for row in seen.matched(project, by_marker.tests).rows}
            rows = tuple(claiming[row.outcome.key] for row in rows)
            claimed = sum(bool(row.claims) for row in claiming.values())
            if not request.rebind:
                rows = tuple(row for row in rows if not row.claims)
            search = search_tests(request, seen, lab, project, rows)
            search.notes += (*by_marker.notes, *lab.notes)
    found = search.fresh()
    replaced = tuple(_replaced(search))
    report = BindReport(
        bound=tuple((search.subjects[number].outcome, test) for number, test in found.items()),
        unkilled=tuple(
            unkilled(search, subject)
            for number, subject in search.subjects.items()
            if number not in search.found
        ),
        claimed=claimed - len(replaced),
        tables=(project.table_path,),
        notes=(*notes, *search.notes),
        replaced=replaced,
    )
    keyed = {search.subjects[number].outcome.key: test for number, test in found.items()}
    kept = _with_markers if request.markers else _with_table
    return kept(request, seen, project, report, keyed)


def _wanted(
    request: Request, seen: Survey, project: ProjectSurvey, rows: Sequence[Row]
) -> tuple[tuple[Row, ...], list[str]]:
    """Choose the rows that are searched for, before any marker is known; tell of the others."""
    wanted = [row for row in rows if request.rebind or not row.claims]
    waived = frozenset() if request.ids else live_waivers(request, seen)
    unwaived = [row for row in wanted if row.outcome.key not in waived]
    claimed = [row for row in unwaived if row.claims]
    held = held_keys(seen, project, claimed) if claimed else frozenset()
    notes = []
    if spared := len(wanted) - len(unwaived):
        was = "1 waived row was" if spared == 1 else f"{spared} waived rows were"
        notes.append(f"{was} not searched for; `--id ID` searches all the same")
    if held:
        was = "1 locked row was" if len(held) == 1 else f"{len(held)} locked rows were"
        notes.append(f"{was} not searched for: what is locked keeps its test")
    return tuple(row for row in unwaived if row.outcome.key not in held), notes


def _replaced(search: Search) -> Iterator[Replaced]:
    """Yield the rows whose test in the table gives way to another."""
    for number, test in search.fresh().items():
        claims = search.claims.get(number, ())
        for before in (each.test for each in claims if each.source is ClaimSource.TABLE):
            attempt = search.tried.get(number, {}).get(before)
            reason = attempt.reason if attempt is not None else _ONLY_CRASHES
            yield Replaced(search.subjects[number].outcome, before, test, reason)


_ONLY_CRASHES = "it notices by an exception only; the new one asserts"


def _with_table(
    request: Request,
    seen: Survey,
    project: ProjectSurvey,
    report: BindReport,
    found: Mapping[Key, str],
) -> BindReport:
    """Write what was found into the table, with locks if asked; or say what would be written."""
    new = seen.updated(project, found)
    notes: tuple[str, ...] = ()
    if request.lock:
        new, notes = with_locks(seen, project, new)
    path = project.table_path
    content = document.write(new, Path(path).suffix)
    report = replace(report, notes=(*report.notes, *notes))
    top = seen.repository.top
    if request.dry_run:
        diff = change_of(top / path, content, path)
        return replace(report, unwritten={path: diff} if diff else {})
    changed = write_file(top / path, content, top)
    return replace(report, written=(path,) if changed else ())


def _with_markers(
    _: Request,
    seen: Survey,
    project: ProjectSurvey,
    report: BindReport,
    found: Mapping[Key, str],
) -> BindReport:
    """Write the lines by which the tests would claim the rows; no table."""
    known = Counter(outcome.id for outcome in project.outcomes)
    by_file: dict[str, dict[str, list[str]]] = {}
    for key, test in found.items():
        name = key[1] if known[key[1]] == 1 else written(key)
        by_file.setdefault(test.partition("::")[0], {}).setdefault(test, []).append(name)
    read = Judged(seen.repository, seen.patch.base, seen.patch.head).head_files()
    lines: list[MarkerLine] = []
    notes = []
    for file, claims in sorted(by_file.items()):
        path = posixpath.normpath(posixpath.join(project.folder, file))
        placed = marking(read([path]).get(path, b""), claims)
        lines += [MarkerLine(path, each.line, each.text) for each in placed.lines]
        notes += [f"{test} {_CANNOT_BEAR}" for test in placed.unplaced]
    if any("[" in test for test in found.values()):
        notes.append(_FOR_ALL_PARAMETERS)
    if report.replaced:
        notes.append(_TABLE_STAYS)
    return replace(report, markers=tuple(lines), notes=(*report.notes, *notes))


_CANNOT_BEAR = "is no function of its file and can bear no marker of its own; name it in the table"
_FOR_ALL_PARAMETERS = (
    "a marker on a parametrized test claims for each of its parameters; "
    "those that stay green are listed as weak"
)
_TABLE_STAYS = "a marker does not replace a claim in the table; take that test out of its row"
