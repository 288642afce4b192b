"""Claims against what pytest collected: equal to the last character, or refused."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from posixpath import normpath
from typing import Final

from invertgate.errors import UsageError
from invertgate.table.selection import Key, ambiguous, is_selection, matching

MOST_NAMED: Final = 5
"""So many ids a message names, of those that a claim could mean."""


@dataclass(frozen=True, slots=True)
class Resolution:
    """What a claim turned out to be."""

    test: str
    """As it was claimed."""
    is_collected: bool
    """It is the id of one test that can be run again by that id."""
    reason: str = ""
    """What is wrong with it, and what to do; empty if it is collected."""
    nearest: tuple[str, ...] = ()
    """Ids that it could mean, at most five, the likeliest first."""


@dataclass(frozen=True, slots=True)
class MarkerClaims:
    """What the ``branch`` markers of the collected tests claim."""

    tests: Mapping[Key, tuple[str, ...]]
    """Nodeids by path and id, in the order of collection."""
    notes: tuple[str, ...] = ()
    """Markers that cannot be read, a sentence each."""


def resolve(claim: str, collected: Collection[str]) -> Resolution:
    """Find the one collected test that a claim names.

    Args:
        claim: A nodeid, as table or author has it.
        collected: The nodeids that pytest collects; a set or a dict is quickest.
    """
    if claim in collected:
        is_stable = _ADDRESS.search(claim) is None
        return Resolution(claim, is_stable, "" if is_stable else _UNSTABLE)
    for meaning in _MEANINGS:
        if found := meaning.find(claim, collected):
            reason = meaning.reason.format(count=len(found))
            return Resolution(claim, is_collected=False, reason=reason, nearest=_first(found))
    nearest = _first(_nearest(claim, collected))
    reason = "pytest collects no such test" + ("" if nearest else ", and none with a like name")
    return Resolution(claim, is_collected=False, reason=reason, nearest=nearest)


def marker_claims(
    marked: Iterable[tuple[str, Sequence[str]]], keys: Collection[Key]
) -> MarkerClaims:
    """Read the claims that tests make themselves.

    A marker whose id no outcome has is not for this patch and is passed over in silence; one that
    is no id at all is told, for somebody will wait for it to count.

    Args:
        marked: Each collected test that bears the marker, and the ids in it: ``ID`` or ``PATH:ID``.
        keys: Path and id of every new outcome.

    Raises:
        UsageError: A bare id is that of several outcomes; the message gives the choices.
    """
    by_id: dict[str, list[Key]] = {}
    for key in keys:
        by_id.setdefault(key[1], []).append(key)
    tests: dict[Key, dict[str, None]] = {}
    notes: dict[str, None] = {}
    for nodeid, texts in marked:
        for text in texts:
            if not is_selection(text):
                notes[_UNREADABLE.format(nodeid=nodeid, text=text)] = None
            for key in _one(text, by_id, nodeid):
                tests.setdefault(key, {})[nodeid] = None
    return MarkerClaims({key: tuple(nodeids) for key, nodeids in tests.items()}, tuple(notes))


def _one(text: str, by_id: Mapping[str, Sequence[Key]], nodeid: str) -> Sequence[Key]:
    found = matching(text, by_id.get(text.rpartition(":")[2], ()))
    if len(found) > 1:
        raise UsageError(f"marker of {nodeid}: {ambiguous(text, found)}")
    return found


_UNSTABLE: Final = (
    "the id holds an address or a set and is another one in every process; "
    "give the parameter an id of its own"
)


@dataclass(frozen=True, slots=True)
class _Meaning:
    """A way to write something else than a nodeid, and what to say of it."""

    find: Callable[[str, Collection[str]], list[str]]
    reason: str


def _respelled(claim: str, collected: Collection[str]) -> list[str]:
    file, separator, test = claim.strip().partition("::")
    tidy = normpath(file.replace("\\", "/")) + separator
    escaped = test.encode("unicode_escape").decode()
    spelled = [tidy + test, tidy + escaped, tidy + escaped.replace("\\\\", "\\")]
    exact = [nodeid for nodeid in dict.fromkeys(spelled) if nodeid in collected]
    folded = (tidy + test).casefold()
    return exact or [nodeid for nodeid in collected if nodeid.casefold() == folded]


def _from_another_folder(claim: str, collected: Collection[str]) -> list[str]:
    below = "/" + claim
    return [
        nodeid for nodeid in collected if nodeid.endswith(below) or claim.endswith("/" + nodeid)
    ]


def _with_parameters(claim: str, collected: Collection[str]) -> list[str]:
    return _starting(claim + "[", collected)


def _inside(claim: str, collected: Collection[str]) -> list[str]:
    return _starting((claim + "::", claim.rstrip("/") + "/"), collected)


def _longer(claim: str, collected: Collection[str]) -> list[str]:
    return _starting(claim, collected)


def _in_another_file(claim: str, collected: Collection[str]) -> list[str]:
    test = claim.partition("::")[2]
    return [nodeid for nodeid in collected if test and nodeid.partition("::")[2] == test]


def _with_changing_parameters(claim: str, collected: Collection[str]) -> list[str]:
    def letters(nodeid: str) -> list[str]:
        return sorted(_ADDRESS.sub("", nodeid))

    if "{" not in claim and not _ADDRESS.search(claim):
        return []
    test = claim.partition("[")[0]
    return [
        nodeid for nodeid in _starting(test + "[", collected) if letters(nodeid) == letters(claim)
    ]


def _with_other_parameters(claim: str, collected: Collection[str]) -> list[str]:
    test, bracket, parameters = claim.partition("[")
    found = _starting(test + "[", collected) + [nodeid for nodeid in (test,) if nodeid in collected]
    return _closest(parameters, found, lambda nodeid: nodeid[len(test) :]) if bracket else []


def _starting(start: str | tuple[str, ...], collected: Collection[str]) -> list[str]:
    return [nodeid for nodeid in collected if nodeid.startswith(start)]


_MEANINGS: Final = (
    _Meaning(_respelled, "pytest spells this test otherwise"),
    _Meaning(
        _from_another_folder,
        "nodeids are relative to the folder of the project's pytest configuration",
    ),
    _Meaning(_with_parameters, "this test is parametrized ({count} times); name one of them"),
    _Meaning(_inside, "this is not one test ({count} tests are in it); name one of them"),
    _Meaning(_longer, "this is only the beginning of an id ({count} begin so); write one in full"),
    _Meaning(_in_another_file, "the test of this name stands in another file"),
    _Meaning(_with_changing_parameters, _UNSTABLE),
    _Meaning(_with_other_parameters, "the test of this name has other parameters"),
)
"""The first that finds something says what was meant."""


def _first(nodeids: list[str]) -> tuple[str, ...]:
    return tuple(nodeids[:MOST_NAMED])


def _nearest(claim: str, collected: Collection[str]) -> list[str]:
    words = {word[:_STEM] for word in _WORD.findall(claim.casefold())} - _EMPTY_WORDS
    file = claim.partition("::")[0] + "::"
    shared = {
        nodeid: sum(word in folded for word in words) + nodeid.startswith(file)
        for nodeid in collected
        for folded in (nodeid.casefold(),)
    }
    pool = nlargest(_POOL, filter(shared.get, shared), key=shared.__getitem__)
    return _closest(claim, pool, str)


def _closest(text: str, nodeids: list[str], part: Callable[[str], str]) -> list[str]:
    """Sort ids, the likest first; only the first of a long list are compared."""
    from difflib import SequenceMatcher  # noqa: PLC0415 (only mistakes pay for it)

    matcher = SequenceMatcher(a="", b=text, autojunk=False)

    def unlikeness(nodeid: str) -> float:
        matcher.set_seq1(part(nodeid))
        return -matcher.ratio()

    return sorted(nodeids[:_POOL], key=unlikeness) + nodeids[_POOL:]


_POOL: Final = 100
_WORD: Final = re.compile("[a-z0-9]{3,}")
_STEM: Final = 4
_EMPTY_WORDS: Final = frozenset({"test"})
_ADDRESS: Final = re.compile(
    r"\bat 0x[0-9a-fA-F]{5,16}\b"  # what repr() of an object says
    r"|\b0x(?:7f|55|56)[0-9a-f]{10}\b"  # where Linux puts heap and libraries
)
_UNREADABLE: Final = (
    "marker branch({text!r}) of {nodeid} is no id and claims nothing; "
    "write 12 lower-case hex digits, or PATH:ID"
)
