"""Judge the rows of one project in a sweep: by what is known, by their claims, or by a search."""

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Final

from invertgate.covered import first_sightings, without_experiment
from invertgate.evidence.candidates import in_order
from invertgate.experiment.plan import by_test
from invertgate.experiment.session import OutOfTimeError
from invertgate.experiment.told import Tried
from invertgate.frozen import Lists, flaky_tests, without_flaky
from invertgate.locked import without_locked_out
from invertgate.markers import files_bearing_markers, marked
from invertgate.model import Result, Row, Verdict
from invertgate.nightly.cache import Cache, trim, usable
from invertgate.nightly.contents import NotToldError, file_digest_of, names_digest
from invertgate.nightly.journal import Journal
from invertgate.nightly.surroundings import covered_folders, lasting_digest
from invertgate.report.store import FOLDER
from invertgate.request import Request
from invertgate.resume import resumed, settings_told, tree_of
from invertgate.rounds import Search, Ways
from invertgate.survey import ProjectSurvey, Survey
from invertgate.table.check import Matched
from invertgate.table.selection import Key
from invertgate.trial import Laboratory, laboratory, try_claims, usable_cores

_NO_MATTER: Final = frozenset(
    (
        "base",
        "coverage",
        "exclude",
        "include",
        "extra_kinds",
        "project",
        "table",
        "tests",
        "tries",
        "workers",
    )
)
"""Options that say which rows are judged, and by whom; what a test comes to is another matter."""
_OF_A_JOB: Final = re.compile(
    r"GITHUB_(RUN_.*|SHA|REF.*|HEAD_REF|BASE_REF|ENV|OUTPUT|PATH|STATE|STEP_SUMMARY|EVENT_.*|JOB"
    r"|ACTION.*|ACTOR.*|TRIGGERING_ACTOR|TOKEN|WORKFLOW.*)|ACTIONS_.*|RUNNER_(NAME|TEMP|TRACKING_ID)"
    r"|CI_(JOB|PIPELINE|COMMIT|RUNNER|CONCURRENT|BUILD|REPOSITORY_URL|DEPENDENCY)(_.*)?|GITLAB_USER_.*"
    r"|BUILD_(ID|NUMBER|TAG|URL|DISPLAY_NAME)|BUILDKITE_(JOB|BUILD|COMMIT|AGENT).*|CIRCLE_(BUILD|SHA1"
    r"|WORKFLOW).*|TRAVIS_(BUILD|JOB|COMMIT).*"
)
"""Variables that are others in every job; tests of a sweep do not see them."""


@dataclass(frozen=True, slots=True)
class Wishes:
    """What was asked, and what is known beforehand of the rows of a project."""

    deadline: float
    cache: Path | None
    use_cache: bool
    hints: Mapping[Key, Sequence[str]]
    old: frozenset[Key]
    """Rows whose claim comes from an earlier version of the table."""
    is_urgent: Callable[[Row], bool]


