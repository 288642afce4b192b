"""Which files of a real patch make no rows because they are tests."""

from pathlib import Path

import pytest

from invertgate.model import Patch
from invertgate.patch.changes import read
from invertgate.patch.scope import Rules
from support.repo import Repo

IF = "def f(x):\n    if x:\n        return 1\n    return 2\n"
HEADS = pytest.mark.parametrize("head", ["", "HEAD"], ids=["working tree", "commit"])


def patch_of(
    tmp_path: Path,
    base: dict[str, str],
    new: dict[str, str],
    head: str,
    rules: Rules | None = None,
) -> Patch:
    repo = Repo(tmp_path / "repo")
    repo.commit("base", base)
    repo.remote_branch("main")
    repo.write(new)
    if head:
        repo.commit("head")
    return read(repo.path, head=head, rules=rules, environment=repo.environment)


def judged(patch: Patch) -> list[str]:
    return [file.path for file in patch.files]


def reasons(patch: Patch) -> dict[str, str]:
    return {left.path: left.reason for left in patch.left_out}


@HEADS
def test_test_files_and_conftest_make_no_rows(tmp_path: Path, head: str) -> None:
    new = {"test_a.py": IF, "pkg/b_test.py": IF, "pkg/conftest.py": IF, "pkg/latest.py": IF}

    patch = patch_of(tmp_path, {"a.py": ""}, new, head)

    assert judged(patch) == ["pkg/latest.py"]
    assert set(reasons(patch).values()) == {"test file"}


@HEADS
def test_setup_and_noxfile_are_production_code(tmp_path: Path, head: str) -> None:
    patch = patch_of(tmp_path, {"a.py": ""}, {"setup.py": IF, "noxfile.py": IF}, head)

    assert judged(patch) == ["noxfile.py", "setup.py"]


@HEADS
def test_python_files_of_the_nearest_project_decide(tmp_path: Path, head: str) -> None:
    base = {
        "one/pytest.ini": "[pytest]\npython_files = check_*.py\n",
        "two/pyproject.toml": "[tool.pytest]\npython_files = ['spec_*.py']\n",
    }
    new = {f"{top}/{name}_x.py": IF for top in ("one", "two") for name in ("check", "spec", "test")}

    patch = patch_of(tmp_path, base, new, head)

    assert sorted(reasons(patch)) == ["one/check_x.py", "two/spec_x.py"]


@HEADS
def test_test_file_outside_testpaths_is_production_code(tmp_path: Path, head: str) -> None:
    base = {"tox.ini": "[pytest]\ntestpaths = tests\n"}
    new = {"tests/test_a.py": IF, "tests/helper.py": IF, "src/test_tools.py": IF}

    patch = patch_of(tmp_path, base, new, head)

    assert judged(patch) == ["src/test_tools.py"]


@HEADS
@pytest.mark.parametrize(
    ("importer", "statement"),
    [
        ("pkg/api.py", "from pkg.testing.test_base import f"),
        ("pkg/api.py", "import pkg.testing.test_base"),
        ("pkg/api.py", "from pkg.testing import (\n    # the base\n    test_base,\n)"),
        ("pkg/api.py", "from .testing import test_base as base"),
        ("pkg/testing/__init__.py", "def g():\n    from .test_base import f\n    return f"),
        ("pkg/deep/er.py", "from ..testing.test_base import *"),
    ],
)
def test_test_file_that_production_code_imports_makes_rows(
    tmp_path: Path, head: str, importer: str, statement: str
) -> None:
    base = {importer: statement + "\n"}

    patch = patch_of(tmp_path, base, {"pkg/testing/test_base.py": IF}, head)

    assert judged(patch) == ["pkg/testing/test_base.py"]


@HEADS
@pytest.mark.parametrize(
    ("importer", "text"),
    [
        ("pkg/api.py", "# import test_base\nNAME = 'test_base'\n"),
        ("pkg/api.py", "from other import test_base_of\n"),
        ("pkg/api.py", "from ..testing import test_base\n"),
        ("pkg/testing/test_other.py", "from .test_base import f\n"),
        ("pkg/testing/conftest.py", "from .test_base import f\n"),
        ("tests/run.py", "import pkg.testing.test_base\n"),
        ("pkg/broken.py", "from .testing import test_base\ndef (\n"),
    ],
)
def test_test_file_that_only_tests_import_makes_no_rows(
    tmp_path: Path, head: str, importer: str, text: str
) -> None:
    patch = patch_of(tmp_path, {importer: text}, {"pkg/testing/test_base.py": IF}, head)

    assert judged(patch) == []


@HEADS
def test_patch_cannot_call_its_own_code_a_test(tmp_path: Path, head: str) -> None:
    base = {"pytest.ini": "[pytest]\n"}
    new = {"pytest.ini": "[pytest]\npython_files = *.py\n", "app.py": IF, "test_a.py": IF}

    patch = patch_of(tmp_path, base, new, head)
    trusted = patch_of(tmp_path / "2", base, new, head, Rules(trust_head=True))

    assert judged(patch) == ["app.py"]
    assert patch.notes == (
        "app.py counts as production code: only this patch's pytest configuration calls it a test",
    )
    assert judged(trusted) == []


@HEADS
def test_globs_choose_files_and_say_so(tmp_path: Path, head: str) -> None:
    new = {"src/a.py": IF, "src/gen/b.py": IF, "c.py": IF, "src/test_a.py": IF}
    rules = Rules(include=("src/",), exclude=("gen/",))

    patch = patch_of(tmp_path, {"c.txt": ""}, new, head, rules)

    assert judged(patch) == ["src/a.py"]
    assert reasons(patch) == {
        "c.py": "not included",
        "src/gen/b.py": "excluded by gen/",
        "src/test_a.py": "test file",
    }


def test_glob_that_includes_nothing_is_told_of(tmp_path: Path) -> None:
    patch = patch_of(tmp_path, {"src/a.py": ""}, {"src/a.py": IF}, "", Rules(include=("srcc/",)))

    assert judged(patch) == []
    assert patch.notes == ("include srcc/ matches no file of the repository",)
