from invertgate.experiment.plan import Subject
from invertgate.experiment.told import Taken
from invertgate.model import Claim, Kind, Outcome, Side, Span
from invertgate.nearest import unkilled
from invertgate.search import Attempt, Kills, Search

CRASH, ASSERTION = Kills("t.py::crash", asserts=False), Kills("t.py::assert", asserts=True)


def subject(number: int = 0, side: Side = Side.TRUE) -> Subject:
    outcome = Outcome(
        "a.py", f"{number:012}", Kind.IF, "x", side, "Shop.price", 1, Span(1, 3, 1, 4), (2, 2)
    )
    slot = 2 * number + (side is Side.FALSE)
    return Subject(number, outcome, 0, slot, (slot,))


def taken(test: str, *slots: int, passed: bool = True, external: bool = False) -> Taken:
    return Taken(test, passed, frozenset(slots), frozenset(), 0.1, external)


def search_of(*suite: Taken, subjects: int = 1) -> Search:
    search = Search({number: subject(number) for number in range(subjects)})
    search.suite = {each.test: each for each in suite}
    return search


def test_an_assertion_takes_the_place_of_a_crash_and_nothing_that_of_an_assertion() -> None:
    search = search_of()

    kept = []
    for kills in (CRASH, Kills("t.py::later_crash", asserts=False), ASSERTION, CRASH):
        search.offer(0, kills)
        kept.append(search.found[0])

    assert kept == [CRASH, CRASH, ASSERTION, ASSERTION]


def test_a_row_whose_claim_holds_is_not_written_anew() -> None:
    search = search_of(subjects=2)
    search.claims = {0: (Claim(CRASH.test),), 1: (Claim(CRASH.test),)}
    search.found = {0: CRASH, 1: ASSERTION}

    assert search.fresh() == {1: ASSERTION.test}


def test_a_row_whose_claim_only_crashes_stays_open_while_a_better_one_is_wanted() -> None:
    search = search_of(subjects=3)
    search.found = {0: CRASH, 1: CRASH}
    search.wanting = {1}

    assert [each.number for each in search.open()] == [1, 2]


def test_tests_that_stay_green_are_the_nearest() -> None:
    search = search_of(taken("t.py::other", 1))
    search.tried = {
        0: {
            "t.py::unstable": Attempt("unstable: 1 of 2", is_green=False),
            "t.py::green": Attempt("the outcome was inverted", is_green=True),
        }
    }

    entry = unkilled(search, subject())

    assert (entry.tried, entry.reason) == (2, "no test noticed; unstable: 1 of 2")
    assert entry.why_not == {
        "t.py::green": "it takes the outcome, and stays green when that is inverted",
        "t.py::unstable": "unstable: 1 of 2",
        "t.py::other": "it takes the other side only",
    }
    assert entry.nearest == tuple(entry.why_not)


def test_tests_that_were_passed_over_say_why() -> None:
    search = search_of(
        taken("t.py::red", 0, passed=False),
        taken("t.py::outside", 0, external=True),
        taken("t.py::set[{'a', 'b'}]", 0),
    )

    why_not = unkilled(search, subject()).why_not

    assert why_not == {
        "t.py::red": "it takes the outcome, and does not pass as things are",
        "t.py::outside": "it takes the outcome, and has an outside cost (marker external)",
        "t.py::set[{'a', 'b'}]": "it takes the outcome, and its id is another one in every process",
    }


def test_a_test_of_the_same_function_is_near() -> None:
    search = search_of(taken("t.py::test_price", 2), subjects=2)

    entry = unkilled(search, subject())

    assert entry.reason == "no test that passes takes this outcome"
    assert entry.why_not == {"t.py::test_price": "it takes another outcome of Shop.price"}


def test_tests_that_were_not_tried_are_counted() -> None:
    search = search_of()
    search.untried = {0: 7}

    assert unkilled(search, subject()).reason.endswith(
        "; 7 more take it and were not tried (option `tries`)"
    )
