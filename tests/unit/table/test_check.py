from dataclasses import replace

import pytest

from invertgate.errors import ExitCode, TableError
from invertgate.model import Claim, ClaimSource, Kind, Outcome, Result, Row, Side, Span, Verdict
from invertgate.table.check import (
    NO_CLAIM,
    NOT_IN_TABLE,
    Matched,
    Scope,
    match,
    stub,
    updated,
)
from invertgate.table.document import Entry, Table

NEW = Outcome(
    path="src/a.py",
    id="a" * 12,
    kind=Kind.IF,
    predicate="x is None",
    side=Side.TRUE,
    scope="f",
    line=3,
    anchor=Span(3, 7, 3, 16),
    body=(4, 4),
)
OTHER = replace(NEW, id="b" * 12, side=Side.FALSE)
GUARD = replace(NEW, id="c" * 12, predicate="TYPE_CHECKING", exempt="only for type checkers")

FITS = Entry(NEW.id, NEW.path, NEW.kind, NEW.predicate, NEW.side, "tests/t.py::test_one", line=7)
OPEN = replace(FITS, id=OTHER.id, side=OTHER.side, test=None)
OLD = Entry("d" * 12, "src/old.py", Kind.EXCEPT, "except OSError", Side.HANDLER, "t::old", line=9)


def told(result: Result) -> str:
    """Cut from a reason what every leftover row says."""
    return result.reason.partition("; `invertgate table --write`")[0]


def test_row_that_fits_claims_its_outcome() -> None:
    matched = match([NEW], Table((FITS,)))

    assert matched == Matched((Row(NEW, (Claim("tests/t.py::test_one"),)),), (), (), (), ())
    assert matched.is_exact


def test_outcome_without_a_row_is_unbound_and_not_in_the_table() -> None:
    matched = match([NEW], Table())

    assert matched.rows == (Row(NEW),)
    assert matched.unbound == (Result("src/a.py", "a" * 12, Verdict.UNBOUND, NOT_IN_TABLE),)
    assert not matched.is_exact


def test_row_that_names_no_test_is_unbound_and_stands_in_the_table() -> None:
    matched = match([OTHER], Table((OPEN,)))

    assert matched.unbound == (Result("src/a.py", "b" * 12, Verdict.UNBOUND, NO_CLAIM),)
    assert matched.is_exact


@pytest.mark.parametrize("table", [Table(), Table((OPEN,))])
def test_marker_claims_an_outcome_whether_or_not_it_has_a_row(table: Table) -> None:
    matched = match([OTHER], table, markers={OTHER.key: ("t::one", "t::two")})

    assert matched.rows == (
        Row(OTHER, (Claim("t::one", ClaimSource.MARKER), Claim("t::two", ClaimSource.MARKER))),
    )
    assert matched.unbound == ()


def test_test_that_table_and_marker_name_claims_once_and_the_table_comes_first() -> None:
    matched = match([NEW], Table((FITS,)), markers={NEW.key: ("t::zero", "tests/t.py::test_one")})

    assert matched.rows[0].claims == (
        Claim("tests/t.py::test_one"),
        Claim("t::zero", ClaimSource.MARKER),
    )


def test_row_without_an_outcome_is_left_over() -> None:
    matched = match([NEW], Table((FITS, OLD)))

    assert matched.leftovers == (
        Result(
            "src/old.py",
            "d" * 12,
            Verdict.LEFTOVER,
            "the patch has no such new outcome; `invertgate table --write` brings the table up to "
            "date (branch_rows.json:9, except handler: except OSError)",
            "t::old",
        ),
    )
    assert not matched.is_exact


