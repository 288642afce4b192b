"""Read pytest's options out of the files that may hold them."""

from collections.abc import Callable, Mapping
from typing import Final

from invertgate.source_text import toml_of

Options = Mapping[str, object]

_CHOOSING: Final = (
    "addopts",
    "collect_imported_tests",
    "norecursedirs",
    "python_classes",
    "python_files",
    "python_functions",
    "testpaths",
    "xfail_strict",
)


def pytest_options(name: str, content: bytes) -> Options | None:
    """Give the options of pytest that a file holds.

    Args:
        name: The file's name without its folder, one of ``NAMES``.
        content: Its bytes.

    Returns:
        The options; None where the file does not configure pytest, or is no text of its kind
        (a template, say: pytest itself will complain if it is asked to read it).
    """
    return _READERS[name](content)


def choosing_options(name: str, content: bytes | None) -> Options | None:
    """Give those options that decide which tests pytest runs, and what counts as a pass.

    Args:
        name: The file's name without its folder, one of ``NAMES``.
        content: Its bytes; None where there is no such file.

    Returns:
        None where nothing configures pytest.
    """
    options = None if content is None else pytest_options(name, content)
    return options and {key: options[key] for key in _CHOOSING if key in options}


def _dedicated_toml(content: bytes) -> Options | None:
    options = _toml(content).get("pytest")
    return options if isinstance(options, dict) else {}


def _pyproject(content: bytes) -> Options | None:
    if b"pytest" not in content:
        return None
    tool = _toml(content).get("tool")
    options = tool.get("pytest") if isinstance(tool, dict) else None
    if not isinstance(options, dict):
        return None
    in_ini_form = options.get("ini_options")
    return in_ini_form if isinstance(in_ini_form, dict) else options


def _dedicated_ini(content: bytes) -> Options | None:
    return _section(content, "pytest") or {}


def _tox_ini(content: bytes) -> Options | None:
    return _section(content, "pytest")


def _setup_cfg(content: bytes) -> Options | None:
    return _section(content, "tool:pytest")


def _toml(content: bytes) -> Options:
    try:
        return toml_of(content)
    except ValueError:
        return {}


def _section(content: bytes, section: str) -> Options | None:
    if f"[{section}]".encode() not in content:
        return None
    import configparser  # noqa: PLC0415 - most patches come without a file to read

    parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
    try:
        parser.read_string(content.decode("utf-8-sig"))
    except (configparser.Error, ValueError):
        return None
    return dict(parser[section]) if parser.has_section(section) else None


_READERS: Final[Mapping[str, Callable[[bytes], Options | None]]] = {
    "pytest.toml": _dedicated_toml,
    ".pytest.toml": _dedicated_toml,
    "pytest.ini": _dedicated_ini,
    ".pytest.ini": _dedicated_ini,
    "pyproject.toml": _pyproject,
    "tox.ini": _tox_ini,
    "setup.cfg": _setup_cfg,
}
NAMES: Final = tuple(_READERS)
"""The names of those files; of several in one folder pytest takes the first that configures it."""
