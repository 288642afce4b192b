"""The documents tell the truth: what they name exists, and what exists is named."""

import re
from pathlib import Path

import pytest

import invertgate
from invertgate.errors import ExitCode
from invertgate.model import Verdict
from invertgate.options import OPTIONS

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "invertgate"
DOCUMENTS = sorted(ROOT.glob("*.md"))
PATH = re.compile(r"`([\w.-]+(?:/[\w.-]+)*/?)`")
SUFFIXES = (".py", ".md", ".toml", ".ini", ".json", ".cff", "/")
ELSEWHERE = {"branch_rows.json", "base/", "head/", "expected.toml", ".screenshots/"}
"""Files of a project or of a fixture tree, or made by a test run; none of this repository."""


def text_of(document: str) -> str:
    return ROOT.joinpath(document).read_text(encoding="utf-8")


def test_design_names_every_module() -> None:
    design = text_of("DESIGN.md")
    named = set(re.findall(r"`([\w/]+\.py)`", design))

    modules = {
        module.relative_to(PACKAGE).as_posix()
        for module in PACKAGE.rglob("*.py")
        if module.name != "__init__.py"
    }
    assert modules - named == set()


@pytest.mark.parametrize("document", ["DESIGN.md", "CONTRIBUTING.md", "AGENTS.md"])
def test_every_path_in_it_exists(document: str) -> None:
    paths = {path for path in PATH.findall(text_of(document)) if path.endswith(SUFFIXES)}

    missing = {
        path
        for path in paths - ELSEWHERE
        if not any(Path(folder, path).exists() for folder in (ROOT, PACKAGE))
    }
    assert missing == set()


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.name)
def test_every_link_leads_to_a_file(document: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)\)", document.read_text(encoding="utf-8"))

    assert [link for link in links if not ROOT.joinpath(link).exists()] == []


def test_readme_has_each_option_with_its_default_and_whether_the_base_decides() -> None:
    row = re.compile(r"^\| `(\w+)` \| `.*?` \| (\*base\* )?", re.MULTILINE)
    rows = dict(row.findall(text_of("README.md")))
    options = {option.name: "*base* " if option.about.policy else "" for option in OPTIONS}

    assert {name: rows.get(name) for name in options} == options


def test_readme_has_each_verdict() -> None:
    readme = text_of("README.md")

    assert [verdict for verdict in Verdict if f"`{verdict}`" not in readme] == []


def test_readme_has_each_exit_code() -> None:
    readme = text_of("README.md")

    listed = re.findall(r"^\| (\d+) \|", readme, re.MULTILINE)
    assert sorted(map(int, listed)) == sorted(ExitCode)


def test_versions_agree() -> None:
    version = invertgate.__version__

    assert f'version = "{version}"' in text_of("pyproject.toml")
    assert f"version: {version}" in text_of("CITATION.cff")
