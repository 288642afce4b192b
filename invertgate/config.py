"""Read ``[tool.invertgate]`` strictly."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any, Final

from invertgate.errors import UsageError
from invertgate.model import Kind
from invertgate.options import OPTIONS, Config, Form, Inversion, Kill, OnTimeout, Option, Value
from invertgate.source_text import toml_of

__all__ = [
    "OPTIONS",
    "Config",
    "Inversion",
    "Kill",
    "OnTimeout",
    "Option",
    "Settings",
    "load",
    "merged",
    "read",
    "shown",
    "source_of",
]

CONFIG_NAME: Final = "pyproject.toml"
SECTION: Final = "tool.invertgate"
_MOST_BITS: Final = 1000

Settings = Mapping[str, Value]
"""What a file or a command line says: checked values by option name, without defaults."""

_BY_NAME: Final = {option.name: option for option in OPTIONS}


def read(source: bytes, name: str = CONFIG_NAME) -> Settings:
    """Read the settings of a ``pyproject.toml``.

    Args:
        source: Its bytes; empty where there is no such file.
        name: What messages call it.

    Raises:
        UsageError: It is no TOML, or a key or a value of ours is wrong.
    """
    if not source:
        return {}
    section = _section(_parsed(source, name), name)
    return _checked(section, lambda option: f"{name}: {SECTION}.{option}")


def load(
    source: bytes, overrides: Mapping[str, object] | None = None, name: str = CONFIG_NAME
) -> Config:
    """Read a ``pyproject.toml`` and let the command line override it.

    Args:
        source: Its bytes; empty where there is no such file.
        overrides: Values by option name; None and an empty tuple mean "not given".
        name: What messages call the file.

    Raises:
        UsageError: A key or a value is wrong; the message names it and where it stands.
    """
    return merged(read(source, name), overrides)


def merged(settings: Settings, overrides: Mapping[str, object] | None = None) -> Config:
    """Fill up settings with the defaults, and let the command line override them.

    Args:
        settings: Checked ones.
        overrides: Values by option name; None and an empty tuple mean "not given".

    Raises:
        UsageError: An override is wrong.
    """
    values: dict[str, Any] = {**settings, **_overridden(overrides or {})}  # each was checked
    return replace(Config(), **values)


def source_of(folder: Path) -> bytes:
    """Give the bytes of a folder's ``pyproject.toml``, none where there is no such file.

    Raises:
        UsageError: It is there and cannot be read.
    """
    path = folder / CONFIG_NAME
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error


def _parsed(source: bytes, name: str) -> dict[str, object]:
    try:
        return toml_of(source)
    except UnicodeDecodeError as error:
        line = source.count(b"\n", 0, error.start) + 1
        raise UsageError(f"{name}: line {line} is not UTF-8; save the file as UTF-8") from error
    except ValueError as error:
        raise UsageError(f"{name} is not valid TOML: {error}") from error


def _section(document: Mapping[str, object], name: str) -> dict[str, object]:
    tool = document.get("tool", {})
    if not isinstance(tool, dict):
        return {}
    section = tool.get("invertgate")
    if section is None:
        _refuse_misspelt_section(tool, name)
        return {}
    if not isinstance(section, dict):
        raise UsageError(f"{name}: {SECTION} must be a table, not {shown(section)}")
    return section


def _refuse_misspelt_section(tool: Mapping[str, object], name: str) -> None:
    suspects = [key for key in tool if key.casefold().startswith("inv")]  # difflib costs an import
    if suspects and (close := _nearest("invertgate", suspects)):
        raise UsageError(f"{name}: [tool.{close}] is not read; did you mean [{SECTION}]?")


def _checked(section: Mapping[str, object], where: Callable[[str], str]) -> Settings:
    """Check values and bring them into the types of ``Config``."""
    settings: dict[str, Value] = {}
    for key, value in section.items():
        option = _BY_NAME.get(key)
        if option is None:
            raise UsageError(f"{where(key)} is not an option{_did_you_mean(key)}")
        if trouble := _trouble(option, value):
            raise UsageError(f"{where(key)} {trouble}")
        settings[key] = _converted(option, value)
    return settings


def _did_you_mean(key: str) -> str:
    nearest = _nearest(key, list(_BY_NAME))
    return f"; did you mean {nearest}?" if nearest else f"; known are {', '.join(_BY_NAME)}"


def _nearest(word: str, known: list[str]) -> str:
    from difflib import get_close_matches  # noqa: PLC0415 (only mistakes pay for it)

    return next(iter(get_close_matches(word, known, 1, 0.7)), "")


def _converted(option: Option, value: Any) -> Value:  # noqa: ANN401 (checked just before)
    if option.name == "extra_kinds":
        return tuple(map(Kind, value))
    return tuple(value) if option.many else type(option.default)(value)


def _overridden(overrides: Mapping[str, object]) -> Settings:
    given = {key: value for key, value in overrides.items() if value is not None and value != ()}
    return _checked(given, _flag)


def _flag(name: str) -> str:
    return _BY_NAME[name].about.flags[0] if name in _BY_NAME else name


def shown(value: object) -> str:
    """Show a value as TOML has it."""
    match value:
        case str():
            return '"' + str(value).replace("\\", "\\\\").replace('"', '\\"') + '"'
        case bool():
            return str(value).lower()
        case int() if value.bit_length() > _MOST_BITS:  # Python refuses to write some of them
            return "a number of hundreds of digits"
        case list() | tuple():
            return f"[{', '.join(map(shown, value))}]"
        case dict():
            return "a table"
        case _:
            return str(value)


def _trouble(option: Option, value: object) -> str:
    """Say what is wrong with a value, or nothing."""
    if not option.many:
        return _trouble_with_one(option, value)
    if not isinstance(value, list | tuple):
        return f"must be a list of strings, not {shown(value)}"
    return next(filter(None, (_trouble_with_one(option, one) for one in value)), "")


def _trouble_with_one(option: Option, value: object) -> str:
    choices = option.about.choices
    if choices:
        return (
            "" if value in choices else f"must be one of {', '.join(choices)}, not {shown(value)}"
        )
    if option.type is bool:
        return "" if isinstance(value, bool) else _wrong(option, value)
    if isinstance(value, str) and "\0" in value:
        return "must not hold a NUL character"
    if option.type is str:
        return _FORMS[option.about.form](value) if isinstance(value, str) else _wrong(option, value)
    return _trouble_with_number(option, value)


def _trouble_with_number(option: Option, value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return _wrong(option, value)
    if option.type is int and not isinstance(value, int):
        return _wrong(option, value)
    low, high = option.about.low, option.about.high
    if not low <= value <= high or value == inf:  # NaN compares with nothing
        return f"must be from {low:g} to {high:.0f}, not {shown(value)}"
    return ""


def _wrong(option: Option, value: object) -> str:
    noun = _NOUNS[option.type]
    return f"must be {noun}, not {shown(value)}"


_NOUNS: Final = {
    str: "a string",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
}


def _text_trouble(text: str) -> str:
    return "" if text.strip() else "must not be empty"


def _glob_trouble(text: str) -> str:
    if "\\" in text:
        return f"must be written with slashes, not backslashes: {shown(text)}"
    if text.startswith("/") or ".." in text.split("/"):
        return f"must be relative and stay inside the repository: {shown(text)}"
    return _text_trouble(text)


def _table_trouble(text: str) -> str:
    if not text.endswith((".json", ".yaml", ".yml")):
        return f"must end in .json, .yaml or .yml: {shown(text)}"
    return _glob_trouble(text)


_FORMS: Final[Mapping[Form, Callable[[str], str]]] = {
    Form.ANY: lambda _: "",
    Form.TEXT: _text_trouble,
    Form.GLOB: _glob_trouble,
    Form.FOLDER: _glob_trouble,
    Form.TABLE: _table_trouble,
}
