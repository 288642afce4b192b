"""Sort the paths of a patch by what they hold, whole segments only."""

import posixpath
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Final


class PathClass(StrEnum):
    """What a path holds, as far as its name tells; a path has one class."""

    FIXTURE = "fixture"
    TEST = "test"
    NEUTRAL = "neutral"
    """Neither tested nor testing: documents, our own table and log."""
    PRODUCTION = "production"


_SNAPSHOT_FOLDERS: Final = frozenset(("__snapshots__", "__snapshot__"))
_SNAPSHOT_SUFFIXES: Final = (".snap", ".ambr", ".syrupy", ".approved.txt")

LOG_NAME: Final = "lane-log.jsonl"

_TEST_NAMES: Final = ("test_*.py", "*_test.py", "conftest.py")
_DOCUMENT_SUFFIXES: Final = (".md", ".markdown", ".rst", ".adoc", ".asciidoc", ".org")
_DOCUMENT_NAMES: Final = frozenset(
    [
        "AUTHORS",
        "CHANGELOG",
        "CHANGES",
        "CODE_OF_CONDUCT",
        "CONTRIBUTING",
        "COPYING",
        "COPYRIGHT",
        "LICENCE",
        "LICENSE",
        "NEWS",
        "NOTICE",
        "README",
    ]
)  # not *.txt: requirements.txt and CMakeLists.txt decide what runs
_POLICY_NAMES: Final = frozenset(
    f"{name}.{suffix}"
    for name in ("waivers", "flaky", "properties")
    for suffix in ("yaml", "yml", "json")
)
_CI_FOLDERS: Final = (
    (".github", "workflows"),
    (".github", "actions"),
    (".gitea", "workflows"),
    (".gitea", "actions"),
    (".forgejo", "workflows"),
    (".forgejo", "actions"),
    (".gitlab",),
    (".circleci",),
    (".buildkite",),
    (".woodpecker",),
    (".semaphore",),
    (".teamcity",),
    (".azure-pipelines",),
    (".builds",),
)
_CI_NAMES: Final = (
    ".gitlab-ci.y*ml",
    "*.gitlab-ci.y*ml",
    "azure-pipelines*.y*ml",
    "bitbucket-pipelines.y*ml",
    "Jenkinsfile*",
    "*.jenkinsfile",
    ".travis.y*ml",
    ".drone.y*ml",
    ".drone.jsonnet",
    ".woodpecker.y*ml",
    ".cirrus.y*ml",
    ".cirrus.star",
    ".appveyor.y*ml",
    "appveyor.y*ml",
    "buildspec*.y*ml",
    "cloudbuild*.y*ml",
    "codefresh.y*ml",
    "bitrise.y*ml",
    ".build.y*ml",
)


def classify(path: str, *, table: str, neutral: bool) -> PathClass:
    """Say what a path holds.

    Args:
        path: From the top of the repository, with slashes.
        table: Where a project keeps its decision table, from the project's folder.
        neutral: The project's policy names it neutral.
    """
    *folders, name = path.split("/")
    if "fixtures" in folders or name.endswith(".fixture.json"):
        return PathClass.FIXTURE
    if "tests" in folders or any(fnmatchcase(name, glob) for glob in _TEST_NAMES):
        return PathClass.TEST
    if neutral or _is_ours(path, table) or _is_document(name):
        return PathClass.NEUTRAL
    return PathClass.PRODUCTION


def is_policy(path: str) -> bool:
    """Tell whether a file's whole content is policy; ``pyproject.toml`` is so only in part."""
    return posixpath.basename(path) in _POLICY_NAMES


def is_ci(path: str) -> bool:
    """Tell whether a file says what continuous integration does."""
    *folders, name = path.split("/")
    in_folder = any(tuple(folders[: len(known)]) == known for known in _CI_FOLDERS)
    return in_folder or any(fnmatchcase(name, glob) for glob in _CI_NAMES)


def is_collected(path: str) -> bool:
    """Tell whether pytest, left to itself, collects tests from a file of this name."""
    return any(fnmatchcase(posixpath.basename(path), glob) for glob in _TEST_NAMES[:2])


def _is_ours(path: str, table: str) -> bool:
    return any(f"/{path}".endswith(f"/{own}") for own in (table, LOG_NAME))


def _is_document(name: str) -> bool:
    stem, suffix = posixpath.splitext(name)
    return suffix.lower() in _DOCUMENT_SUFFIXES or (not suffix and stem.upper() in _DOCUMENT_NAMES)


def is_snapshot(path: str) -> bool:
    """Tell whether a file holds what tests have stored to compare with."""
    folders = path.split("/")[:-1]
    return path.endswith(_SNAPSHOT_SUFFIXES) or not _SNAPSHOT_FOLDERS.isdisjoint(folders)
