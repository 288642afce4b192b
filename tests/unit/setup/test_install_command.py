from collections.abc import Mapping
from pathlib import Path

import pytest

from invertgate import __version__
from invertgate.install_command import install_command, requirement

GROUPS = '[dependency-groups]\ndev = ["ruff"]\ntest = ["pytest"]\ndocs = ["sphinx"]\n'
EXTRAS = (
    '[project]\nname = "shop"\n[project.optional-dependencies]\ntests = ["pytest"]\npdf = ["x"]\n'
)


@pytest.mark.parametrize(
    ("files", "folder", "words"),
    [
        ({}, "", "python -m pip install "),
        ({"setup.py": ""}, "", "python -m pip install -e ."),
        ({"pyproject.toml": "[tool.black]\n"}, "", "python -m pip install "),
        ({"pyproject.toml": EXTRAS}, "", "-e '.[tests]'"),
        ({"pyproject.toml": EXTRAS + GROUPS}, "", "--group dev --group test"),
        ({"pay/pyproject.toml": EXTRAS + GROUPS}, "pay", "--group pay/pyproject.toml:dev"),
        ({"pay/pyproject.toml": EXTRAS}, "pay", "-e './pay[tests]'"),
        ({"requirements.txt": "a", "requirements-dev.txt": "b"}, "", "-r requirements-dev.txt"),
        ({"pyproject.toml": "[tool.poetry]\nname = 'shop'\n"}, "", "install -e ."),
        ({"pyproject.toml": "not toml ["}, "", "python -m pip install "),
    ],
)
def test_project_is_installed_with_what_its_tests_need(
    files: Mapping[str, str], folder: str, words: str, tmp_path: Path
) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)

    install = install_command(tmp_path, folder)

    assert words in install.command


def test_newest_pip_is_asked_for_groups(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(GROUPS)

    command = install_command(tmp_path, "").command

    assert command.startswith("python -m pip install --upgrade pip && ")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("requirements-dev.txt", "pytest\ninvertgate==1.0\n"),
        ("requirements.txt", "invertgate @ git+https://git.example.org/invertgate\n"),
        ("pyproject.toml", '[dependency-groups]\ndev = ["invertgate>=1"]\n'),
        ("pyproject.toml", '[project]\nname = "a"\ndependencies = ["invertgate"]\n'),
    ],
)
def test_invertgate_that_the_project_names_is_not_named_again(
    name: str, text: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(text)

    install = install_command(tmp_path, "")

    assert "invertgate" not in install.command
    assert not install.note


@pytest.mark.parametrize("text", ["[tool.invertgate]\n", '[dependency-groups]\nx = ["invertgate"]'])
def test_invertgate_that_is_not_installed_along_is_named(text: str, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(text)

    install = install_command(tmp_path, "")

    assert "invertgate" in install.command


@pytest.mark.parametrize(
    ("noted", "wanted", "is_told"),
    [
        (None, f"invertgate=={__version__}", False),
        ('{"url": "file:///home/ada/invertgate", "dir_info": {}}', "./vendor/invertgate", True),
        ('{"url": "file://TOP/tools/invert%20gate"}', "./tools/invert gate", False),
        (
            '{"url": "https://git.example.org/i", "vcs_info": {"vcs": "git", "commit_id": "ab1"}}',
            "invertgate @ git+https://git.example.org/i@ab1",
            False,
        ),
        (
            '{"url": "https://example.org/invertgate.whl", "archive_info": {}}',
            "invertgate @ https://example.org/invertgate.whl",
            False,
        ),
        ("{}", "./vendor/invertgate", True),
    ],
)
def test_invertgate_comes_from_where_it_came_from(
    noted: str | None, wanted: str, *, is_told: bool, tmp_path: Path
) -> None:
    source = None if noted is None else noted.replace("TOP", str(tmp_path.resolve()))

    named, note = requirement(source, tmp_path)

    assert (named, bool(note)) == (wanted, is_told)
