"""Every fixture tree gets exactly the verdicts that its ``expected.toml`` names."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.run import Ended, Invertgate, ReportRow
from support.trees import Tree, build, everyone, fingerprint


def _cases() -> Iterator[object]:
    for tree in everyone():
        marks = [pytest.mark.slow] if tree.expected.slow else []
        yield pytest.param(tree, id=tree.name, marks=marks)


@pytest.mark.parametrize("tree", list(_cases()))
def test_tree_gets_the_verdicts_that_it_expects(
    tree: Tree, tmp_path: Path, invertgate: Invertgate
) -> None:
    expected = tree.expected
    place = build(tree, tmp_path)
    before = fingerprint(place.top)

    ended = invertgate(place, *expected.args)

    assert ended.exit_code == expected.exit, str(ended)
    assert _verdicts(ended) == expected.rows, str(ended)
    assert _reasons_that_differ(ended, expected.reasons) == {}
    assert [part for part in expected.says if part not in ended.said] == [], str(ended)
    assert fingerprint(place.top) == before
    assert (ended.processes, ended.scratch) == ((), ())


def _rows(ended: Ended) -> dict[str, ReportRow]:
    """Name the rows of a report; a run that never came to judge has none."""
    if not Path(ended.top, "invertgate.out", "report.json").exists():
        return {}
    return {_name(row): row for row in ended.report.rows}


def _name(row: ReportRow) -> str:
    place = f"{row.path}:{row.line}" if row.line else f"{row.path}:{row.id}"
    return f"{place} {row.kind}-{row.side}"


def _verdicts(ended: Ended) -> dict[str, str | None]:
    return {name: row.verdict for name, row in _rows(ended).items()}


def _reasons_that_differ(ended: Ended, parts: dict[str, str]) -> dict[str, str]:
    rows = _rows(ended)
    return {
        name: rows[name].reason
        for name, part in parts.items()
        if part.casefold() not in rows[name].reason.casefold()
    }
