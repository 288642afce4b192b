import pytest

from invertgate.model import ChangedFile
from invertgate.outcomes.alike import ends_alike
from invertgate.outcomes.identity import new_outcomes


def is_alike(body: str) -> bool:
    source = f"def f(a, b):\n{body}".encode()
    file = ChangedFile("a.py", None, None, source, frozenset())
    first = new_outcomes([file]).outcomes[0]
    return ends_alike(first, source)


@pytest.mark.parametrize(
    "body",
    [
        " if a:\n  return b\n return b\n",
        " if a:\n  return\n",
        " if a:\n  return None\n return\n",
        " if a:\n  return None\n",
        " if a:\n  g()\n  return b\n g()\n return b\n",
        " if a:\n  pass\n return b\n",
        " if a:\n  return b\n else:\n  return b\n",
        " if a:\n  raise b\n raise b\n",
    ],
)
def test_sides_that_lead_to_the_same_end_alike(body: str) -> None:
    assert is_alike(body)


@pytest.mark.parametrize(
    "body",
    [
        " if a:\n  return b\n return a\n",
        " if a:\n  g()\n return b\n",
        " if a:\n  return b\n",
        " for c in b:\n  if a:\n   return 1\n return 1\n",
        " try:\n  if a:\n   return 1\n  return 1\n finally:\n  g()\n",
        " if a:\n  b = 1\n return b\n",
        " while b:\n  if a:\n   continue\n  g()\n",
    ],
)
def test_sides_that_differ_or_cannot_be_told_do_not(body: str) -> None:
    assert not is_alike(body)


def test_nested_test_is_followed_to_the_end_of_its_function() -> None:
    source = b"def f(a, b):\n if b:\n  if a:\n   return 1\n return 1\n"
    file = ChangedFile("a.py", None, None, source, frozenset())
    inner = [each for each in new_outcomes([file]).outcomes if each.predicate == "a"]

    assert all(ends_alike(each, source) for each in inner)


def test_module_has_no_end_that_could_be_told() -> None:
    source = b"if a:\n b = 1\n"
    file = ChangedFile("a.py", None, None, source, frozenset())

    assert not ends_alike(new_outcomes([file]).outcomes[0], source)