@dataclass(slots=True)
class Sweeping:
    """Judges the rows of one project until there is no time left."""

    request: Request
    seen: Survey
    project: ProjectSurvey
    wishes: Wishes
    results: dict[Key, Result] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    tree: str = ""

    def judge(self, matched: Matched) -> Matched:
        """Judge rows; what is decided in time is in ``results`` afterwards.

        Args:
            matched: The outcomes and what tables claim.

        Returns:
            The same, with what tests claim by markers.

        Raises:
            InvertgateError: They cannot be judged; the message says what to do.
        """
        config = self.project.config
        outcomes = [row.outcome for row in matched.rows]
        most = config.workers or usable_cores()
        environment = {
            name: value
            for name, value in self.request.environment.items()
            if not _OF_A_JOB.fullmatch(name)
        }
        request = replace(self.request, environment=environment)
        with laboratory(request, self.seen, self.project, outcomes, most_workers=most) as lent:
            lab = replace(lent, place=replace(lent.place, deadline=self.wishes.deadline))
            try:
                matched = self._marked(lab, matched)
                self._judge(lab, matched)
            except OutOfTimeError:
                pass  # what is left has no result
            self.notes += lab.notes
        return matched

    def _marked(self, lab: Laboratory, matched: Matched) -> Matched:
        bearing = files_bearing_markers(self.seen, self.project)
        if not bearing:
            return matched
        markers = marked(lab, self.project, bearing)
        self.notes += markers.notes
        return self.seen.matched(self.project, markers.tests)

    def _judge(self, lab: Laboratory, matched: Matched) -> None:
        flaky = self._flaky()
        guarded = without_locked_out(self.seen, self.project, matched.rows)
        claimed = without_flaky([row for row in guarded.rows if row.claims], flaky)
        spared = without_experiment(self.request, self.seen, self.project, lab, claimed.rows)
        self.notes += (*flaky.notes, *guarded.notes, *spared.notes)
        decided = (*guarded.results, *claimed.results, *spared.results)
        self.results |= {result.key: result for result in decided}
        rows = [*spared.rows, *(row for row in guarded.rows if not row.claims)]
        self.request.progress.stage("judging rows")
        self.request.progress.total(len(rows))
        self.tree = tree_of(lab)
        cache = self._cache(lab)
        if cache.folder is not None:
            followed = covered_folders(lab.place.environment, lab.place.scratch, lab.place.original)
            lab = replace(lab, place=replace(lab.place, followed=tuple(map(str, followed))))
        known = len(self.results)
        try:
            with resumed(self.request, self.seen, self.project, lab, self.tree) as journal:
                _Bench(self, lab, cache, journal, flaky).judge(rows)
        finally:
            cache.save()
            self._count(list(self.results.values())[known:])
            if cache.folder is not None:
                trim(cache.folder)

    def _count(self, results: Sequence[Result]) -> None:
        over = sum(bool(result.cached_since) for result in results)
        if over:
            what = f"{over} of {len(results)} verdicts were taken over"
            self.notes.append(f"{what}: nothing that they hang on has changed")

    def _flaky(self) -> Lists:
        days = self.project.config.max_quarantine_days
        request = self.request
        repository, folder = self.seen.repository, self.project.folder
        return flaky_tests(repository, folder, "", request.head, request.today, days)

    def _cache(self, lab: Laboratory) -> Cache:
        place, today = lab.place, str(self.request.today)
        pristine = place.scratch / "pristine" / place.name
        context, folder, why = "", None, ""
        if self.wishes.use_cache:
            folder = self.wishes.cache or self.seen.repository.top / FOLDER / "cache"
            why = "git tracks it" if self._is_tracked(folder) else usable(folder)
        if folder is not None and not why:
            try:
                context = _context(lab, self.project.folder)
            except NotToldError as error:
                why = str(error)
        if why:
            self.notes.append(f"no verdict is taken over or kept: {folder}: {why}")
        return Cache(None if why else folder, context, pristine, today, time.time())

    def _is_tracked(self, folder: Path) -> bool:
        """Tell whether a patch could bring its own verdicts along."""
        top = self.seen.repository.top
        full = (self.request.root / folder).resolve()
        if not full.is_relative_to(top.resolve()):
            return False
        inside = full.relative_to(top.resolve()).as_posix()
        return bool(
            self.seen.repository.read("ls-files", "-z", "--cached", "--", f":(top){inside}")
        )


def _context(lab: Laboratory, folder: str) -> str:
    """Return a digest of all that a verdict hangs on beside the files that its runs open.

    Raises:
        NotToldError: There is something that cannot be summed up.
    """
    place = lab.place
    told = (
        names_digest(place.scratch / "pristine" / place.name),
        lasting_digest(place.environment, place.scratch, place.original),
        file_digest_of(place.scratch / "0" / "home" / ".gitconfig"),
        folder,
        settings_told(lab.config, _NO_MATTER),
        str(place.original),
    )
    return sha256(repr(told).encode("utf-8", "surrogateescape")).hexdigest()


