"""Kinds of tests whose verdict is known by construction, each as the text of such a test.

In the texts ``$n`` is the number of the test, ``$taking`` a call that takes the outcome, ``$gives``
what it returns, ``$avoiding`` and ``$otherwise`` the same for one that does not take it. Inverted,
``$taking`` returns another value or raises KeyError, which ``changed`` tells.
"""

import sys
from dataclasses import dataclass
from typing import Final

HEAD: Final = """\
import contextlib
import functools
import os
import random
import signal
import time
import unittest
from pathlib import Path

import pytest

from steps import $file as steps


def changed(call, value):
    try:
        return call() != value
    except KeyError:
        return True
"""
NOTICES: Final = """
def test_$n():
    assert $taking == $gives
"""


@dataclass(frozen=True, slots=True)
class Variant:
    """One way to write a test of a kind, and what the row claims."""

    test: str
    claim: str = "test_$n"
    """What follows the file and ``::`` in the claim; a claim with ``::`` of its own is whole."""


@dataclass(frozen=True, slots=True)
class Kind:
    """Tests that all deserve the same verdict."""

    name: str
    right: tuple[str, ...]
    """Verdicts that are true."""
    variants: tuple[Variant, ...]
    file: str
    """Without folder and suffix; kinds may share one."""
    chance: float = 0.0
    """How often the test fails by chance, inverted or not."""
    slow: bool = False
    """Costs seconds, so a few will do."""


def _kind(name: str, right: str, *tests: str, chance: float = 0.0, slow: bool = False) -> Kind:
    words = name.replace(",", "").replace("%", "").replace(".", " ").split()
    variants = tuple(Variant(test) for test in tests)
    return Kind(name, tuple(right.split()), variants, "_".join(words), chance, slow)


def _when_changed(action: str) -> str:
    return f"""
def test_$n():
    if changed(lambda: $taking, $gives):
        {action}
"""


def _by_chance(condition: str, before: str = "") -> str:
    return f"""
{before}
def test_$n():
    with contextlib.suppress(KeyError):
        $taking
    assert {condition}
"""


def _decorated(decorator: str, test: str = NOTICES) -> str:
    return f"\n{decorator}{test}"


def _with_fixture(body: str, value: str = "None") -> str:
    return f"""
@pytest.fixture
def fixture_$n():
{body}

def test_$n(fixture_$n):
    assert $taking != {value}
"""


_FAILS: Final = """
def test_$n():
    assert $taking != $gives
"""
_STARTED_LATER: Final = """
@functools.cache
def everything():
    return {n: call() for n, call in CALLS.items()}


CALLS = {}
"""

_BOUND: Final = (
    _kind("notices", "bound", NOTICES),
    _kind("stale bytecode", "bound", NOTICES),
    _kind(
        "shared memo",
        "bound",
        "\nCALLS[$n] = lambda: $taking\n\n\n"
        "def test_$n():\n    assert everything()[$n] == $gives\n",
    ),
    _kind(
        "shared state",
        "bound",
        "\ndef test_$n():\n    STATE.append($n)\n    assert ($taking, STATE) == ($gives, [$n])\n",
    ),
    _kind(
        "leaves a file",
        "bound",
        '\ndef test_$n():\n    open("left", "x").close()\n    assert $taking == $gives\n',
        '\ndef test_$n():\n    Path("steps", "left").mkdir()\n    assert $taking == $gives\n',
        "\ndef test_$n():\n    assert Path.home().joinpath('left').touch(exist_ok=False) is None\n"
        "    assert $taking == $gives\n",
    ),
    _kind(
        "random seeded at import",
        "bound",
        "\ndef test_$n():\n    assert ($taking, random.random()) == ($gives, FIRST)\n",
    ),
)
"""A test that passes alone and notices."""

_GREEN: Final = (
    _kind(
        "asserts nothing",
        "weak",
        "\ndef test_$n():\n    with contextlib.suppress(KeyError):\n        $taking\n",
        "\ndef test_$n():\n    changed(lambda: $taking, $gives)\n"
        "    assert $avoiding == $otherwise\n",
    ),
    _kind(
        "takes the other way",
        "unreached",
        "\ndef test_$n():\n    assert $avoiding == $otherwise\n",
    ),
    Kind(
        "wrong test",
        ("unreached",),
        (Variant(NOTICES, "test_$next"),),
        "claim_of_another",
    ),
    Kind(
        "leaves a lock",
        ("bound",),
        (Variant("\nNOTICED.append(lambda: changed(lambda: $taking, $gives))\n", "test_all"),),
        "lock",
    ),
    Kind(
        "after a lock was left",
        ("weak",),
        (Variant("\nIGNORED.append(lambda: changed(lambda: $taking, $gives))\n", "test_all"),),
        "lock",
    ),
)
"""A test that passes alone and does not notice. The last two are claims of one test."""

