import pytest

from invertgate.model import EXTRA_KINDS, Kind
from invertgate.outcomes.identity import new_outcomes
from support.changed_files import changed

FLAG = "only a type checker takes it (TYPE_CHECKING)"


@pytest.mark.parametrize(
    "source",
    [
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING: x = 1",
        "from typing import (Any, TYPE_CHECKING as TC)\nif not TC: x = 1",
        "from typing import *\nif TYPE_CHECKING: x = 1",
        "from typing_extensions import TYPE_CHECKING\nif TYPE_CHECKING: x = 1",
        "import typing\nif typing.TYPE_CHECKING: x = 1",
        "import os, typing as t\nif not not t.TYPE_CHECKING: x = 1",
        "def f():\n import typing\n def g():\n  if typing.TYPE_CHECKING: x = 1",
    ],
)
def test_flag_of_typing_is_exempt_however_it_is_imported(source: str) -> None:
    assert _reasons(source) == {FLAG}


@pytest.mark.parametrize(
    "source",
    [
        "TYPE_CHECKING = False\nif TYPE_CHECKING: x = 1",
        "from typing import TYPE_CHECKING\nTYPE_CHECKING = 1\nif TYPE_CHECKING: x = 1",
        "from typing import TYPE_CHECKING\nfor TYPE_CHECKING in y: pass\nif TYPE_CHECKING: x = 1",
        "from typing import TYPE_CHECKING\n(TYPE_CHECKING := 1)\nif TYPE_CHECKING: x = 1",
        "from typing import TYPE_CHECKING\ndef TYPE_CHECKING(): pass\nif TYPE_CHECKING: x = 1",
        "from typing import TYPE_CHECKING\nimport x as TYPE_CHECKING\nif TYPE_CHECKING: x = 1",
        "from typing import TYPE_CHECKING\nfrom y import TYPE_CHECKING\nif TYPE_CHECKING: x = 1",
        "from typing import Any as TYPE_CHECKING\nif TYPE_CHECKING: x = 1",
        "from .typing import TYPE_CHECKING\nif TYPE_CHECKING: x = 1",
        "from typing import TYPE_CHECKING as t\nif t.TYPE_CHECKING: x = 1",
        "import typing\ntyping.TYPE_CHECKING = 1\nif typing.TYPE_CHECKING: x = 1",
        "import mine as typing\nif typing.TYPE_CHECKING: x = 1",
        "def f():\n import typing\nif typing.TYPE_CHECKING: x = 1",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING or y: x = 1",
        "if x.TYPE_CHECKING: x = 1  # pragma: no cover",
    ],
)
def test_flag_that_is_not_typings_is_not_exempt(source: str) -> None:
    assert "" in _reasons(source)


@pytest.mark.parametrize(
    "test",
    [
        "0",
        "None",
        "''",
        "...",
        "not 1",
        "__debug__",
        "0 and x",
        "1 or x",
        "()",
        "(1, 2)",
        "-1",
        "1 + 1",
        "~0",
        "1 and not 0",
    ],
)
def test_constant_test_is_exempt(test: str) -> None:
    assert _reasons(f"if {test}: y = 1") == {"its test is constant at compile time"}


@pytest.mark.parametrize(
    "test", ["x", "x and 0", "1 == 1", "[]", "(x,)", "1 / 0", "'a' + 1", "-x", "x + 1", "lambda: 0"]
)
def test_test_that_is_not_constant_is_not_exempt(test: str) -> None:
    assert _reasons(f"if {test}: y = 1") == {""}


def test_constant_that_is_nested_beyond_sense_is_not_called_constant() -> None:
    assert _reasons(f"if {'not ' * 60}1: y = 1") == {""}


@pytest.mark.parametrize("kind", EXTRA_KINDS)
def test_constant_test_of_an_extra_kind_is_exempt(kind: Kind) -> None:
    source = "while 1: x = [(y if 1 else z) for y in x if 1]"

    outcomes = new_outcomes([changed(None, source)], [kind]).outcomes

    assert {outcome.exempt for outcome in outcomes} == {"its test is constant at compile time"}


def test_conditional_expression_with_equal_sides_is_exempt() -> None:
    outcomes = new_outcomes([changed(None, "x = a if b else a")], [Kind.IFEXP]).outcomes

    assert {outcome.exempt for outcome in outcomes} == {"both of its sides are the same statements"}


def test_equal_sides_of_a_thousand_elifs_are_compared_without_recursion() -> None:
    chain = "".join(f"    elif a == {i}:\n        x = {i}\n" for i in range(1, 900))
    side = f"    if a == 0:\n        x = 0\n{chain}"

    outcomes = new_outcomes([changed(None, f"if b:\n{side}else:\n{side}")]).outcomes

    assert [bool(outcome.exempt) for outcome in outcomes].count(True) == 2


def test_every_way_to_bind_a_name_is_seen() -> None:
    binders = [
        "with y as N: pass",
        "try: pass\nexcept E as N: x = 1",
        "match y:\n case {**N}: x = 1",
        "match y:\n case [*N]: x = 1",
        "match y:\n case N: x = 1",
        "class N: pass",
        "lambda N: 0",
        "[0 for N in y]",
        "del N",
    ]

    for binder in binders:
        source = f"from typing import TYPE_CHECKING as N\n{binder}\nif N: x = 1"
        assert FLAG not in _reasons(source)


def _reasons(source: str) -> set[str]:
    return {outcome.exempt for outcome in new_outcomes([changed(None, source)]).outcomes}