class _Bench:
    """Where the rows of a project are judged, with all that is known of them."""

    def __init__(
        self, sweeping: Sweeping, lab: Laboratory, cache: Cache, journal: Journal, flaky: Lists
    ) -> None:
        self._sweeping = sweeping
        self._request = sweeping.request
        self._lab = lab
        self._cache = cache
        self._journal = journal
        self._sources = sweeping.seen.sources()
        self._subjects = {subject.outcome.key: subject for subject in lab.subjects}
        self._known: dict[Key, Mapping[str, Result]] = {}
        self._left = 0
        self._hints = dict(sweeping.wishes.hints)
        ways = Ways(
            known=lambda outcome: self._known[outcome.key],
            keep=self._keep,
            told=self._told,
            freezes=lambda test: flaky.freezing(test) is not None,
            stage=self._stage,
        )
        self._search = Search(lab, ways)

    def judge(self, rows: Sequence[Row]) -> None:
        """Judge rows, the urgent ones first where time is short.

        Raises:
            OutOfTimeError: There is no time left.
        """
        self._left = len(rows)
        left = [row for row in rows if not self._is_decided(row)]
        self._count(len(rows) - len(left), "are those of a run that was ended")
        self._known = {
            row.outcome.key: self._cache.known(row.outcome, self._sources[row.outcome.path])
            for row in left
        }
        left = [row for row in left if not self._is_known(row)]
        if not left:
            return
        self._take_hints(left)
        urgent = [row for row in left if self._sweeping.wishes.is_urgent(row)]
        others = [row for row in left if row not in urgent]
        hurried = self._sweeping.wishes.deadline < float("inf")
        for group in (urgent, others) if hurried else (left,):
            self._judge(group)

    def _stage(self, text: str) -> None:
        self._request.progress.stage(text)
        self._request.progress.total(self._left)

    def _judge(self, rows: Sequence[Row]) -> None:
        self._try_claims([row for row in rows if row.claims])
        open_ones = [row for row in rows if row.outcome.key not in self._sweeping.results]
        if open_ones:
            self._search.search(open_ones, self._hints)

    def _take_hints(self, rows: Sequence[Row]) -> None:
        """Take whom coverage data suggest, where they fit the sources."""
        sweeping = self._sweeping
        if all(row.claims for row in rows):
            return
        suggested, notes = first_sightings(
            sweeping.request, sweeping.seen, sweeping.project, self._lab
        )
        sweeping.notes += notes
        for key, subject in self._subjects.items():
            found = in_order(suggested.get(subject.slot, ()), subject.outcome.path)
            if found:
                self._hints[key] = tuple(dict.fromkeys((*self._hints.get(key, ()), *found)))

    def _count(self, count: int, words: str) -> None:
        if count:
            self._sweeping.notes.append(f"{count} verdicts {words}")

    def _is_decided(self, row: Row) -> bool:
        result = self._journal.result_for(row)
        if result is not None:
            self._note(result)
        return result is not None

    def _is_known(self, row: Row) -> bool:
        """Take a verdict over if all that it hangs on is unchanged."""
        known = self._known[row.outcome.key]
        claimed = [claim.test for claim in row.claims]
        if row.outcome.key in self._sweeping.wishes.old:
            claimed += [test for test, one in known.items() if one.verdict is Verdict.BOUND]
        found = [known[test] for test in claimed if test in known]
        bound = next((one for one in found if one.verdict is Verdict.BOUND), None)
        if bound is None and (not found or len(found) < len(row.claims)):
            return False
        weak = tuple(one.test for one in found if one.verdict is Verdict.WEAK)
        self._note(replace(bound or found[0], weak_tests=weak))
        return True

    def _try_claims(self, rows: Sequence[Row]) -> None:
        """Try what is claimed; an old claim that came to nothing is as good as none."""
        pairs = [(self._subjects[r.outcome.key], claim.test) for r in rows for claim in r.claims]
        numbered = {self._subjects[row.outcome.key].number: row for row in rows}
        by_key = {row.outcome.key: row for row in rows}
        opened: dict[str, tuple[str, ...] | None] = {}
        experiments = by_test(pairs)

        def heard(tried: Tried) -> None:
            opened[tried.test] = tried.opened
            if time.monotonic() > self._lab.place.deadline:
                raise OutOfTimeError

        def told(result: Result) -> None:
            row = by_key[result.key]
            is_old = result.key in self._sweeping.wishes.old
            if is_old and result.verdict not in (Verdict.BOUND, Verdict.WEAK):
                return
            self._keep(row, result, opened.get(result.test))
            self._told(row, result)

        if experiments:
            try_claims(self._lab, numbered, experiments, told, heard)

    def _keep(self, row: Row, result: Result, opened: tuple[str, ...] | None) -> None:
        weak = (result.test,) if result.verdict is Verdict.WEAK else ()
        alone = replace(result, weak_tests=weak, nearest=())
        self._cache.keep(row.outcome, self._sources[row.outcome.path], alone, opened)

    def _told(self, row: Row, result: Result) -> None:
        self._journal.add(row, result)
        self._note(result)

    def _note(self, result: Result) -> None:
        self._left -= 1
        self._sweeping.results[result.key] = result
        self._request.progress.advance(result, f"{result.path} {result.id}")
