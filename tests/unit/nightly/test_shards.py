import pytest

from invertgate.errors import UsageError
from invertgate.model import Shard
from invertgate.nightly.shards import in_shard, keys_digest, parse


@pytest.mark.parametrize(("text", "shard"), [("1/1", (1, 1)), ("2/5", (2, 5)), ("10/10", (10, 10))])
def test_shards_are_counted_from_one(text: str, shard: tuple[int, int]) -> None:
    assert parse(text) == Shard(*shard)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1",
        "0/3",
        "4/3",
        "-1/3",
        "1/0",
        "0/0",
        "1/3/5",
        " 1/3",
        "1/3\n",
        "a/b",
        "1,3",
        "\u0661/3",
    ],
)
def test_what_is_no_shard_is_refused_with_the_form_that_is(text: str) -> None:
    with pytest.raises(UsageError, match=r"--shard .*(INDEX/COUNT|from 1 to the count)"):
        parse(text)


@pytest.mark.parametrize("text", ["1/10001", "1/" + "9" * 5000])
def test_more_shards_than_machines_are_a_slip(text: str) -> None:
    with pytest.raises(UsageError, match="10000"):
        parse(text)


def test_where_a_row_belongs_does_not_change_with_versions_and_machines() -> None:
    rows = [(f"src/m{number}.py", f"{number:012x}") for number in range(8)]

    shards = [next(i for i in (1, 2, 3) if in_shard(*row, Shard(i, 3))) for row in rows]

    assert shards == [2, 1, 3, 1, 3, 1, 2, 3]


def test_rows_spread_evenly() -> None:
    rows = [("src/a.py", f"{number:012x}") for number in range(4000)]

    sizes = [sum(in_shard(*row, Shard(index, 4)) for row in rows) for index in (1, 2, 3, 4)]

    assert all(900 < size < 1100 for size in sizes)


def test_a_path_that_is_no_text_belongs_somewhere() -> None:
    places = [in_shard("a\udcff.py", "0" * 12, Shard(index, 2)) for index in (1, 2)]

    assert sorted(places) == [False, True]


def test_digest_of_rows_does_not_know_their_order_but_counts_them() -> None:
    first, second = ("a.py", "1", False), ("a.py", "1", True)

    assert keys_digest([first, second]) == keys_digest([second, first])
    assert len({keys_digest(rows) for rows in ([], [first], [second], [first, first])}) == 4
