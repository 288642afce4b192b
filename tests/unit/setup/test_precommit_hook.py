import subprocess
import sys
from pathlib import Path

import yaml

from invertgate.cli import command_line

ROOT = Path(__file__).parents[3]
MANIFEST = ROOT / ".pre-commit-hooks.yaml"


def test_manifest_is_valid_for_precommit(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pre_commit", "validate-manifest", str(MANIFEST)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_hook_is_the_check_that_runs_nothing() -> None:
    [hook] = yaml.safe_load(MANIFEST.read_text(encoding="utf-8"))

    program, name, option = hook["entry"].split()
    options = {text for param in command_line.commands[name].params for text in param.opts}
    assert (program, name) == ("invertgate", "table")
    assert option in options
    assert not hook["pass_filenames"]
