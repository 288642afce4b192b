"""Plan what may be done with a patch, from three answers that never share a bit. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final, Literal

from invertgate.lanes.properties import Property, Selection, row_to_add
from invertgate.lanes.quarantine import Entry
from invertgate.lanes.runners import Finding, Token


class Probe(StrEnum):
    """Whether a patch is narrow enough to be looked at."""

    PASS = "pass"  # noqa: S105 - no password
    REJECT = "reject"


class Lane(StrEnum):
    """What may be done with the properties that a patch calls for."""

    NOT_STARTED = "not started"
    STOPPED = "stopped"
    """A production file has no property."""
    SPLIT = "split the patch"
    """Its properties cost too much together."""
    EMPTY = "nothing to run"
    ELIGIBLE = "eligible"
    FAIL = "fail"
    UNRESOLVED = "unresolved"
    HOLD = "hold"


SHUT: Final = frozenset({Lane.NOT_STARTED, Lane.STOPPED, Lane.SPLIT})
"""Where the lane lets nothing through."""


@dataclass(frozen=True, slots=True)
class Signals:
    """What is known of a patch, each answer by itself."""

    probe: tuple[str, ...] = ()
    """Every reason to reject it."""
    selection: Selection = field(default_factory=Selection)
    frozen: tuple[Entry, ...] = ()
    """The live entries of the list of flaky tests."""
    unit_cap: int = 3


@dataclass(frozen=True, slots=True)
class Priced:
    """A property that the patch calls for."""

    stated: Property
    is_frozen: bool = False
    """Its test is on the live list: it is priced all the same, or else a freeze would make room."""
    is_reworded: bool = False
    """The patch itself changes it: it is priced and counts for nothing."""

    @property
    def status(self) -> str:
        """Say it in a word."""
        if self.is_frozen:
            return Token.QUARANTINED
        return "reworded" if self.is_reworded else "selected"


@dataclass(frozen=True, slots=True)
class Frozen:
    """A live entry of the list of flaky tests, as a plan has it."""

    entry: Entry

    @property
    def status(self) -> Literal["quarantined"]:
        """Say what it is; there is nothing else that it could be."""
        return "quarantined"

    @property
    def merge_credit(self) -> Literal[0]:
        """Return what it earns."""
        return 0


@dataclass(frozen=True, slots=True)
class Plan:
    """What may be done with a patch."""

    probe: Probe
    lane: Lane
    properties: tuple[Priced, ...]
    quarantine: tuple[Frozen, ...]
    reasons: tuple[str, ...]
    findings: tuple[Finding, ...] = ()
    """What came of the properties, once they were run."""

    @property
    def merge_credit(self) -> Literal[0]:
        """Return what the patch earns towards being merged: a person decides, whatever we found."""
        return 0

    @property
    def units(self) -> int:
        """Return what its properties cost together, each priced once."""
        return sum(priced.stated.units for priced in self.properties)

    @property
    def runnable(self) -> tuple[Property, ...]:
        """Return the properties that may be run."""
        if self.is_shut or self.lane is Lane.EMPTY:
            return ()
        return tuple(
            priced.stated
            for priced in self.properties
            if not priced.is_frozen and not priced.is_reworded
        )

    @property
    def model_call_allowed(self) -> bool:
        """Tell whether something costly may be asked about its properties."""
        return bool(self.runnable)

    @property
    def is_shut(self) -> bool:
        """Tell whether the patch is turned away."""
        return self.lane in SHUT


def plan(signals: Signals) -> Plan:
    """Plan what may be done with a patch: one more bad sign never opens a freer lane."""
    frozen = tuple(Frozen(entry) for entry in signals.frozen)
    if signals.probe:
        return Plan(Probe.REJECT, Lane.NOT_STARTED, (), frozen, signals.probe)
    priced = tuple(_priced(stated, signals) for stated in signals.selection.properties)
    lane, reasons = _lane(priced, signals)
    return Plan(Probe.PASS, lane, priced, frozen, reasons)


def concluded(planned: Plan, findings: Sequence[Finding]) -> Plan:
    """Say what findings come to; what is frozen or does not count gets one of its own.

    Args:
        planned: The plan by which properties were run.
        findings: What came of them.
    """
    by_id = {finding.id: finding for finding in findings}
    found = tuple(_finding(priced, by_id) for priced in planned.properties)
    return replace(
        planned, lane=_outcome({each.token for each in found}, planned.lane), findings=found
    )


def _outcome(tokens: set[Token], planned: Lane) -> Lane:
    if Token.FAIL in tokens:
        return Lane.FAIL
    if Token.UNRESOLVED in tokens:
        return Lane.UNRESOLVED
    return Lane.HOLD if tokens == {Token.HOLD} else planned  # what is frozen cannot hold


def _priced(stated: Property, signals: Signals) -> Priced:
    return Priced(
        stated,
        is_frozen=any(_freezes(entry, stated) for entry in signals.frozen),
        is_reworded=stated.id in signals.selection.reworded,
    )


def _freezes(entry: Entry, stated: Property) -> bool:
    return entry.id == stated.id or (bool(stated.test) and entry.touches(stated.test))


def _lane(priced: Sequence[Priced], signals: Signals) -> tuple[Lane, tuple[str, ...]]:
    reasons = tuple(_reasons(priced, signals))
    units = sum(each.stated.units for each in priced)
    if signals.selection.unmapped:
        return Lane.STOPPED, reasons
    if units > signals.unit_cap:
        return Lane.SPLIT, reasons
    if all(each.is_frozen or each.is_reworded for each in priced):
        return Lane.EMPTY, reasons
    return Lane.ELIGIBLE, reasons


def _reasons(priced: Sequence[Priced], signals: Signals) -> Iterator[str]:
    for path in signals.selection.unmapped:
        yield f"no property answers for {path}; add to properties.yaml: {row_to_add(path)}"
    units = sum(each.stated.units for each in priced)
    if units > signals.unit_cap:
        yield f"its properties cost {units} units, unit_cap is {signals.unit_cap}: split the patch"
    for each in priced:
        if each.is_reworded:
            yield f"the patch itself changes the property {each.stated.id}, which does not count"
        if each.is_frozen:
            yield f"the test of {each.stated.id} is on the live list of flaky tests"
    if not priced:
        yield "no production file changed: no property is selected"


def _finding(priced: Priced, by_id: Mapping[str, Finding]) -> Finding:
    name = priced.stated.id
    if priced.is_frozen:
        return Finding(name, Token.QUARANTINED, "its test is on the live list of flaky tests")
    if priced.is_reworded:
        return Finding(name, Token.UNRESOLVED, "the patch itself changes it")
    return by_id.get(name, Finding(name, Token.UNRESOLVED, "it was not run"))