_RED: Final = (
    _kind("fails", "red", _FAILS),
    _kind(
        "skip",
        "red",
        _decorated("@pytest.mark.skip"),
        _decorated("@pytest.mark.skipif(True, reason='always')"),
        _decorated("@unittest.skip('always')"),
        "\ndef test_$n():\n    assert $taking == $gives\n    pytest.skip()\n",
        "\ndef test_$n():\n    pytest.importorskip('no_such_module')\n"
        "    assert $taking == $gives\n",
    ),
    _kind("xfail", "red", _decorated("@pytest.mark.xfail", _FAILS)),
    _kind("xfail that passes", "red", _decorated("@pytest.mark.xfail")),
    _kind("strict xfail", "red", _decorated("@pytest.mark.xfail(strict=True)", _FAILS)),
    _kind("strict xfail that passes", "red", _decorated("@pytest.mark.xfail(strict=True)")),
    _kind("setup error", "red", _with_fixture("    raise RuntimeError('set up')\n")),
    _kind(
        "teardown error", "red", _with_fixture("    yield\n    raise RuntimeError('tear down')\n")
    ),
    _kind(
        "order dependence",
        "red",
        "\ndef test_before_$n():\n    READY.append($n)\n\n\n"
        "def test_$n():\n    assert $n in READY\n    assert $taking == $gives\n",
    ),
)
"""A test that does not pass alone."""

_UNPROVEN: Final = (
    _kind("inverted, skips", "unproven", _when_changed("pytest.skip()")),
    _kind("inverted, xfails", "unproven", _when_changed("pytest.xfail()")),
    _kind(
        "inverted, setup error",
        "unproven",
        _with_fixture(
            "    if changed(lambda: $taking, $gives):\n        raise RuntimeError\n", "0"
        ),
    ),
    _kind(
        "inverted, teardown error",
        "unproven",
        "\n@pytest.fixture\ndef after_$n():\n    yield\n"
        "    assert not changed(lambda: $taking, $gives)\n\n\n"
        "def test_$n(after_$n):\n    assert $avoiding == $otherwise\n",
    ),
    _kind(
        "inverted, process ends",
        "unproven",
        _when_changed("os._exit(0)"),
        _when_changed("os._exit(1)"),
        _when_changed("os.kill(os.getpid(), signal.SIGKILL)"),
    ),
    _kind(
        "timeout",
        "unproven",
        _when_changed("while True: pass"),
        _when_changed("while True: time.sleep(1)"),
        slow=True,
    ),
)
"""A test that passes alone and, inverted, tells nothing."""

_UNCOLLECTED: Final = (
    Kind(
        "renamed id",
        ("uncollected",),
        (
            Variant(NOTICES, "test_old_$n"),
            Variant(NOTICES, "tests/test_moved.py::test_$n"),
            Variant(NOTICES, "TestSteps::test_$n"),
            Variant(NOTICES, "test_$n[0]"),
            Variant(
                "\n@pytest.mark.parametrize('which', [0, 1])\ndef test_$n(which):\n"
                "    assert $taking == $gives\n"
            ),
            Variant(
                "\nclass TestSteps$n:\n    def test_$n(self):\n        assert $taking == $gives\n"
            ),
        ),
        "renamed_id",
    ),
)

_NOT_BOUND: Final = "weak unproven red"
_NUMBER: Final = "int.from_bytes(os.urandom(4), 'big') / 2**32"

_FLAKY: Final = (
    *(
        _kind(
            f"flaky at {percent} %, os.urandom",
            _NOT_BOUND,
            _by_chance(f"{_NUMBER} >= {percent / 100}"),
            chance=percent / 100,
        )
        for percent in (5, 20, 50)
    ),
    _kind(
        "flaky at 20 %, clock",
        _NOT_BOUND,
        _by_chance("time.perf_counter_ns() // 100 % 5 != 0"),
        chance=0.2,
    ),
    _kind(
        "flaky at 20 %, random",
        _NOT_BOUND,
        _by_chance("random.random() >= 0.2"),
        chance=0.2,
    ),
    _kind(
        "flaky at 50 %, hash seed", _NOT_BOUND, _by_chance("hash('tag $n') % 2 == 0"), chance=0.5
    ),
    _kind(
        "flaky at 50 %, drawn at import",
        _NOT_BOUND,
        _by_chance("DRAWN_$n % 2 == 0", "\nDRAWN_$n = os.urandom(1)[0]\n"),
        chance=0.5,
    ),
    _kind(
        "flaky at 50 %, other draws when inverted",
        _NOT_BOUND,
        "\nCHANCE_$n = random.Random()\n\n\ndef test_$n():\n"
        "    if changed(lambda: $taking, $gives):\n        CHANCE_$n.random()\n"
        "    assert CHANCE_$n.random() >= 0.5\n",
        chance=0.5,
    ),
    _kind(
        "flaky at 20 %, and notices",
        "bound unproven red",
        f"\ndef test_$n():\n    assert $taking == $gives\n    assert {_NUMBER} >= 0.2\n",
        chance=0.2,
    ),
)
"""A test that fails by chance; all but the last fail as often without an inversion."""

KINDS: Final = (*_BOUND, *_GREEN, *_RED, *_UNPROVEN, *_UNCOLLECTED, *_FLAKY)

BEFORE: Final = {
    "shared_memo": _STARTED_LATER,
    "shared_state": "\nSTATE = []\n",
    "random_seeded_at_import": "\nrandom.seed(7)\nFIRST = random.Random(7).random()\n",
    "lock": "\nNOTICED, IGNORED = [], []\n",
    "order_dependence": "\nREADY = []\n",
}
"""By file: what stands before its tests."""
AFTER: Final = {
    "lock": """

def test_all():
    lock = Path("lock")
    if lock.exists():
        lock.unlink()
        raise AssertionError("left by another run")
    if any([notices() for notices in NOTICED]):
        lock.touch()
        raise AssertionError("noticed")
    for ignores in IGNORED:
        ignores()
""",
}
"""By file: what stands behind them."""


if __name__ == "__main__":
    sys.exit("this is a part of truth.py")
