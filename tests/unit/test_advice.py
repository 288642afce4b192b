from dataclasses import replace

import pytest

from invertgate.advice import PASSES_ON_BASE, RULES, Evidence, advice
from invertgate.evidence.bodies import Body
from invertgate.model import Ending, Killer, Kind, Run, Side, Verdict

TEST = "tests/test_shop.py::test_total"
GREEN = (Run(TEST, False, Ending.PASSED), Run(TEST, True, Ending.PASSED, reached=True))
CRASH = Run(TEST, True, Ending.FAILED, exception="TypeError", killer=Killer.EXCEPTION)
WEAK = Evidence(Verdict.WEAK, Kind.IF, "a < 0", Side.TRUE, TEST, GREEN, body=Body(3, asserts=True))
UNREACHED = replace(WEAK, verdict=Verdict.UNREACHED, runs=GREEN[:1], body=None)
HANDLER = replace(UNREACHED, kind=Kind.EXCEPT, side=Side.HANDLER, predicate="except KeyError")
ENDLESS = replace(
    WEAK, verdict=Verdict.UNPROVEN, runs=(GREEN[0], Run(TEST, True, Ending.CPU, reached=True))
)


@pytest.mark.parametrize(
    ("known", "said"),
    [
        (replace(WEAK, killers=("t.py::test_other",)), "`t.py::test_other` notices"),
        (replace(WEAK, ends_alike=True), "both sides end alike"),
        (replace(WEAK, body=Body(3, asserts=True, any_error=(5,))), "line 5 of the test expects"),
        (replace(WEAK, body=Body(3, asserts=True, swallows=(6,))), "line 6 of the test takes any"),
        (replace(WEAK, body=Body(3, asserts=False)), "the test asserts nothing"),
        (replace(WEAK, body=Body(3, asserts=True, constant=(4,))), "line 4 of the test asserts"),
        (replace(WEAK, runs=(GREEN[0], CRASH)), "only TypeError out of the code"),
        (WEAK, "holds on both sides"),
        (replace(UNREACHED, takes_other_side=True), "the test takes the false side only"),
        (replace(UNREACHED, takes_other_side=True), "`a < 0` is True"),
        (replace(UNREACHED, takes_other_side=False), "the test never comes to `a < 0`"),
        (HANDLER, "nothing is raised that `except KeyError` gets to take"),
        (replace(UNREACHED, takers=0), "no test that was run takes the outcome"),
        (replace(WEAK, verdict=Verdict.UNBOUND, takers=2, runs=()), "do not notice"),
        (
            replace(WEAK, verdict=Verdict.UNCOLLECTED, runs=(), nearest=("t.py::test_a",)),
            "pytest collects `t.py::test_a`",
        ),
        (replace(WEAK, verdict=Verdict.RED, runs=(CRASH,)), "mend it first"),
        (ENDLESS, 'timeout = "kill"'),
        (replace(WEAK, passes_on_base=True), PASSES_ON_BASE),
        (
            replace(
                WEAK,
                verdict=Verdict.BOUND,
                runs=(GREEN[0], CRASH),
                body=Body(3, asserts=False),
            ),
            "the test asserts nothing; only TypeError out of the code lets it fail",
        ),
    ],
)
def test_advice_is_given_where_the_evidence_proves_it(known: Evidence, said: str) -> None:
    assert [sentence for sentence in advice(known) if said in sentence]


@pytest.mark.parametrize(
    "known",
    [
        replace(WEAK, verdict=Verdict.BOUND, runs=GREEN[:1]),
        replace(WEAK, verdict=Verdict.BOUND, killers=("t.py::test_other",), runs=GREEN[:1]),
        replace(WEAK, verdict=Verdict.BOUND, runs=(GREEN[0], CRASH)),
        replace(WEAK, verdict=Verdict.EXEMPT, runs=()),
        replace(WEAK, verdict=Verdict.BOUND, runs=GREEN[:1], passes_on_base=False),
        UNREACHED,
        replace(WEAK, verdict=Verdict.UNCOLLECTED, runs=(), nearest=("a", "b")),
        replace(ENDLESS, runs=(*ENDLESS.runs, GREEN[1])),
    ],
)
def test_nothing_is_said_where_nothing_is_proved(known: Evidence) -> None:
    assert advice(known) == ()


def test_another_test_that_kills_is_named_first() -> None:
    known = replace(WEAK, killers=("t.py::test_other",), body=Body(3, asserts=False))

    assert "t.py::test_other" in advice(known)[0]


def test_general_sentence_gives_way_to_what_is_known() -> None:
    said = advice(replace(WEAK, body=Body(3, asserts=False)))

    assert len(said) == 1


def test_each_rule_is_listed_once() -> None:
    assert len(set(RULES)) == len(RULES)
