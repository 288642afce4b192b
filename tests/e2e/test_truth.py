import subprocess
import sys
from pathlib import Path

import pytest

TRUTH = Path(__file__).parents[2] / "scripts" / "truth.py"
pytestmark = pytest.mark.slow


def test_no_verdict_is_wrong_where_the_right_one_is_known(tmp_path: Path) -> None:
    sizes = ["--instances", "2", "--flaky", "2"]
    ended = subprocess.run(
        [sys.executable, TRUTH, "5", *sizes, "--python", sys.executable, "--work", tmp_path],
        capture_output=True,
        text=True,
        check=False,
    )

    assert ended.stderr == ""
    assert " 0 wrong verdicts, 0 of them bound" in ended.stdout
    assert ended.returncode == 0
