from random import Random
from string import hexdigits

import pytest
from hypothesis import given
from hypothesis import strategies as st

from invertgate.errors import TableError
from invertgate.model import Kind, Side
from invertgate.table.document import Entry, Table, read, write

pytestmark = pytest.mark.property

DECISIONS = [
    (Kind.IF, Side.TRUE),
    (Kind.IF, Side.FALSE),
    (Kind.EXCEPT, Side.HANDLER),
    (Kind.MATCH, Side.CASE),
    (Kind.TRY_ELSE, Side.ELSE),
    (Kind.FOR_ELSE, Side.ELSE),
    (Kind.WHILE_ELSE, Side.ELSE),
    (Kind.WHILE, Side.FALSE),
]
LOWER_HEX = sorted(set(hexdigits.lower()))


def texts(*excluded: str) -> st.SearchStrategy[str]:
    """Give texts of all characters that UTF-8 can hold, or some of them."""
    alphabet = st.characters(exclude_categories=["Cs"], exclude_characters=excluded)
    return st.text(alphabet, min_size=1, max_size=12).filter(str.strip)


def entries() -> st.SearchStrategy[Entry]:
    return st.builds(
        lambda row_id, file, decision, predicate, test, lock: Entry(
            row_id, f"src/{file}.py", decision[0], predicate, decision[1], test, lock
        ),
        st.text(LOWER_HEX, min_size=12, max_size=12),
        texts("/", "."),
        st.sampled_from(DECISIONS),
        texts(),
        st.none() | texts(),
        st.none() | texts(),
    )


def tables() -> st.SearchStrategy[Table]:
    return st.lists(entries(), max_size=5, unique_by=lambda entry: entry.key).map(
        lambda rows: Table(tuple(rows))
    )


def refusal(source: bytes, name: str) -> str:
    """Say why a table is refused, or nothing."""
    try:
        read(source, name)
    except TableError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("suffix", [".json", ".yaml"])
@given(table=tables())
def test_table_written_and_read_is_the_same_table(suffix: str, table: Table) -> None:
    again = read(write(table, suffix), f"rows{suffix}")

    assert sorted(again.entries, key=lambda entry: entry.key) == sorted(
        table.entries, key=lambda entry: entry.key
    )


@pytest.mark.parametrize("suffix", [".json", ".yaml"])
@given(table=tables(), chance=st.randoms(use_true_random=False))
def test_bytes_do_not_depend_on_the_order_of_rows(
    suffix: str, table: Table, chance: Random
) -> None:
    rows = list(table.entries)
    chance.shuffle(rows)

    assert write(Table(tuple(rows)), suffix) == write(table, suffix)


@given(table=tables())
def test_json_and_yaml_of_a_table_are_read_alike(table: Table) -> None:
    assert read(write(table, ".json"), "x.json") == read(write(table, ".yaml"), "x.yaml")
    assert read(write(table, ".json"), "x.yaml") == read(write(table, ".json"), "x.json")


@pytest.mark.parametrize("suffix", [".json", ".yaml"])
@given(table=tables().filter(lambda table: table.entries), data=st.data())
def test_lines_are_those_where_the_rows_stand(
    suffix: str, table: Table, data: st.DataObject
) -> None:
    source = write(table, suffix)
    entry = data.draw(st.sampled_from(read(source, f"rows{suffix}").entries))

    start = source.split(b"\n")[entry.line - 1 :]

    assert (
        start[0 if suffix == ".yaml" else 1]
        .lstrip(b" -")
        .replace(b'"', b"")
        .startswith(f"id: {entry.id}".encode())
    )


@pytest.mark.parametrize("name", ["rows.json", "rows.yaml"])
@given(
    source=st.binary(max_size=60)
    | st.text(max_size=60).map(lambda text: text.encode("utf-8", "replace"))
)
def test_any_bytes_are_a_table_or_refused(name: str, source: bytes) -> None:
    told = refusal(source, name)

    assert not told or told.startswith(f"{name}:")


@pytest.mark.parametrize("suffix", [".json", ".yaml"])
@given(
    table=tables(),
    cut=st.integers(0, 400),
    put=st.sampled_from([b"", b"\n", b'"', b"[", b"}", b"\xff", b": ", b"\t"]),
)
def test_damaged_table_is_refused_or_still_a_table(
    suffix: str, table: Table, cut: int, put: bytes
) -> None:
    source = write(table, suffix)
    damaged = source[:cut] + put + source[cut + 1 :]

    told = refusal(damaged, f"rows{suffix}")

    assert not told or told.startswith(f"rows{suffix}:")
