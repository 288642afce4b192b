import json
import sys
from pathlib import Path

import pytest

from invertgate.nightly.surroundings import surroundings_digest

VARIABLES = {"LANG": "C.UTF-8", "HOME": "/tmp/ig-1/0/home"}


def digest(top: Path, scratch: str = "/tmp/ig-1", **variables: str) -> str:
    environment = {**VARIABLES, "HOME": f"{scratch}/0/home", **variables}
    return surroundings_digest(environment, Path(scratch), top)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Lend a folder from which packages are imported."""
    folder = tmp_path / "site-packages"
    folder.mkdir()
    monkeypatch.setattr(sys, "path", [*sys.path, str(folder)])
    return folder


def test_the_folder_of_a_run_and_its_terminal_make_no_difference(tmp_path: Path) -> None:
    here = digest(tmp_path)

    assert digest(tmp_path, scratch="/tmp/ig-2", SHLVL="3", SSH_AUTH_SOCK="/tmp/x") == here


def test_any_other_variable_does(tmp_path: Path) -> None:
    assert digest(tmp_path, FEATURE="on") != digest(tmp_path)


def test_what_is_installed_makes_a_difference(site: Path, tmp_path: Path) -> None:
    digests = [digest(tmp_path)]
    for version in ("1.0", "1.1"):
        (site / f"shop-{version}.dist-info").mkdir()
        digests.append(digest(tmp_path))

    assert len(set(digests)) == 3


def test_sources_elsewhere_make_a_difference(site: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "else where"
    elsewhere.mkdir()
    info = site / "shop-1.0.dist-info"
    info.mkdir()
    told = {"url": elsewhere.as_uri(), "dir_info": {"editable": True}}
    (info / "direct_url.json").write_text(json.dumps(told))
    before = digest(tmp_path / "repository")

    (elsewhere / "shop.py").touch()

    assert digest(tmp_path / "repository") != before


@pytest.mark.parametrize("way", ["pth", "PYTHONPATH"])
def test_folders_that_are_only_named_make_a_difference(
    way: str, site: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    variables = {"PYTHONPATH": str(elsewhere)} if way == "PYTHONPATH" else {}
    if way == "pth":
        (site / "shop.pth").write_text(f"# ours\n{elsewhere}\nimport sys\n")
    before = digest(tmp_path / "repository", **variables)

    (elsewhere / "shop.py").touch()

    assert digest(tmp_path / "repository", **variables) != before


def test_the_repository_itself_is_left_to_the_digest_of_its_copy(
    site: Path, tmp_path: Path
) -> None:
    top = tmp_path / "repository"
    top.mkdir()
    (site / "shop.pth").write_text(f"{top}\n")
    before = digest(top)

    (top / "shop.py").touch()

    assert digest(top) == before
