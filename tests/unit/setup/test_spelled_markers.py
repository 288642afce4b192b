import os
from pathlib import Path

from invertgate.gate import table
from invertgate.model import Verdict
from invertgate.report.document import ReportRow
from invertgate.request import Request
from support.repo import hermetic_environment, two_commits

BASE = {"shop.py": "def total(x):\n    return x\n"}
HEAD = {"shop.py": "def total(x):\n    if x < 0:\n        return 0\n    return x\n"}
TRUE, FALSE = "1c00ad54e033", "d3e7de358122"


def compared(tmp_path: Path, tests: str) -> dict[str, ReportRow]:
    repo = two_commits(tmp_path / "shop", BASE, {**HEAD, "tests/test_shop.py": tests})
    environment = {**hermetic_environment(), "PATH": os.environ["PATH"]}
    report = table(Request(root=repo.path, environment=environment), write=False)
    return {row.id: row for row in report.rows}


def test_row_that_a_marker_spells_is_not_missed(tmp_path: Path) -> None:
    tests = f"import pytest\n\n@pytest.mark.branch('{TRUE}')\ndef test_total():\n    pass\n"

    rows = compared(tmp_path, tests)

    assert (rows[TRUE].verdict, rows[TRUE].test) == (None, "tests/test_shop.py (by marker)")
    assert rows[FALSE].verdict is Verdict.UNBOUND


def test_id_outside_of_a_marker_claims_nothing(tmp_path: Path) -> None:
    tests = f"# mark.branch('{TRUE}')\nx = 'pytest.mark.branch(\"{FALSE}\")'\n"

    rows = compared(tmp_path, tests)

    assert {row.verdict for row in rows.values()} == {Verdict.UNBOUND}


def test_file_that_does_not_parse_claims_nothing(tmp_path: Path) -> None:
    rows = compared(tmp_path, f"pytest.mark.branch('{TRUE}'\n")

    assert {row.verdict for row in rows.values()} == {Verdict.UNBOUND}
