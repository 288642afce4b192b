"""Put the one document together, and see that its numbers add up."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from invertgate import __version__
from invertgate.errors import WORST_FIRST, ExitCode
from invertgate.model import (
    Claim,
    Excerpt,
    NotParsed,
    Outcome,
    OutcomeList,
    Patch,
    Result,
    Row,
    Side,
    Verdict,
)
from invertgate.report.document import SCHEMA_VERSION, Facts, Gone, Report, ReportRow

Key = tuple[str, str]
"""Path and id."""

WITHOUT_OUTCOME: Final = frozenset({Verdict.LEFTOVER, Verdict.INHERITED})
"""Verdicts on rows of the table that no outcome answers; they do not count as found."""

EXIT_CODES: Final[Mapping[Verdict, ExitCode]] = {
    Verdict.BOUND: ExitCode.OK,
    Verdict.WEAK: ExitCode.FINDINGS,
    Verdict.UNREACHED: ExitCode.FINDINGS,
    Verdict.UNBOUND: ExitCode.FINDINGS,
    Verdict.UNCOLLECTED: ExitCode.FINDINGS,
    Verdict.RED: ExitCode.RED,
    Verdict.UNPROVEN: ExitCode.UNPROVEN,
    Verdict.QUARANTINED: ExitCode.HOLD,
    Verdict.EXTERNAL: ExitCode.HOLD,
    Verdict.WAIVED: ExitCode.OK,
    Verdict.LEFTOVER: ExitCode.FINDINGS,
    Verdict.INHERITED: ExitCode.OK,
    Verdict.LOCKED_OUT: ExitCode.FINDINGS,
    Verdict.EXEMPT: ExitCode.OK,
}
"""What one row of each verdict does to the gate."""

SIDE_ORDER: Final = {side: place for place, side in enumerate(Side)}


class ConservationError(AssertionError):
    """A row went missing or was counted twice on the way to the report: a bug of ours."""


def build(
    patch: Patch,
    listing: OutcomeList,
    results: Sequence[Result],
    facts: Facts,
    *,
    rows: Iterable[Row] = (),
    gone: Iterable[Gone] = (),
    projects: Mapping[str, str] | None = None,
) -> Report:
    """Put together what the stages found.

    Args:
        patch: What was judged.
        listing: The new outcomes, exempt ones among them.
        results: One for every outcome that is not exempt (fewer if ``facts`` say that the run was
            not completed or did not judge), and one for every row that is left over or inherited.
        facts: What there is to say of the run itself.
        rows: The claims on the outcomes.
        gone: What the table says of rows that are left over or inherited.
        projects: The project of each path, where it is not the whole repository.

    Raises:
        ConservationError: An outcome has no result, or a result no outcome.
    """
    projects = projects or {}
    judged = _by_key(result for result in results if result.verdict not in WITHOUT_OUTCOME)
    without = _by_key(result for result in results if result.verdict in WITHOUT_OUTCOME)
    claims = {row.outcome.key: row.claims for row in rows}
    entries = {(entry.path, entry.id): entry for entry in gone}
    if repeated := [
        key for key, times in Counter(one.key for one in listing.outcomes).items() if times > 1
    ]:
        raise ConservationError(f"outcomes listed twice: {repeated}")
    excerpts = _excerpts(patch, listing.outcomes)
    made = [
        replace(
            _outcome_row(
                outcome,
                judged.get(outcome.key),
                claims.get(outcome.key, ()),
                projects.get(outcome.path, "."),
            ),
            excerpt=excerpts.get(outcome.key),
        )
        for outcome in listing.outcomes
    ] + [
        _gone_row(result, entries.get(key), projects.get(result.path, "."))
        for key, result in without.items()
    ]
    if strangers := judged.keys() - {outcome.key for outcome in listing.outcomes}:
        raise ConservationError(f"results without an outcome: {sorted(strangers)}")
    return check(_report(patch, listing, facts, tuple(sorted(made, key=_place))))


def check(report: Report) -> Report:
    """Return the report if its numbers add up.

    Raises:
        ConservationError: They do not.
    """
    tally = Counter(row.verdict for row in report.rows)
    if any(report.counts.get(verdict, 0) != tally[verdict] for verdict in Verdict):
        raise ConservationError(f"counted {dict(tally)}, reported {report.counts}")
    outcomes = sum(count for verdict, count in tally.items() if verdict not in WITHOUT_OUTCOME)
    if report.found != outcomes or report.undecided != tally[None]:
        raise ConservationError(f"found {report.found} outcomes, but {outcomes} rows for them")
    if report.undecided and report.complete and report.judged:
        nameless = [row.name for row in report.rows if row.verdict is None]
        raise ConservationError(f"no verdict on {', '.join(nameless)}")
    return report


def exit_code_of(
    results: Iterable[Result | ReportRow], not_parsed: Sequence[NotParsed]
) -> ExitCode:
    """Choose the exit code: the worst that applies.

    Args:
        results: Rows with their verdicts; those without a verdict do not count.
        not_parsed: Changed files that could not be read.
    """
    codes = {EXIT_CODES[result.verdict] for result in results if result.verdict is not None}
    if not_parsed:
        codes.add(ExitCode.NOT_PARSED)
    return next(code for code in WORST_FIRST if code in codes or code is ExitCode.OK)


def with_rows(report: Report, rows: Iterable[ReportRow]) -> Report:
    """Return a report with other rows, in their order, its numbers and exit code counted anew.

    Raises:
        ConservationError: The numbers do not add up.
    """
    ordered = tuple(sorted(rows, key=_place))
    tally = Counter(row.verdict for row in ordered)
    return check(
        replace(
            report,
            exit_code=exit_code_of(ordered, report.not_parsed),
            found=sum(row.verdict not in WITHOUT_OUTCOME for row in ordered),
            undecided=tally[None],
            counts={verdict: tally[verdict] for verdict in Verdict},
            rows=ordered,
            weak_tests=_weak_tests(ordered),
        )
    )


def with_mutants(report: Report, diffs: Mapping[Key, str]) -> Report:
    """Return a report whose rows show their mutants.

    Args:
        report: Without them.
        diffs: Of the inverted outcomes, by path and id, as far as somebody wrote them.
    """
    rows = (replace(row, mutant=diffs.get((row.path, row.id), "")) for row in report.rows)
    return replace(report, rows=tuple(rows))


def failed(facts: Facts, exit_code: ExitCode, error: str = "") -> Report:
    """Return the report of a run that was stopped before it could say anything."""
    return Report(
        schema_version=SCHEMA_VERSION,
        tool_version=__version__,
        complete=False,
        exit_code=exit_code,
        started=facts.started,
        command=facts.command,
        judged=facts.judged,
        error=error,
        operator=facts.operator,
        policy=facts.policy,
        python=facts.python,
        platform=facts.platform,
        counts=dict.fromkeys(Verdict, 0),
        notes=facts.notes,
    )


def stopped_early(report: Report, why: str) -> Report:
    """Return the report of a run that ended by itself before every row had a verdict.

    It is not complete. It ends as its rows do, and not better than unproven.

    Args:
        report: With rows that have no verdict.
        why: What stopped it, and how much is left.
    """
    codes = {exit_code_of(report.rows, report.not_parsed), ExitCode.UNPROVEN}
    worst = next(code for code in WORST_FIRST if code in codes)
    return replace(report, complete=False, error=why, exit_code=worst)


def _excerpts(patch: Patch, outcomes: Iterable[Outcome]) -> dict[Key, Excerpt]:
    """Cut the outcomes out of their files; reading source is for patches that have outcomes."""
    by_path: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        by_path.setdefault(outcome.path, []).append(outcome)
    if not by_path:
        return {}
    from invertgate.report.excerpt import excerpt, lines_of  # noqa: PLC0415

    found: dict[Key, Excerpt] = {}
    for file in patch.files:
        if file.head is not None and file.path in by_path:
            lines = lines_of(file.head)
            found |= {outcome.key: excerpt(outcome, lines) for outcome in by_path[file.path]}
    return found


def _by_key(results: Iterable[Result]) -> dict[Key, Result]:
    found: dict[Key, Result] = {}
    for result in results:
        if found.setdefault(result.key, result) is not result:
            raise ConservationError(f"two results for {result.path}:{result.id}")
    return found


def _outcome_row(
    outcome: Outcome, result: Result | None, claims: tuple[Claim, ...], project: str
) -> ReportRow:
    if outcome.exempt:
        result = Result(outcome.path, outcome.id, Verdict.EXEMPT, outcome.exempt)
    row = ReportRow(
        project=project,
        path=outcome.path,
        id=outcome.id,
        line=outcome.line,
        end_line=max(outcome.line, outcome.body[1]),
        scope=outcome.scope,
        kind=outcome.kind,
        predicate=outcome.predicate,
        side=outcome.side,
        anchor=outcome.anchor,
        verdict=None,
        test=claims[0].test if claims else "",
        claims=claims,
        hint=outcome.hint,
        ambiguous=outcome.ambiguous,
        body_line=outcome.body[0],
    )
    return row if result is None else _with_result(row, result)


def _gone_row(result: Result, entry: Gone | None, project: str) -> ReportRow:
    row = ReportRow(
        project=entry.project if entry else project,
        path=result.path,
        id=result.id,
        line=0,
        end_line=0,
        scope="",
        kind=entry.kind if entry else None,
        predicate=entry.predicate if entry else "",
        side=entry.side if entry else None,
        anchor=None,
        verdict=None,
    )
    return _with_result(row, result)


def _with_result(row: ReportRow, result: Result) -> ReportRow:
    return replace(
        row,
        verdict=result.verdict,
        reason=result.reason,
        test=result.test or row.test,
        runs=result.runs,
        weak_tests=result.weak_tests,
        nearest=result.nearest,
        waiver=result.waiver,
        beneath=result.beneath,
        cached_since=result.cached_since,
    )


def _place(row: ReportRow) -> tuple[str, int, int, int, str]:
    column = row.anchor.column if row.anchor else 0
    side = SIDE_ORDER[row.side] if row.side else len(SIDE_ORDER)
    return (row.path, row.line, column, side, row.id)


def _report(
    patch: Patch, listing: OutcomeList, facts: Facts, rows: tuple[ReportRow, ...]
) -> Report:
    tally = Counter(row.verdict for row in rows)
    exit_code = exit_code_of(rows, listing.not_parsed)
    return replace(
        failed(facts, exit_code if facts.complete else ExitCode.INTERRUPTED),
        complete=facts.complete,
        seconds=round(facts.seconds, 3),
        cpu=round(facts.cpu, 3),
        base=patch.base,
        base_name=patch.base_name,
        head=patch.head,
        files_examined=listing.files_examined,
        outcomes_examined=listing.outcomes_examined,
        found=len(listing.outcomes),
        undecided=tally[None],
        counts={verdict: tally[verdict] for verdict in Verdict},
        tables=facts.tables,
        written=facts.written,
        not_parsed=listing.not_parsed,
        left_out=patch.left_out,
        notes=(*patch.notes, *listing.notes, *facts.notes),
        rows=rows,
        weak_tests=_weak_tests(rows),
        whole=facts.whole,
        shard=facts.shard,
        tree=facts.tree,
    )


def _weak_tests(rows: Iterable[ReportRow]) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for row in rows:
        if row.verdict is Verdict.WAIVED:
            continue  # of an equivalent mutant no test has to notice anything
        for test in row.weak_tests:
            found.setdefault(test, []).append(row.name)
    return {test: tuple(found[test]) for test in sorted(found)}
