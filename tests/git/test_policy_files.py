from pathlib import Path

import pytest

from invertgate.model import PolicySource
from invertgate.patch.git import open_repository
from invertgate.policy_files import policy_file_notes
from invertgate.request import Request
from invertgate.survey import survey
from support.repo import hermetic_environment, two_commits

HOOK = "def pytest_collection_modifyitems(items):\n    items.sort()\n"
INI = "[pytest]\naddopts = -q\n"


def notes(
    path: Path,
    base: dict[str, str],
    head: dict[str, str],
    policy: PolicySource = PolicySource.BASE,
) -> tuple[str, ...]:
    common = {"a.py": "x = 1\n"}
    two_commits(path / "repo", common | base, common | head)
    request = Request(path / "repo", environment=hermetic_environment(), policy=policy)
    return policy_file_notes(survey(request, open_repository(request.root, request.environment)))


@pytest.mark.parametrize(
    ("base", "head"),
    [
        ({"a.md": "x"}, {"a.md": "y"}),
        ({"conftest.py": HOOK}, {"conftest.py": "# why\n" + HOOK.replace(".sort()", ". sort( )")}),
        ({"conftest.py": "x = 1\n"}, {"conftest.py": "x = 2\n"}),
        ({"pytest.ini": INI}, {"pytest.ini": INI + "markers =\n    slow: slow\n"}),
        ({"pyproject.toml": ""}, {"pyproject.toml": "[project]\nname = 'a'\n"}),
        ({"flaky.yaml": "flaky: []\n"}, {"flaky.yaml": "flaky: []\n"}),
    ],
)
def test_what_decides_nothing_is_not_told(
    tmp_path: Path, base: dict[str, str], head: dict[str, str]
) -> None:
    assert notes(tmp_path, base, head) == ()


@pytest.mark.parametrize(
    ("base", "head", "told"),
    [
        ({"conftest.py": HOOK}, {}, "`pytest_collection_modifyitems` in conftest.py: it decides"),
        ({}, {"t/conftest.py": "collect_ignore = ['a']\n"}, "`collect_ignore` in t/conftest.py"),
        (
            {},
            {"conftest.py": "from cheat import pytest_runtest_call\n"},
            "`pytest_runtest_call` in conftest.py",
        ),
        ({}, {"conftest.py": "if True:\n  pytest_plugins = 'x'\n"}, "`pytest_plugins` in conf"),
        ({"pytest.ini": INI}, {"pytest.ini": INI.replace("-q", "-k a")}, "`addopts` in pytest.ini"),
        ({}, {"pytest.ini": "[pytest]\n"}, "whether pytest reads its configuration there in py"),
        ({".gitlab-ci.yml": "a: b"}, {}, ".gitlab-ci.yml, which says what continuous integration"),
        ({}, {"waivers.yaml": "waivers: []\n"}, "waivers.yaml; the merge base's counts until"),
    ],
)
def test_what_decides_something_is_told(
    tmp_path: Path, base: dict[str, str], head: dict[str, str], told: str
) -> None:
    [note] = notes(tmp_path, base, head)

    assert note.startswith("the patch changes ")
    assert told in note


def test_reviewed_lists_count_but_properties_are_always_those_of_the_merge_base(
    tmp_path: Path,
) -> None:
    head = {"flaky.yaml": "flaky: []\n", "properties.yaml": "properties: []\n"}

    flaky, properties = notes(tmp_path, {}, head, PolicySource.HEAD)

    assert flaky == "the patch changes flaky.yaml; it counts, by `--policy head`"
    assert properties.endswith("the merge base's counts until it is merged")
