from pathlib import Path

import pytest

from invertgate.errors import NoBaseError
from invertgate.patch.git import open_repository
from invertgate.since import since
from support.repo import hermetic_environment, two_commits


def test_a_revision_and_a_date_mean_commits(tmp_path: Path) -> None:
    two_commits(tmp_path / "repo", {"a.py": ""}, {"a.py": "if a: b\n"})
    repository = open_repository(tmp_path / "repo", hermetic_environment())
    [head] = repository.commits(["HEAD"])

    assert since(repository, "HEAD").commit == head
    assert since(repository, "2100-01-01").commit == head
    assert since(repository, "2 weeks ago").commit in {head, ""}
    assert since(repository, "2001-01-01").commit == ""


@pytest.mark.parametrize("text", ["nowhere", "2 fortnights ago", "HEAD\nHEAD", ""])
def test_anything_else_is_refused(text: str, tmp_path: Path) -> None:
    two_commits(tmp_path / "repo", {"a.py": ""}, {"a.py": "if a: b\n"})
    repository = open_repository(tmp_path / "repo", hermetic_environment())

    with pytest.raises(NoBaseError, match="names no commit here and is no date"):
        since(repository, text)
