import os
from collections.abc import Callable
from pathlib import Path

import pytest

from invertgate.nightly.contents import NotToldError, looks_digest, tree_digest


def tree(folder: Path) -> Path:
    top = folder / "tree"
    (top / "src").mkdir(parents=True)
    (top / "src" / "a.py").write_text("x = 1\n")
    (top / "data.json").write_text("{}")
    (top / "link").symlink_to("data.json")
    (top / "absolute").symlink_to(top / "src" / "a.py")
    return top


def edit(top: Path) -> None:
    about = (top / "src" / "a.py").stat()
    (top / "src" / "a.py").write_text("x = 2\n")
    os.utime(top / "src" / "a.py", ns=(about.st_atime_ns, about.st_mtime_ns))


def lead_elsewhere(top: Path) -> None:
    (top / "link").unlink()
    (top / "link").symlink_to("src/a.py")


def put_a_file_there(top: Path) -> None:
    (top / "link").unlink()
    (top / "link").write_text("{}")


CHANGES: dict[str, Callable[[Path], object]] = {
    "an edit that keeps size and time": edit,
    "a new file": lambda top: (top / "new").touch(),
    "a new folder": lambda top: (top / "empty").mkdir(),
    "a file that is gone": lambda top: (top / "data.json").unlink(),
    "a new name": lambda top: (top / "data.json").rename(top / "data.yaml"),
    "a mode": lambda top: (top / "data.json").chmod(0o755),
    "a link": lead_elsewhere,
    "a file for a link": put_a_file_there,
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_every_change_is_another_tree(change: Callable[[Path], object], tmp_path: Path) -> None:
    top = tree(tmp_path)
    before = tree_digest(top)

    change(top)

    assert tree_digest(top) != before


def test_a_copy_elsewhere_at_another_time_is_the_same_tree(tmp_path: Path) -> None:
    first, second = tree(tmp_path / "one"), tree(tmp_path / "two")
    os.utime(second / "data.json", (0, 0))

    assert tree_digest(first) == tree_digest(second)


def test_what_a_link_leads_to_outside_is_looked_at(tmp_path: Path) -> None:
    top = tree(tmp_path)
    outside = tmp_path / "outside"
    (top / "far").symlink_to(outside)
    digests = [tree_digest(top)]

    for content in ("one", "two"):
        outside.write_text(content)
        digests.append(tree_digest(top))

    assert len(set(digests)) == 3


def test_a_link_to_a_folder_outside_cannot_be_summed_up(tmp_path: Path) -> None:
    top = tree(tmp_path)
    (top / "far").symlink_to(tmp_path)

    with pytest.raises(NotToldError, match="far leads to a folder outside"):
        tree_digest(top)


def test_looks_are_names_sizes_and_times(tmp_path: Path) -> None:
    top = tree(tmp_path)
    before = looks_digest(top, tmp_path / "but")

    (top / "src" / "a.py").write_text("x = 123\n")

    assert looks_digest(top, tmp_path / "but") != before


def test_caches_environments_and_the_repository_itself_are_not_looked_at(tmp_path: Path) -> None:
    top = tree(tmp_path)
    before = looks_digest(top, top / "repository")

    for name in ("__pycache__", "venv", "repository"):
        (top / name).mkdir()
        (top / name / "pyvenv.cfg").touch()

    assert looks_digest(top, top / "repository") == before
