"""Changes of policy inside files that hold other things too."""

import posixpath
from collections.abc import Iterator, Mapping

from invertgate.config import CONFIG_NAME, read
from invertgate.errors import UsageError
from invertgate.lanes.facts import PathFacts
from invertgate.patch.projects import is_configuration
from invertgate.patch.pytest_options import choosing_options


def policy_change(file: PathFacts) -> Iterator[str]:
    """Say what a file changes of our own options, and of which tests pytest runs.

    Args:
        file: Any file of the patch.
    """
    names = {posixpath.basename(file.path), posixpath.basename(file.old_path)}
    if CONFIG_NAME in names:
        yield from _ours(file)
    if any(map(is_configuration, names)) and _chosen(file, old=True) != _chosen(file, old=False):
        yield "changes which tests pytest runs"


def _ours(file: PathFacts) -> Iterator[str]:
    try:
        before, after = read(_content(file, old=True)), read(_content(file, old=False))
    except UsageError as error:
        yield f"cannot be compared: {error}"
        return
    changed = sorted(
        name for name in before.keys() | after.keys() if before.get(name) != after.get(name)
    )
    if changed:
        yield f"changes tool.invertgate.{', '.join(changed)}"


def _chosen(file: PathFacts, *, old: bool) -> Mapping[str, object] | None:
    """Give what chooses tests; None where the file does not configure pytest."""
    path = file.old_path if old else file.path
    if not is_configuration(path):
        return None
    return choosing_options(posixpath.basename(path), file.base if old else file.head)


def _content(file: PathFacts, *, old: bool) -> bytes:
    path = file.old_path if old else file.path
    content = file.base if old else file.head
    return content or b"" if is_configuration(path) else b""
