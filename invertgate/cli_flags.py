"""Flags for the options of a command, made from the one table of options."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import click

from invertgate.completing import revisions
from invertgate.options import OPTIONS, Form, Option

Command = Callable[..., Any]
Decorator = Callable[[Command], Command]

_SHORT_FLAGS: Final[Mapping[str, str]] = {"workers": "-n"}
_METAVARS: Final[Mapping[str, str]] = {"base": "REV", "coverage": "FILE", "tests": "PATH"}
_OF_FORMS: Final[Mapping[Form, str]] = {
    Form.GLOB: "GLOB",
    Form.FOLDER: "DIR",
    Form.TABLE: "FILE",
}


def flags(chosen: Callable[[Option], bool]) -> Decorator:
    """Make a flag of each option that is chosen, in the order of the table of options."""

    def decorate(function: Command) -> Command:
        for option in reversed(OPTIONS):
            if option.about.flags and chosen(option):
                function = _flag(option)(function)
        return function

    return decorate


def _flag(option: Option) -> Decorator:
    about = option.about
    if option.type is bool:
        [flag] = about.flags
        return click.option(
            option.name,
            f"{flag}/--no-{flag.removeprefix('--')}",
            default=None,
            help=about.help,
        )
    default = "" if option.many or option.default == "" else f"  [default: {option.default}]"
    short = (_SHORT_FLAGS[option.name],) if option.name in _SHORT_FLAGS else ()
    return click.option(
        option.name,
        *about.flags,
        *short,
        type=click.Choice(tuple(map(str, about.choices))) if about.choices else option.type,
        multiple=option.many,
        default=None,
        metavar=_metavar(option),
        shell_complete=revisions if option.name == "base" else None,
        help=about.help + default,
    )


def _metavar(option: Option) -> str | None:
    """Return what stands for the value of a flag; None for what click shows by itself."""
    if option.about.choices or option.type is not str:
        return None
    return _METAVARS.get(option.name) or _OF_FORMS.get(option.about.form)