@pytest.mark.parametrize("outcomes", [[], [GUARD]], ids=["no outcome", "only an exempt one"])
def test_row_of_the_base_is_inherited_while_the_patch_has_no_new_outcome(
    outcomes: list[Outcome],
) -> None:
    moved = replace(OLD, line=70)

    matched = match(outcomes, Table((OLD,)), Table((moved,)))

    assert matched.leftovers == ()
    assert matched.inherited == (
        Result(
            "src/old.py",
            "d" * 12,
            Verdict.INHERITED,
            "the merge base's table has this row; `invertgate table --write` removes it",
            "t::old",
        ),
    )
    assert matched.notes == (
        "branch_rows.json holds 1 row of merged patches; `invertgate table --write` removes them",
    )
    assert matched.is_exact


def test_inherited_rows_are_counted() -> None:
    table = Table((OLD, replace(OLD, id="e" * 12)), "rows.yaml")

    assert match([], table, table).notes[0].startswith("rows.yaml holds 2 rows of merged patches")


def test_row_of_the_base_is_left_over_when_the_patch_has_a_new_outcome() -> None:
    matched = match([NEW], Table((FITS, OLD)), Table((OLD,)))

    assert matched.inherited == ()
    assert told(matched.leftovers[0]) == "a merged patch left this row behind"


@pytest.mark.parametrize(
    "base",
    [
        None,
        Table(),
        Table((replace(OLD, test="t::other"),)),
        Table((replace(OLD, test=None),)),
        Table((replace(OLD, lock="x"),)),
        Table((replace(OLD, path="src/elsewhere.py"),)),
    ],
)
def test_row_that_the_base_has_not_or_has_otherwise_is_not_inherited(base: Table | None) -> None:
    matched = match([], Table((OLD,)), base)

    assert matched.inherited == ()
    assert told(matched.leftovers[0]) == "the patch has no such new outcome"


def test_row_that_stood_in_the_base_ahead_of_its_outcome_binds_it() -> None:
    matched = match([NEW], Table((FITS,)), Table((FITS,)))

    assert matched.rows[0].claims == (Claim("tests/t.py::test_one"),)
    assert (matched.leftovers, matched.inherited) == ((), ())


def test_exempt_outcome_needs_no_row() -> None:
    matched = match([GUARD], Table())

    assert (matched.rows, matched.unbound) == ((), ())
    assert matched.exempt == (
        Result("src/a.py", "c" * 12, Verdict.EXEMPT, "only for type checkers"),
    )
    assert matched.is_exact


def test_row_for_an_exempt_outcome_is_left_over() -> None:
    row = replace(FITS, id=GUARD.id, predicate=GUARD.predicate)

    matched = match([GUARD], Table((row,)), markers={GUARD.key: ("t::one",)})

    assert told(matched.leftovers[0]) == (
        "this outcome is exempt and needs no row (only for type checkers)"
    )


def test_row_of_a_renamed_file_is_left_over_and_says_so() -> None:
    matched = match(
        [NEW], Table((replace(FITS, path="src/was.py"),)), renames={"src/was.py": "src/a.py"}
    )

    assert told(matched.leftovers[0]) == "the patch renames src/was.py to src/a.py"
    assert matched.unbound[0].reason == NOT_IN_TABLE


def test_row_whose_outcome_is_in_another_file_says_where() -> None:
    matched = match([NEW], Table((replace(FITS, path="src/b.py"),)))

    assert told(matched.leftovers[0]) == "the patch has this outcome in src/a.py instead"


def test_row_with_backslashes_is_left_over_and_says_so() -> None:
    matched = match([NEW], Table((replace(FITS, path="src\\a.py"),)))

    assert told(matched.leftovers[0]) == "paths are written with slashes (src/a.py)"


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (
            replace(FITS, predicate="x is not None"),
            'field "predicate" is "x is not None", but aaaaaaaaaaaa in src/a.py has "x is None"',
        ),
        (replace(FITS, kind=Kind.WHILE), 'field "kind" is "while", but aaaaaaaaaaaa in src/a.py'),
        (replace(FITS, side=Side.FALSE), 'field "side" is "false", but aaaaaaaaaaaa in src/a.py'),
    ],
)
def test_row_with_the_id_of_another_decision_makes_the_table_malformed(
    entry: Entry, message: str
) -> None:
    with pytest.raises(TableError) as caught:
        match([NEW], Table((entry,)))

    assert str(caught.value).startswith(f"branch_rows.json:7: {message}")
    assert str(caught.value).endswith("; `invertgate table --write` corrects the row")
    assert caught.value.exit_code == ExitCode.USAGE


