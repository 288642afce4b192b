from dataclasses import replace

import pytest

from invertgate.errors import ExitCode
from invertgate.model import Kind, Side, Verdict
from invertgate.report.build import build
from invertgate.report.document import Facts
from invertgate.report.words import (
    DECISIONS,
    ENDINGS,
    MEANINGS,
    NEXT_STEPS,
    SIDES,
    conservation,
    examined_in_words,
    next_steps,
    nothing_new,
    outcome_in_words,
    visible,
)
from support import reports
from support.reports import FACTS, PATCH, full_report, listing, one_row, outcome, result


@pytest.mark.parametrize(
    ("kind", "predicate", "side", "words"),
    [
        (Kind.IF, "a < b", Side.FALSE, "the false side of `if a < b`"),
        (Kind.IF, "a < b", Side.TRUE, "the true side of `if a < b`"),
        (Kind.EXCEPT, "except KeyError", Side.HANDLER, "the handler `except KeyError`"),
        (Kind.MATCH, "match x case 1", Side.CASE, "the case `match x case 1`"),
        (Kind.TRY_ELSE, "try except A", Side.ELSE, "the else of `try except A`"),
        (Kind.FOR_ELSE, "for x in xs", Side.ELSE, "the else of `for x in xs`"),
        (Kind.WHILE_ELSE, "while x", Side.ELSE, "the else of `while x`"),
        (Kind.WHILE, "x", Side.TRUE, "the true side of `while x`"),
        (Kind.IFEXP, "x", Side.TRUE, "the true side of `... if x else ...`"),
        (Kind.COMPREHENSION, "x", Side.FALSE, "the false side of the filter `if x`"),
        (None, "x", None, "`x`"),
        (None, "", None, "an outcome that is gone"),
    ],
)
def test_outcome_is_said_in_plain_words(
    kind: Kind | None, predicate: str, side: Side | None, words: str
) -> None:
    assert outcome_in_words(kind, predicate, side) == words


def test_every_kind_side_verdict_and_exit_code_has_words() -> None:
    failing = set(Verdict) - {Verdict.BOUND, Verdict.EXEMPT, Verdict.WAIVED}

    assert set(DECISIONS) == set(Kind)
    assert set(SIDES) == set(Side)
    assert set(MEANINGS) == set(Verdict)
    assert set(NEXT_STEPS) == failing
    assert set(ENDINGS) == set(ExitCode)


def test_long_predicate_is_cut() -> None:
    words = outcome_in_words(Kind.IF, "x + " * 100, Side.TRUE)

    assert len(words) < 200
    assert words.endswith(" ...`")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("naïve", "naïve"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("a\nb\tc", "a\\nb\\tc"),
        ("\u202egnol", "\\u202egnol"),
        ("\udcff", "\\udcff"),
        ("\u200b", "\\u200b"),
        ("\x9b1m", "\\x9b1m"),
    ],
)
def test_visible_spells_out_what_could_drive_a_terminal(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_sum_begins_with_exempt_and_leaves_zeros_out() -> None:
    first, second, third = outcome(1), outcome(2), outcome(3, exempt="constant")
    results = [result(first, Verdict.BOUND), result(second, Verdict.LOCKED_OUT)]

    report = build(PATCH, listing(first, second, third), results, FACTS)

    assert conservation(report) == "found 3 = 1 exempt + 1 bound + 1 locked out"


def test_leftover_and_inherited_stand_beside_the_sum() -> None:
    assert conservation(full_report()).endswith("; 1 leftover; 1 inherited")


def test_sum_of_nothing_is_zero() -> None:
    assert conservation(reports.nothing_new()) == "found 0 = 0"


def test_rows_that_were_not_judged_are_part_of_the_sum() -> None:
    facts = Facts("invertgate run --list", "2026-01-02T03:04:05Z", judged=False)

    report = build(PATCH, listing(outcome()), [], facts)

    assert conservation(report) == "found 1 = 1 not judged"
    assert next_steps(report) == ["`invertgate run --changed` judges the rows"]


def test_nothing_new_tells_what_was_examined_against_what() -> None:
    assert nothing_new(reports.nothing_new()).splitlines() == [
        (
            "invertgate 0.1.0: 0 new outcomes; examined 3 files, 41 outcomes "
            "against 4f0c2d1a9b8c (merge base with origin/main)"
        ),
        "left out 2 files: a test file",
        "note: the clone has two merge bases; the first was taken",
        "found 0 = 0",
    ]


def test_new_outcomes_are_counted_beside_those_examined() -> None:
    assert examined_in_words(one_row(Verdict.BOUND)) == (
        "examined 3 files, 41 outcomes, 1 new against 4f0c2d1a9b8c (merge base with origin/main)"
    )


def test_whole_files_have_no_base() -> None:
    report = replace(one_row(Verdict.BOUND), base="")

    assert examined_in_words(report).endswith(
        "1 new against nothing: whole files, every outcome taken as new"
    )


def test_next_steps_name_the_commands() -> None:
    steps = next_steps(full_report())

    assert steps[0] == "mend or exclude the files that do not parse"
    assert "`invertgate bind`" in steps[1]
    assert "`invertgate table --write`" in steps[2]
    assert "`invertgate run --id ID`" in steps[3]


def test_passed_report_needs_no_next_step() -> None:
    assert next_steps(one_row(Verdict.BOUND)) == []


@pytest.mark.parametrize(
    ("verdict", "words"),
    [
        (Verdict.UNPROVEN, "let a person decide"),
        (Verdict.QUARANTINED, "let a person decide"),
        (Verdict.EXTERNAL, "claim other tests"),
        (Verdict.LOCKED_OUT, "let a reviewer look"),
        (Verdict.RED, "`invertgate run --id ID`"),
    ],
)
def test_whatever_stops_a_build_has_a_next_step(verdict: Verdict, words: str) -> None:
    [step] = next_steps(one_row(verdict))

    assert words in step


def test_run_that_was_interrupted_is_to_be_run_again() -> None:
    assert next_steps(replace(one_row(Verdict.BOUND), complete=False)) == ["run it again"]
