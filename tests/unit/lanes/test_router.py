from datetime import date

from invertgate.lanes.properties import Property, Selection
from invertgate.lanes.quarantine import Entry
from invertgate.lanes.router import Lane, Plan, Probe, Signals, concluded, plan
from invertgate.lanes.runners import Finding, Token

TOTAL = Property("total", "It adds up.", 2, ("shop/*.py",), "tests/p.py::prop_total")
KEPT = Property("kept", "It keeps.", 1, ("shop/*.py",), "tests/p.py::prop_kept")
LARGE = Property("large", "It is large.", 9, ("shop/*.py",))
FROZEN = Entry("prop_total", "ada", "clock", date(2026, 2, 28))


def planned(*stated: Property, unmapped: tuple[str, ...] = (), frozen: bool = False) -> Plan:
    selection = Selection(stated, frozenset(), unmapped)
    return plan(Signals((), selection, (FROZEN,) if frozen else ()))


def test_a_rejected_patch_does_not_start_the_property_lane() -> None:
    found = plan(Signals(("too long", "no base"), Selection((TOTAL,)), (FROZEN,)))

    assert (found.probe, found.lane) == (Probe.REJECT, Lane.NOT_STARTED)
    assert found.reasons == ("too long", "no base")
    assert (found.model_call_allowed, found.merge_credit, found.is_shut) == (False, 0, True)
    assert [each.entry for each in found.quarantine] == [FROZEN]


def test_a_narrow_patch_with_its_properties_is_eligible() -> None:
    found = planned(TOTAL, KEPT)

    assert (found.probe, found.lane, found.units) == (Probe.PASS, Lane.ELIGIBLE, 3)
    assert (found.model_call_allowed, found.merge_credit) == (True, 0)


def test_an_unmapped_file_stops_the_lane_and_names_the_row_to_add() -> None:
    found = planned(TOTAL, unmapped=("shop/tax.py",))

    assert (found.lane, found.model_call_allowed, found.is_shut) == (Lane.STOPPED, False, True)
    assert 'files: ["shop/tax.py"]' in found.reasons[0]


def test_properties_that_cost_too_much_split_the_patch() -> None:
    found = planned(TOTAL, KEPT, LARGE)

    assert (found.lane, found.model_call_allowed) == (Lane.SPLIT, False)
    assert "12 units, unit_cap is 3: split the patch" in found.reasons[0]


def test_every_reason_is_given() -> None:
    found = planned(LARGE, unmapped=("a.py", "b.py"))

    assert len(found.reasons) == 3


def test_a_frozen_property_is_priced_and_not_run() -> None:
    found = planned(TOTAL, KEPT, frozen=True)

    assert found.units == 3
    assert found.runnable == (KEPT,)
    assert [each.status for each in found.properties] == ["quarantined", "selected"]
    assert [(each.status, each.merge_credit) for each in found.quarantine] == [("quarantined", 0)]


def test_a_freeze_makes_no_room_below_the_cap() -> None:
    assert planned(TOTAL, KEPT, LARGE, frozen=True).lane is Lane.SPLIT


def test_a_patch_all_of_whose_properties_are_frozen_has_nothing_to_run() -> None:
    found = planned(TOTAL, frozen=True)

    assert (found.lane, found.model_call_allowed) == (Lane.EMPTY, False)


def test_an_entry_may_name_the_property_itself() -> None:
    entry = Entry("kept", "ada", "clock", date(2026, 2, 28))

    assert plan(Signals((), Selection((KEPT,)), (entry,))).runnable == ()


def test_a_reworded_property_is_not_run() -> None:
    found = plan(Signals((), Selection((TOTAL, KEPT), frozenset({"total"}))))

    assert found.runnable == (KEPT,)
    assert "total" in found.reasons[0]


def test_no_production_file_is_nothing_to_run() -> None:
    found = planned()

    assert (found.lane, found.model_call_allowed, found.is_shut) == (Lane.EMPTY, False, False)


def test_all_that_hold_are_a_hold_without_credit() -> None:
    found = concluded(
        planned(TOTAL, KEPT), [Finding("total", Token.HOLD), Finding("kept", Token.HOLD)]
    )

    assert (found.lane, found.merge_credit) == (Lane.HOLD, 0)


def test_one_failure_is_a_fail_whatever_the_others_say() -> None:
    found = concluded(
        planned(TOTAL, KEPT), [Finding("total", Token.UNRESOLVED), Finding("kept", Token.FAIL)]
    )

    assert found.lane is Lane.FAIL


def test_one_unresolved_is_never_a_hold() -> None:
    found = concluded(
        planned(TOTAL, KEPT), [Finding("total", Token.HOLD), Finding("kept", Token.UNRESOLVED)]
    )

    assert found.lane is Lane.UNRESOLVED


def test_a_property_of_which_nothing_was_told_is_unresolved() -> None:
    found = concluded(planned(TOTAL, KEPT), [Finding("total", Token.HOLD)])

    assert [each.token for each in found.findings] == [Token.HOLD, Token.UNRESOLVED]


def test_a_frozen_property_never_holds_also_if_somebody_says_so() -> None:
    found = concluded(
        planned(TOTAL, KEPT, frozen=True),
        [Finding("total", Token.HOLD), Finding("kept", Token.HOLD)],
    )

    assert [each.token for each in found.findings] == [Token.QUARANTINED, Token.HOLD]
    assert found.lane is Lane.ELIGIBLE


def test_a_reworded_property_never_holds() -> None:
    before = plan(Signals((), Selection((TOTAL,), frozenset({"total"}))))

    assert concluded(before, [Finding("total", Token.HOLD)]).lane is Lane.UNRESOLVED
