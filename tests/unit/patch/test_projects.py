from collections.abc import Iterable, Mapping

import pytest

from invertgate.patch.projects import Project, Reader, find_projects, is_configuration, reader


def files(contents: Mapping[str, str]) -> Reader:
    def read(paths: Iterable[str]) -> Mapping[str, bytes]:
        return {path: contents[path].encode() for path in paths if path in contents}

    return read


def project_of(path: str, contents: Mapping[str, str]) -> Project:
    return find_projects([path], files(contents))[path]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pytest.toml", "[pytest]\npython_files = ['check_*.py']\ntestpaths = ['t', 'u']\n"),
        (".pytest.toml", "[pytest]\npython_files = ['check_*.py']\ntestpaths = ['t', 'u']\n"),
        ("pytest.ini", "[pytest]\npython_files = check_*.py\ntestpaths = t\n    u\n"),
        (".pytest.ini", "[pytest]\npython_files = check_*.py\ntestpaths = t u\n"),
        ("pyproject.toml", "[tool.pytest]\npython_files = ['check_*.py']\ntestpaths = ['t', 'u']"),
        (
            "pyproject.toml",
            "[tool.pytest.ini_options]\npython_files = 'check_*.py'\ntestpaths = 't u'\n",
        ),
        ("tox.ini", "[tox]\nenvlist = py\n[pytest]\npython_files = check_*.py\ntestpaths = t u\n"),
        ("setup.cfg", "[tool:pytest]\npython_files = check_*.py\ntestpaths = t 'u'\n"),
    ],
)
def test_pytest_is_configured_in(name: str, text: str) -> None:
    found = project_of("pkg/sub/a.py", {f"pkg/{name}": text})

    assert found == Project("pkg", f"pkg/{name}", ("check_*.py",), ("t", "u"))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pyproject.toml", "[project]\nname = 'pytest'\n"),
        ("pyproject.toml", "[tool.{{ pytest }}]\n"),
        ("tox.ini", "[testenv]\ncommands = pytest\n"),
        ("setup.cfg", "[pytest]\npython_files = *\n"),
        ("tox.ini", "no = ini\n[pytest]\n"),
    ],
)
def test_pytest_is_not_configured_in(name: str, text: str) -> None:
    assert project_of("a.py", {name: text}) == Project()


@pytest.mark.parametrize("name", ["pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml"])
def test_file_of_pytest_itself_counts_even_if_it_is_empty(name: str) -> None:
    assert project_of("a.py", {name: ""}).config == name


def test_first_file_that_pytest_would_take_decides() -> None:
    contents = {"setup.cfg": "[tool:pytest]\n", "tox.ini": "[pytest]\n", "pyproject.toml": "[a]\n"}

    assert project_of("a.py", contents).config == "tox.ini"


def test_nearest_folder_decides() -> None:
    contents = {"pytest.ini": "", "packages/one/pytest.ini": "", "packages/two/x.ini": ""}
    paths = ["a.py", "packages/one/src/a.py", "packages/two/a.py"]

    found = find_projects(paths, files(contents))

    assert [found[path].folder for path in paths] == ["", "packages/one", ""]


def test_quote_that_stays_open_is_for_pytest_to_complain_of() -> None:
    assert project_of("a.py", {"tox.ini": "[pytest]\ntestpaths = 't u\n"}).testpaths == ("'t", "u")


TESTS = [
    (Project(), "test_a.py"),
    (Project(), "src/pkg/a_test.py"),
    (Project(), "src/conftest.py"),
    (Project(python_files=("check_*.py",)), "a/check_b.py"),
    (Project(python_files=("*/specs/*.py",)), "a/specs/b.py"),
    (Project(python_files=("specs/*.py",)), "specs/b.py"),
    (Project(testpaths=("tests",)), "tests/sub/test_a.py"),
    (Project(testpaths=("./tests/",)), "tests/test_a.py"),
    (Project(testpaths=("tests",)), "tests/helper.py"),
    (Project(testpaths=("testing",)), "testing/helper.py"),
    (Project(testpaths=("unit_tests",)), "unit_tests/helper.py"),
    (Project(testpaths=("src/*/tests",)), "src/pkg/tests/helper.py"),
    (Project(testpaths=("spec",)), "spec/test_a.py"),
    (Project(testpaths=(".",)), "src/test_a.py"),
    (Project("packages/one", testpaths=("tests",)), "packages/one/tests/test_a.py"),
    (Project("packages/one", testpaths=("../../tests",)), "tests/test_a.py"),
    (Project(testpaths=("tests",)), "src/conftest.py"),
]
PRODUCTION = [
    (Project(), "src/a.py"),
    (Project(), "tests/helper.py"),
    (Project(), "latest.py"),
    (Project(), "src/testing.py"),
    (Project(python_files=("check_*.py",)), "test_a.py"),
    (Project(python_files=()), "test_a.py"),
    (Project(testpaths=("tests",)), "src/pkg/test_tools.py"),
    (Project(testpaths=("src", "tests")), "src/pkg/a.py"),
    (Project(testpaths=(".",)), "src/pkg/a.py"),
    (Project(testpaths=("tests",)), "tests_of_old/test_a.py"),
    (Project(testpaths=("spec",)), "spec/helper.py"),
    (Project("packages/one", testpaths=("tests",)), "tests/test_a.py"),
]


@pytest.mark.parametrize(("project", "path"), TESTS)
def test_pytest_makes_a_test_of(project: Project, path: str) -> None:
    assert project.makes_test(path)


@pytest.mark.parametrize(("project", "path"), PRODUCTION)
def test_pytest_makes_no_test_of(project: Project, path: str) -> None:
    assert not project.makes_test(path)


def test_names_of_configuration_files_are_known_in_any_folder() -> None:
    assert is_configuration("a/b/pyproject.toml")
    assert not is_configuration("pyproject.toml/a.py")


def test_reader_leaves_out_what_is_no_file(tmp_path_factory: pytest.TempPathFactory) -> None:
    top = tmp_path_factory.mktemp("top")
    (top / "a.ini").write_bytes(b"x")
    (top / "folder").mkdir()

    assert reader(top)(["a.ini", "folder", "nothing"]) == {"a.ini": b"x"}
