"""Whose list of flaky tests counts: the merge base's, and no other in its place."""

from datetime import date
from pathlib import Path

import pytest

from invertgate.errors import UsageError
from invertgate.frozen import Lists, flaky_tests
from invertgate.patch.git import open_repository
from support.repo import Repo, hermetic_environment

TODAY = date(2026, 3, 1)
ENTRY = """\
flaky:
  - id: test_a
    owner: ada
    reason: clock
    expires: 2026-03-05
"""


def lists(top: Path, base: str, head: str) -> Lists:
    repo = Repo(top)
    commit = repo.commit("base", {"flaky.yaml": base})
    repo.write({"flaky.yaml": head})
    return flaky_tests(open_repository(top, hermetic_environment()), "", commit, "", TODAY, 30)


def test_the_list_of_the_merge_base_freezes(tmp_path: Path) -> None:
    found = lists(tmp_path, ENTRY, "")

    assert found.freezing("t.py::test_a") is not None
    assert found.notes == (
        "the patch removes the entry test_a of flaky.yaml; that counts once it is merged",
    )


def test_where_the_list_of_the_merge_base_is_malformed_the_judged_one_does_not_count(
    tmp_path: Path,
) -> None:
    found = lists(tmp_path, "flaky: 3\n", ENTRY)

    told, added = found.notes
    assert found.live == ()
    assert told.startswith("at the merge base, flaky.yaml:1")
    assert told.endswith("; no test is frozen until that is mended")
    assert added == "the patch adds the entry test_a of flaky.yaml; that counts once it is merged"


def test_a_malformed_judged_list_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"flaky\.yaml:1"):
        lists(tmp_path, ENTRY, "flaky: 3\n")
