"""A digest of what tests meet beside the tree: the interpreter, what is installed, variables."""

import json
import os
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from invertgate import __version__
from invertgate.nightly.contents import folder_digest, looks_digest

_OF_A_TERMINAL: Final = frozenset(
    (
        "COLUMNS",
        "DBUS_SESSION_BUS_ADDRESS",
        "GPG_TTY",
        "INVOCATION_ID",
        "JOURNAL_STREAM",
        "LINES",
        "OLDPWD",
        "SHLVL",
        "SSH_AGENT_PID",
        "SSH_AUTH_SOCK",
        "SSH_CLIENT",
        "SSH_CONNECTION",
        "SSH_TTY",
        "STY",
        "TERM_SESSION_ID",
        "TMUX",
        "TMUX_PANE",
        "WINDOWID",
        "XDG_SESSION_ID",
        "_",
    )
)
"""Variables that are others in every terminal; no verdict was ever seen to hang on one."""
_INSTALLED: Final = (".dist-info", ".egg-info", ".egg-link", ".pth")
_US: Final = Path(__file__).parents[1]


def surroundings_digest(environment: Mapping[str, str], scratch: Path, top: Path) -> str:
    """Return a digest of what tests meet beside the tree.

    That is this interpreter, our own sources, every installed distribution with its version and
    the time of its installation, what is installed from sources elsewhere, and all variables.

    Args:
        environment: What the tests run in.
        scratch: The folder of this run, which is another one in every run.
        top: The user's repository, whose copy is looked at by others.

    Raises:
        NotToldError: A folder that sources are taken from is too large, or cannot be read.
    """
    told = [
        __version__,
        _our_sources(),
        sys.version,
        sys.executable,
        sys.platform,
        list(_variables(environment, str(scratch))),
        list(_installed(_search_path())),
        [(str(each), looks_digest(each, top)) for each in _elsewhere(environment, scratch, top)],
    ]
    return sha256(json.dumps(told).encode()).hexdigest()


def lasting_digest(environment: Mapping[str, str], scratch: Path, top: Path) -> str:
    """Return a digest of the same by contents: equal also where all of it was installed anew.

    Args:
        environment: What the tests run in.
        scratch: The folder of this run, which is another one in every run.
        top: The user's repository, whose copy is looked at by others.

    Raises:
        NotToldError: A folder cannot be read.
    """
    folders = [
        folder for folder in covered_folders(environment, scratch, top) if not _is_own(folder)
    ]
    told = [
        __version__,
        _our_sources(),
        sys.version,
        sys.executable,
        sys.platform,
        list(_variables(environment, str(scratch))),
        [(str(folder), folder_digest(folder, top)) for folder in folders],
    ]
    return sha256(json.dumps(told).encode()).hexdigest()


def covered_folders(environment: Mapping[str, str], scratch: Path, top: Path) -> tuple[Path, ...]:
    """Return the folders of which :func:`lasting_digest` tells whenever something in them changes.

    Args:
        environment: What the tests run in.
        scratch: The folder of this run.
        top: The user's repository, which is none of them.
    """
    paths = sysconfig.get_paths()
    found = [Path(paths[name]) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    programs = Path(sys.executable).parent
    found += [
        each for each in _search_path() if each.resolve() not in (programs, programs.resolve())
    ]
    found += _elsewhere(environment, scratch, top)
    inside = (top, top.resolve(), scratch)
    environments = (Path(sys.prefix), Path(sys.base_prefix))
    return tuple(
        dict.fromkeys(
            folder
            for folder in found
            if folder.is_dir() and (_is_in(folder, environments) or not _is_in(folder, inside))
        )
    )


def _is_own(folder: Path) -> bool:
    """Tell whether a folder is Python's own library, which its version stands for."""
    libraries = {Path(sysconfig.get_paths()[name]) for name in ("stdlib", "platstdlib")}
    return folder in libraries or (folder.parent in libraries and folder.name == "lib-dynload")


def _variables(environment: Mapping[str, str], scratch: str) -> Iterator[tuple[str, str]]:
    for name in sorted(environment.keys() - _OF_A_TERMINAL):
        yield name, environment[name].replace(scratch, "<scratch>")


def _our_sources() -> str:
    whole = sha256()
    for source in sorted(_US.rglob("*.py")):
        whole.update(source.read_bytes())
    return whole.hexdigest()


def _search_path() -> list[Path]:
    return [folder for folder in map(Path, dict.fromkeys(sys.path)) if folder.is_dir()]


def _installed(folders: Iterable[Path]) -> Iterator[tuple[str, int]]:
    """Yield what installers leave beside the packages; names hold versions."""
    for folder in folders:
        with os.scandir(folder) as entries:
            found = [entry for entry in entries if entry.name.endswith(_INSTALLED)]
            for entry in sorted(found, key=lambda each: each.name):
                yield entry.path, entry.stat().st_mtime_ns


def _elsewhere(environment: Mapping[str, str], scratch: Path, top: Path) -> list[Path]:
    """Find the folders, outside of the repository, from which sources are taken as they are."""
    paths = environment.get("PYTHONPATH", "").split(os.pathsep)
    named = [Path(path) for path in paths if path and not Path(path).is_relative_to(scratch)]
    for folder in _search_path():
        named += _editable(folder)
        named += _pointed(folder)
    skipped = (top.resolve(), _US, Path(sys.prefix).resolve(), Path(sys.base_prefix).resolve())
    real = dict.fromkeys(path.resolve() for path in named if path.is_dir())
    return [path for path in real if not _is_in(path, skipped) and not _US.is_relative_to(path)]


def _is_in(path: Path, folders: Sequence[Path]) -> bool:
    return any(path.is_relative_to(folder) for folder in folders)


def _editable(folder: Path) -> Iterator[Path]:
    """Yield where distributions lie that are installed for editing (PEP 610)."""
    for told in folder.glob("*.dist-info/direct_url.json"):
        with suppress(OSError, ValueError, AttributeError):
            said = json.loads(told.read_bytes())
            if said.get("dir_info", {}).get("editable"):
                yield Path(unquote(urlsplit(said["url"]).path))


def _pointed(folder: Path) -> Iterator[Path]:
    """Yield the folders that ``.pth`` files add to the search path."""
    for told in folder.glob("*.pth"):
        with suppress(OSError, ValueError):
            for line in told.read_text(encoding="utf-8").splitlines():
                if line.strip() and not line.startswith(("#", "import ", "import\t")):
                    yield folder / line.strip()
