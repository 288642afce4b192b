"""What stands in a YAML file and in which line; aliases, anchors and tags are refused."""

import re
from collections.abc import Callable, Iterator
from typing import Final, Never

import yaml
from yaml import events as kinds
from yaml.resolver import Resolver

try:
    from yaml import CSafeLoader as Loader
except ImportError:  # PyYAML without its C library
    from yaml import SafeLoader as Loader  # type: ignore[assignment]

Events = Iterator[yaml.Event]

_UNREADABLE: Final = re.compile(
    "[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
)
_NULLS: Final = frozenset({"", "~", "null", "Null", "NULL"})
_RESOLVER: Final = Resolver()
_TEXT: Final = "tag:yaml.org,2002:str"


def events_of(text: str, refuse: Callable[[int, str], Never]) -> Events:
    """Yield the events of a text.

    Args:
        text: A YAML file.
        refuse: Called with line and reason where it is no YAML, or says something indirectly.
    """
    try:
        for event in yaml.parse(text, Loader=Loader):
            _refuse_indirection(event, refuse)
            yield event
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        what = " ".join(filter(None, (error.context, error.problem)))
        refuse(line, f"not valid YAML: {what}")
    except yaml.YAMLError:
        unreadable = _UNREADABLE.search(text)
        line = text.count("\n", 0, unreadable.start() if unreadable else 0) + 1
        refuse(line, "not valid YAML: a character that YAML does not allow")


def _refuse_indirection(event: yaml.Event, refuse: Callable[[int, str], Never]) -> None:
    if isinstance(event, kinds.AliasEvent):
        refuse(line_of(event), "aliases are not read; write the value itself")
    if isinstance(event, kinds.ScalarEvent | kinds.CollectionStartEvent):
        if event.anchor is not None:
            refuse(line_of(event), f"anchors are not read; remove &{event.anchor}")
        if event.tag is not None:
            refuse(line_of(event), f"tags are not read; remove {event.tag}")


def is_null(event: yaml.Event) -> bool:
    """Tell whether nothing stands there."""
    return isinstance(event, kinds.ScalarEvent) and event.implicit[0] and event.value in _NULLS


def is_text(scalar: kinds.ScalarEvent) -> bool:
    """Tell whether YAML takes a value for text: quoted, or no number, truth value or date."""
    if not scalar.implicit[0]:
        return True
    tag = _RESOLVER.resolve(yaml.ScalarNode, scalar.value, (True, False))  # type: ignore[no-untyped-call]
    return bool(tag == _TEXT)


def noun(event: yaml.Event) -> str:
    """Call what stands there by a word for messages."""
    match event:
        case kinds.SequenceStartEvent():
            return "a list"
        case kinds.MappingStartEvent():
            return "a mapping"
        case kinds.ScalarEvent():
            return repr(event.value)
        case _:
            return "nothing"


def line_of(event: yaml.Event) -> int:
    """Give the line, from 1."""
    return event.start_mark.line + 1 if event.start_mark else 1
