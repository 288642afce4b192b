"""The plan of a lane: total, without credit, and never freer for one more bad sign."""

from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from invertgate.lanes.properties import Property, Selection
from invertgate.lanes.quarantine import Entry
from invertgate.lanes.router import Lane, Probe, Signals, concluded, plan
from invertgate.lanes.runners import Finding, Token

pytestmark = pytest.mark.property

IDS = ("a", "b", "c", "d")
FREEDOM = {
    Lane.NOT_STARTED: 0,
    Lane.STOPPED: 1,
    Lane.SPLIT: 2,
    Lane.EMPTY: 3,
    Lane.ELIGIBLE: 4,
}

entries = st.sampled_from(
    [Entry(f"prop_{each}", "ada", "clock", date(2026, 2, 28)) for each in IDS]
    + [Entry("test_other", "ada", "clock", date(2026, 2, 28))]
)
properties = st.sets(st.sampled_from(IDS)).flatmap(
    lambda ids: st.tuples(
        *(
            st.builds(
                Property,
                st.just(each),
                st.just("It holds."),
                st.integers(1, 4),
                st.just(("**",)),
                st.sampled_from(["", f"t.py::prop_{each}"]),
            )
            for each in sorted(ids)
        )
    )
)
reasons = st.lists(st.sampled_from(["no base", "too long"]), max_size=2).map(tuple)
paths = st.lists(st.sampled_from(["x.py", "y.py"]), max_size=2).map(tuple)
selections = st.builds(Selection, properties, st.frozensets(st.sampled_from(IDS)), paths)
signals = st.builds(
    Signals, reasons, selections, st.lists(entries, max_size=3).map(tuple), st.integers(0, 9)
)


def one_worse(draw: st.DrawFn, known: Signals) -> Signals:
    selection = known.selection
    match draw(st.integers(0, 5)):
        case 0:
            return replace(known, probe=(*known.probe, "one more"))
        case 1:
            unmapped = (*selection.unmapped, "z.py")
            return replace(known, selection=replace(selection, unmapped=unmapped))
        case 2:
            reworded = selection.reworded | {draw(st.sampled_from(IDS))}
            return replace(known, selection=replace(selection, reworded=reworded))
        case 3:
            return replace(known, frozen=(*known.frozen, draw(entries)))
        case 4:
            return replace(known, unit_cap=known.unit_cap - 1)
        case _:
            dearer = tuple(replace(each, units=each.units + 1) for each in selection.properties)
            return replace(known, selection=replace(selection, properties=dearer))


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Signals, Signals]:
    known = draw(signals)
    return known, one_worse(draw, known)


@given(signals)
def test_every_plan_is_without_credit_and_its_parts_agree(known: Signals) -> None:
    found = plan(known)

    assert found.merge_credit == 0
    assert all(each.merge_credit == 0 for each in found.quarantine)
    assert (found.probe is Probe.REJECT) == bool(known.probe)
    assert (found.lane is Lane.NOT_STARTED) == bool(known.probe)
    assert not (found.is_shut and found.model_call_allowed)
    assert found.reasons or found.lane is Lane.ELIGIBLE
    assert [each.entry for each in found.quarantine] == list(known.frozen)


@given(pairs())
def test_one_more_bad_sign_never_opens_a_freer_lane(pair: tuple[Signals, Signals]) -> None:
    before, after = map(plan, pair)

    assert FREEDOM[after.lane] <= FREEDOM[before.lane]
    assert after.model_call_allowed <= before.model_call_allowed
    assert {each.id for each in after.runnable} <= {each.id for each in before.runnable}


@given(signals, st.dictionaries(st.sampled_from(IDS), st.sampled_from(Token)))
def test_a_hold_needs_every_selected_property_to_hold(
    known: Signals, said: dict[str, Token]
) -> None:
    before = plan(known)
    found = concluded(before, [Finding(name, token) for name, token in said.items()])

    everything_held = bool(before.properties) and all(
        said.get(each.stated.id) is Token.HOLD and each.status == "selected"
        for each in before.properties
    )
    assert (found.lane is Lane.HOLD) == everything_held
    assert found.merge_credit == 0
