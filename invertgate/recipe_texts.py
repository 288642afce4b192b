"""What `init` writes: the block of options, and the jobs of CI hosts; pure."""

import sys
from collections.abc import Iterator
from importlib.resources import files
from typing import Final

from invertgate.config import shown
from invertgate.options import OPTIONS, Option

IGNORED: Final = "invertgate.out/"
"""The line for `.gitignore`."""

_HEADER: Final = """\
[tool.invertgate]
# All of it is optional: each key stands here with its default. Take "# " away to set one.
# "base" marks keys that could loosen the gate: where a patch changes them, the value at the merge
# base counts, so that no patch excuses itself.
"""


def options_block() -> str:
    """Return `[tool.invertgate]` with every option commented out, each below what it means."""
    return "\n".join([_HEADER, *(f"{entry}\n" for entry in map(_entry, OPTIONS))]).rstrip() + "\n"


def _entry(option: Option) -> str:
    about = option.about
    meaning = about.help.replace("; may be repeated", "").replace("`", "")
    choices = f" One of: {', '.join(about.choices)}." if about.choices else ""
    marked = "base: " if about.policy else ""
    lines = [f"# {line}" for line in _wrapped(f"{marked}{meaning}{choices}")]
    return "\n".join([*lines, f"# {option.name} = {shown(option.default)}"])


def _wrapped(text: str) -> Iterator[str]:
    from textwrap import wrap  # noqa: PLC0415 - only who sets up a project waits for it

    yield from wrap(text, 96, break_long_words=False, break_on_hyphens=False)


def github_workflow(install: str) -> str:
    """Return a workflow for GitHub: shards, and one job that joins them.

    Args:
        install: The command that installs the project and invertgate.
    """
    return _filled("github.yml", install)


def gitlab_jobs(install: str) -> str:
    """Return the same jobs for GitLab.

    Args:
        install: The command that installs the project and invertgate.
    """
    return _filled("gitlab.yml", install)


def _filled(name: str, install: str) -> str:
    text = files("invertgate").joinpath("recipes", name).read_text(encoding="utf-8")
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    return text.replace("@PYTHON@", python).replace("@INSTALL@", install)
