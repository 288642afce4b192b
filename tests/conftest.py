"""Two fixtures: a repository built from a fixture tree, and the command that judges it."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from support.run import Invertgate, Place, run
from support.trees import build, named

for _name in ("GITHUB_ACTIONS", "GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"):
    os.environ.pop(_name, None)  # what the tests' own CI host takes must not hear of theirs


@pytest.fixture
def repo(tmp_path: Path) -> Callable[[str], Place]:
    """Build the two-commit repository of a fixture tree."""

    def build_by_name(name: str) -> Place:
        return build(named(name), tmp_path)

    return build_by_name


@pytest.fixture
def invertgate() -> Invertgate:
    """Run the installed command."""
    return run