def test_scope_of_one_id_ignores_other_outcomes_and_rows() -> None:
    scope = Scope(keys=frozenset({NEW.key}))

    matched = match([NEW, OTHER, GUARD], Table((FITS, OLD)), scope=scope)

    assert [row.outcome for row in matched.rows] == [NEW]
    assert (matched.unbound, matched.exempt, matched.leftovers) == ((), (), ())


@pytest.mark.parametrize("path", ["src/a.py", "src", "src/", ".", ""])
def test_scope_of_paths_covers_what_is_under_them(path: str) -> None:
    stale = replace(FITS, id="e" * 12)

    matched = match([NEW], Table((FITS, stale)), scope=Scope(paths=(path,)))

    assert [row.outcome for row in matched.rows] == [NEW]
    assert [result.id for result in matched.leftovers] == ["e" * 12]


@pytest.mark.parametrize("path", ["src/b.py", "src/a", "lib", "rc"])
def test_scope_of_paths_ignores_what_is_not_under_them(path: str) -> None:
    matched = match([NEW], Table((FITS, OLD)), scope=Scope(paths=(path,)))

    assert matched == Matched((), (), (), (), ())


def test_scope_does_not_make_rows_inherited_when_the_patch_has_outcomes_elsewhere() -> None:
    table = Table((OLD,))

    matched = match([NEW], table, table, scope=Scope(paths=("src/old.py",)))

    assert matched.inherited == ()
    assert len(matched.leftovers) == 1


def test_every_outcome_is_counted_once() -> None:
    outcomes = [NEW, OTHER, GUARD]

    matched = match(outcomes, Table((FITS, OLD)))

    assert len(matched.rows) + len(matched.exempt) == len(outcomes)
    assert {result.key for result in matched.unbound} <= {row.outcome.key for row in matched.rows}


def test_stub_has_a_row_without_a_test_for_each_outcome_that_needs_one() -> None:
    table = stub([NEW, OTHER, GUARD], "rows.yaml")

    assert table == Table((replace(FITS, test=None), OPEN))
    assert table.name == "rows.yaml"


def test_updated_keeps_claims_that_fit_and_drops_what_is_left_over() -> None:
    table = updated([NEW, OTHER], Table((OLD, replace(FITS, lock="sha"))))

    assert table == Table((replace(FITS, lock="sha"), OPEN))


def test_updated_table_matches_exactly() -> None:
    outcomes = [NEW, OTHER, GUARD]

    assert match(outcomes, updated(outcomes, Table((OLD, FITS)))).is_exact


def test_updated_writes_what_was_found_and_a_lock_goes_with_its_test() -> None:
    table = Table((replace(FITS, lock="sha"),))

    found = updated([NEW, OTHER], table, {NEW.key: "t::new", OTHER.key: "t::too"})

    assert [(entry.test, entry.lock) for entry in found.entries] == [
        ("t::new", None),
        ("t::too", None),
    ]


def test_updated_keeps_the_lock_when_the_same_test_is_found() -> None:
    table = Table((replace(FITS, lock="sha"),))

    assert updated([NEW], table, {NEW.key: "tests/t.py::test_one"}) == table


def test_updated_follows_a_renamed_file() -> None:
    table = Table((replace(FITS, path="src/was.py"),))

    assert updated([NEW], table, renames={"src/was.py": "src/a.py"}) == Table((FITS,))


def test_updated_corrects_the_text_of_a_row() -> None:
    assert updated([NEW], Table((replace(FITS, predicate="y"),))) == Table((FITS,))


def test_updated_without_outcomes_is_empty() -> None:
    assert updated([GUARD], Table((OLD, FITS))) == Table()
