"""List the outcomes that a patch adds, and give each an id that no edit elsewhere changes."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from invertgate.model import ChangedFile, Kind, NotParsed, Outcome, OutcomeList, Side
from invertgate.outcomes.canonical import loose_text
from invertgate.outcomes.exempt import Exemptions
from invertgate.outcomes.hints import Hints, Trace
from invertgate.outcomes.pairing import Pairing, Predicates, pair
from invertgate.outcomes.source import lines_of_git, parse, room_for_deep_trees, span
from invertgate.outcomes.walk import SIDES, Decision, Walk, extent, walk


@dataclass(frozen=True, slots=True)
class _Examined:
    """What is kept of a file; its trees are gone by then."""

    new: tuple[tuple[Trace, tuple[Outcome, ...]], ...]
    missing: tuple[Trace, ...]
    outcomes: int
    notes: tuple[str, ...] = ()


def new_outcomes(files: Sequence[ChangedFile], extra_kinds: Sequence[Kind] = ()) -> OutcomeList:
    """List the outcomes of head that base has not.

    Args:
        files: The files that differ. Those with no head and those that are no row source lend
            their missing outcomes to hints and make no rows.
        extra_kinds: Which of ``EXTRA_KINDS`` make rows as well.

    Returns:
        The outcomes, exempt ones among them, in the order of files and lines; how much was
        examined; and the files that do not parse.
    """
    with room_for_deep_trees():
        return _new_outcomes(files, extra_kinds)


def outcome_id(kind: Kind, predicate: str, side: Side, occurrence: int = 1) -> str:
    """Name an outcome.

    Args:
        kind: Of its decision.
        predicate: Canonical text.
        side: Which way the decision goes.
        occurrence: 2 for the second new outcome of equal key in the same file, and so on.

    Returns:
        12 hex digits.
    """
    key = f"{kind}|{predicate}|{side}"
    text = key if occurrence == 1 else f"{key}|{occurrence}"
    return sha256(text.encode()).hexdigest()[:12]


def _new_outcomes(files: Sequence[ChangedFile], extra_kinds: Sequence[Kind]) -> OutcomeList:
    examined: list[_Examined] = []
    not_parsed: list[NotParsed] = []
    for file in files:
        if _makes_rows(file):
            found = _examine(file, extra_kinds)
            if isinstance(found, NotParsed):
                not_parsed.append(found)
            else:
                examined.append(found)
    return OutcomeList(
        outcomes=tuple(_with_hints(examined, files, extra_kinds)),
        files_examined=len(examined),
        outcomes_examined=sum(found.outcomes for found in examined),
        not_parsed=tuple(not_parsed),
        notes=tuple(note for found in examined for note in found.notes),
    )


def _makes_rows(file: ChangedFile) -> bool:
    return file.is_row_source and file.head is not None


def _with_hints(
    examined: Sequence[_Examined], files: Iterable[ChangedFile], extra_kinds: Sequence[Kind]
) -> Iterator[Outcome]:
    if not any(found.new for found in examined):
        return
    missing = [trace for found in examined for trace in found.missing]
    lenders = (_examine(file, extra_kinds) for file in files if not _makes_rows(file))
    missing += [t for found in lenders if isinstance(found, _Examined) for t in found.missing]
    hints = Hints(missing)
    for found in examined:
        for trace, outcomes in found.new:
            hint = hints.take(trace)
            yield from (replace(each, hint=hint) for each in outcomes) if hint else outcomes


def _examine(file: ChangedFile, extra_kinds: Sequence[Kind]) -> _Examined | NotParsed:
    source = parse(file.path, file.head or b"")
    if isinstance(source, NotParsed):
        return source
    head, predicates = walk(source, extra_kinds), Predicates()
    pairing, notes = _pair(file, head, extra_kinds, predicates)
    traces = (_trace(file, file.path, decision, predicates) for decision in pairing.new)
    outcomes = _outcomes(file.path, head, pairing, predicates)
    lost = file.base_path or file.path
    return _Examined(
        new=tuple(zip(traces, outcomes, strict=True)),
        missing=tuple(_trace(file, lost, decision, predicates) for decision in pairing.missing),
        outcomes=sum(len(SIDES[decision.kind]) for decision in head.decisions),
        notes=notes,
    )


def _pair(
    file: ChangedFile, head: Walk, extra_kinds: Sequence[Kind], predicates: Predicates
) -> tuple[Pairing, tuple[str, ...]]:
    everything = Pairing(tuple(head.decisions), frozenset(), ())
    if file.base is None:
        return everything, ()
    if file.base == file.head:
        return Pairing((), frozenset(), ()), ()
    path = file.base_path or file.path
    source = parse(path, file.base)
    if isinstance(source, NotParsed):
        why = f"{source.message}, line {source.line}"
        return everything, (f"{path} does not parse at base ({why}): all it holds counts as new",)
    added = lines_of_git(file.head or b"", file.added)
    return pair(walk(source, extra_kinds), head, added, predicates), ()


def _trace(file: ChangedFile, path: str, decision: Decision, predicates: Predicates) -> Trace:
    predicate = predicates.of(decision)
    return Trace(
        file=file.path,
        path=path,
        line=decision.line,
        kind=decision.kind,
        predicate=predicate,
        loose=loose_text(decision.parts) if "not " in predicate else predicate,
    )


def _outcomes(
    path: str, head: Walk, pairing: Pairing, predicates: Predicates
) -> Iterator[tuple[Outcome, ...]]:
    """Give the outcomes of each new decision, numbered where they are equal."""
    exemptions = Exemptions(head)
    seen: Counter[tuple[Kind, str]] = Counter()
    for decision in pairing.new:
        predicate = predicates.of(decision)
        seen[decision.kind, predicate] += 1
        occurrence = seen[decision.kind, predicate]
        exempt = exemptions.reason(decision)
        yield tuple(
            Outcome(
                path=path,
                id=outcome_id(decision.kind, predicate, side, occurrence),
                kind=decision.kind,
                predicate=predicate,
                side=side,
                scope=decision.scope,
                line=decision.line,
                anchor=span(decision.anchor),
                body=_body(decision, side),
                exempt=exempt,
                ambiguous=decision in pairing.ambiguous,
            )
            for side in SIDES[decision.kind]
        )


def _body(decision: Decision, side: Side) -> tuple[int, int]:
    statements = decision.otherwise if side is Side.FALSE else decision.taken
    own = (decision.line, decision.header_end)
    if not statements:
        return own
    first, last = extent(statements)
    return (first, last) if first > decision.header_end else own
