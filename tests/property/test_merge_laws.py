"""Laws of joining reports: parts make up the whole, and their order does not matter."""

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from invertgate.model import Shard, Verdict
from invertgate.nightly.shards import in_shard
from invertgate.report.build import WITHOUT_OUTCOME
from invertgate.report.document import Report
from invertgate.report.joined import join_machines, join_shards
from support.parts import shards_of, whole_report

pytestmark = pytest.mark.property

VERDICTS = st.sampled_from([v for v in Verdict if v not in WITHOUT_OUTCOME | {Verdict.EXEMPT}])


def as_run(joined: Report, whole: Report) -> Report:
    """Take away what only a joined report says."""
    same = {name: getattr(whole, name) for name in ("command", "joined", "cpu")}
    return replace(joined, **same)


@given(st.text(), st.text(), st.integers(1, 50))
def test_a_row_belongs_to_one_shard(path: str, row_id: str, count: int) -> None:
    shards = [Shard(index, count) for index in range(1, count + 1)]

    assert sum(in_shard(path, row_id, shard) for shard in shards) == 1


@given(st.lists(VERDICTS, max_size=30), st.integers(1, 12), st.randoms(use_true_random=False))
def test_shards_of_any_number_in_any_order_make_up_the_whole(
    verdicts: list[Verdict], count: int, chance: Random
) -> None:
    whole = whole_report(verdicts)
    parts = shards_of(whole, count)
    chance.shuffle(parts)

    joined = join_shards(parts, "merge")

    assert as_run(joined, whole) == whole


@given(
    st.integers(1, 5).flatmap(
        lambda rows: st.lists(
            st.lists(VERDICTS, min_size=rows, max_size=rows), min_size=1, max_size=4
        )
    ),
    st.randoms(use_true_random=False),
)
def test_machines_in_any_order_say_the_same_and_lose_no_row(
    machines: list[list[Verdict]], chance: Random
) -> None:
    named = [(f"machine {place}", whole_report(said)) for place, said in enumerate(machines)]
    shuffled = list(named)
    chance.shuffle(shuffled)

    joined = join_machines(named, "merge")

    assert join_machines(shuffled, "merge") == joined
    for row, said in zip(joined.rows, zip(*machines, strict=True), strict=True):
        assert row.verdict in said
        assert (row.verdict is Verdict.RED) == (Verdict.RED in said)
        assert row.verdict is not Verdict.BOUND or Verdict.BOUND in said
        if Verdict.BOUND in said:
            assert row.verdict in {Verdict.RED, Verdict.LOCKED_OUT, Verdict.BOUND}
