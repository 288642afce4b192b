"""Options that could loosen the gate come from the merge base; what a patch changes is told."""

from collections.abc import Collection, Iterator, Mapping
from typing import Final

from invertgate.config import CONFIG_NAME, OPTIONS, SECTION, Config, Option, merged, read, shown
from invertgate.errors import UsageError
from invertgate.model import PolicySource
from invertgate.options import Form, Value

HOW_TO_ADOPT: Final = "that counts once it is merged, or with `--policy head`"
BY_REVIEW: Final = (
    "the policies of the patch itself count, by `--policy head`: a person must have reviewed them"
)
"""Told in every report of a run under them."""

_FIRST: Final = (
    f"the merge base has no [{SECTION}]: what this patch sets there of policies counts once it is "
    "merged, or with `--policy head`; until then the defaults count"
)
_TOLD: Final = ("pytest_args",)
"""No policies: they decide no more than a conftest does, and like one they are told."""


def load_under_policy(
    head: bytes,
    base: bytes,
    overrides: Mapping[str, object] | None = None,
    name: str = CONFIG_NAME,
    policy: PolicySource = PolicySource.BASE,
) -> tuple[Config, tuple[str, ...]]:
    """Read two versions of a ``pyproject.toml``, the merge base's for what could loosen the gate.

    Args:
        head: The bytes that are judged; empty where there is no such file.
        base: The bytes at the merge base; empty where there is no such file.
        overrides: Values by option name, from the command line: they come from outside the patch
            and count.
        name: What messages call the file.
        policy: Whose version decides.

    Returns:
        The configuration, and a sentence for each policy that the patch changes.

    Raises:
        UsageError: The judged version or an override is wrong. A wrong version at the merge base
            is told in a sentence, and the defaults decide: or else nobody could mend it.
    """
    ours = read(head, name)
    overrides = overrides or {}
    notes: list[str] = []
    try:
        theirs = read(base, name)
    except UsageError as error:
        theirs = {}
        if policy is PolicySource.BASE:
            notes.append(f"at the merge base, {error}; the defaults decide instead")
    names = {option.name for option in OPTIONS if option.about.policy}
    if policy is PolicySource.BASE:
        settings = {key: value for key, value in ours.items() if key not in names}
        settings |= {key: value for key, value in theirs.items() if key in names}
    else:
        settings = dict(ours)
    given = {key for key, value in overrides.items() if value is not None and value != ()}
    changes = policy_changes(merged(theirs), merged(ours), policy, given)
    if changes and policy is PolicySource.BASE and not base.count(SECTION.encode()):
        notes.append(_FIRST)
    return merged(settings, overrides), (*notes, *changes)


def policy_changes(
    base: Config,
    head: Config,
    policy: PolicySource = PolicySource.BASE,
    given: Collection[str] = (),
) -> tuple[str, ...]:
    """Tell, a sentence each, which policies the judged version changes, and what counts.

    Args:
        base: The merge base's configuration, without the command line.
        head: The judged one, likewise.
        policy: Whose counts.
        given: Options that the command line decides.
    """
    return tuple(_changes(base, head, policy, given))


def _changes(
    base: Config, head: Config, policy: PolicySource, given: Collection[str]
) -> Iterator[str]:
    for option in OPTIONS:
        before, after = _value(base, option.name), _value(head, option.name)
        if before == after or not (option.about.policy or option.name in _TOLD):
            continue
        change = f"`{option.name}` was {_direction(option, before, after)} by this patch, "
        change += f"from {shown(before)} to {shown(after)}"
        if option.name in given:
            yield f"{change}; the command line decides"
        elif policy is PolicySource.HEAD:
            yield f"{change}; judged under the new value, by `--policy head`"
        elif option.about.policy:
            yield f"{change}; judged under the old value"
        else:
            yield f"{change}; judged under the new value, as it is no policy"


def _direction(option: Option, before: Value, after: Value) -> str:
    """Say in a word what became of a value, as far as one word is true."""
    is_set = option.about.choices or option.about.form in {Form.GLOB, Form.FOLDER}
    match before, after:
        case (tuple(), tuple()) if is_set:
            if set(before) < set(after):
                return "widened"
            return "narrowed" if set(after) < set(before) else "changed"
        case (bool(), _):
            return "switched on" if after else "switched off"
        case (int() | float(), int() | float()):
            return "raised" if after > before else "lowered"
        case _:
            return "changed"


def _value(config: Config, name: str) -> Value:
    found: Value = getattr(config, name)
    return found
