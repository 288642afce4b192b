import ast
from hashlib import sha256

import pytest

from invertgate.table.plain_tree import plain

EVERYTHING = r'''
"""doc"""
import a.b as c
from . import d
@deco(1, x=[2.5, 1j, b"x", None, ..., True, 10**3, 0xffffffffffffffffffffffffffffffff])
async def f(a, /, b: int = 1, *c, d=None, **e) -> None:
    """doc"""
    async with a as b, c: pass
    async for x in y: await z
    return [i async for i in x if not i is None]
def g():
    'only doc'
class X(Y, metaclass=Z):
    """doc"""
    a: int = 3
    def t(self): assert f"{x!r:>{w}}" f"a{x}b" "c" == f"{x=}" + f"{x:}" + f"{{}}{y:%d-%m}", "\u00e9"
try: pass
except* (A, B) as e: raise X from e
try:
    pass
except A: ...
else: x
finally: y
match z:
    case {"a": 1, **r} | [1, *_] if q: pass
    case None | True | -1 | 1+2j | Foo(a, b=2): pass
lambda *a, k=1, **kw: (yield)
with (open(a) as b, open(c)): pass
a if b else c; a[1:2, ::3]; {**a, 'b': 1}; print(*a, **b); (w := 3)
'''


def text(source: str) -> str:
    return plain(ast.parse(source))


def test_a_tree_has_the_same_text_on_every_python() -> None:
    digest = sha256(text(EVERYTHING).encode()).hexdigest()

    assert digest[:16] == "5d8123984329ff19"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("x=1", "x  =  (1)  # why"),
        ("def f():\n  'a'\n  return 1", "def f():\n    return 1"),
        ("'a' 'b'", "'ab'"),
        ("f'a{x}' 'b'", "f'a{x}b'"),
        ("f'{x:}'", "f'{x}'"),
        ("u'a'", "'a'"),
        ("x = 16", "x = 0x10"),
    ],
)
def test_what_means_the_same_has_the_same_text(one: str, other: str) -> None:
    assert text(one) == text(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("x = 1", "x = 1.0"),
        ("x = 1", "x = True"),
        ("x = 'a'", "x = b'a'"),
        ("x = None", "x = 'None'"),
        ("f'{x}'", "'{x}'"),
        ("f'{x!r}'", "f'{x}'"),
        ("f'{x:2}'", "f'{x:3}'"),
        ("assert a", "assert a, b"),
        ("def f(a): pass", "def f(b): pass"),
        ("def f(): pass", "async def f(): pass"),
        ("f(a, b)", "f(b, a)"),
        ("f(*a)", "f(a)"),
        ("{**a}", "{None: a}"),
        ("a < b", "a <= b"),
        ("match a:\n case None: pass", "match a:\n case True: pass"),
    ],
)
def test_what_means_something_else_has_another_text(one: str, other: str) -> None:
    assert text(one) != text(other)
