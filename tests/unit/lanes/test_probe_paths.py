import pytest

from invertgate.lanes.paths import PathClass, classify, is_ci, is_collected, is_policy


def kind(path: str) -> PathClass:
    return classify(path, table="branch_rows.json", neutral=False)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("src/latest_news.py", PathClass.PRODUCTION),
        ("tests/fixtures/a.json", PathClass.FIXTURE),
        ("conftest.py", PathClass.TEST),
        ("my_fixtures_doc.md", PathClass.NEUTRAL),
        ("fixtures/a.py", PathClass.FIXTURE),
        ("src/order.fixture.json", PathClass.FIXTURE),
        ("src/fixtures.py", PathClass.PRODUCTION),
        ("myfixtures/a.json", PathClass.PRODUCTION),
        ("tests/helpers.py", PathClass.TEST),
        ("svc/tests/data/x.json", PathClass.TEST),
        ("mytests/a.py", PathClass.PRODUCTION),
        ("src/contests/a.py", PathClass.PRODUCTION),
        ("src/test_total.py", PathClass.TEST),
        ("src/total_test.py", PathClass.TEST),
        ("src/total_test.ts", PathClass.PRODUCTION),
        ("src/latest.py", PathClass.PRODUCTION),
        ("src/my_conftest.py", PathClass.PRODUCTION),
        ("tests/README.md", PathClass.TEST),
        ("fixtures/README.md", PathClass.FIXTURE),
        ("README.md", PathClass.NEUTRAL),
        ("docs/guide.rst", PathClass.NEUTRAL),
        ("LICENSE", PathClass.NEUTRAL),
        ("branch_rows.json", PathClass.NEUTRAL),
        ("svc/branch_rows.json", PathClass.NEUTRAL),
        ("my_branch_rows.json", PathClass.PRODUCTION),
        ("lane-log.jsonl", PathClass.NEUTRAL),
        ("requirements.txt", PathClass.PRODUCTION),
        ("docs/conf.py", PathClass.PRODUCTION),
        ("Makefile", PathClass.PRODUCTION),
    ],
)
def test_path_has_one_class(path: str, expected: PathClass) -> None:
    assert kind(path) is expected


def test_policy_may_call_a_path_neutral_but_no_test() -> None:
    assert classify("assets/a.svg", table="t.json", neutral=True) is PathClass.NEUTRAL
    assert classify("tests/a.svg", table="t.json", neutral=True) is PathClass.TEST


@pytest.mark.parametrize(
    "path",
    [
        ".github/workflows/ci.yml",
        ".github/actions/set-up/action.yml",
        ".gitlab-ci.yml",
        "ci/deploy.gitlab-ci.yml",
        "azure-pipelines.yml",
        "Jenkinsfile",
        ".circleci/config.yml",
        ".travis.yml",
        "bitbucket-pipelines.yml",
    ],
)
def test_workflow_is_continuous_integration(path: str) -> None:
    assert is_ci(path)


@pytest.mark.parametrize("path", [".github/CODEOWNERS", "docs/.github/workflows/x.md", "src/ci.py"])
def test_other_files_are_not(path: str) -> None:
    assert not is_ci(path)


def test_lists_of_policy_are_known_by_name() -> None:
    names = ["waivers.yaml", "svc/flaky.yaml", "properties.yml", "pyproject.toml", "xflaky.yaml"]

    assert [is_policy(name) for name in names] == [True, True, True, False, False]


def test_conftest_is_a_test_path_that_holds_no_tests() -> None:
    names = ["test_a.py", "x/a_test.py", "conftest.py", "helpers.py"]

    assert [is_collected(name) for name in names] == [True, True, False, False]
