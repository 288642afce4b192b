"""What counts as a change of a claimed test, and what does not."""

import pytest

from invertgate.table.claimed import parts_of
from invertgate.table.lock import changes_since, lock_of
from invertgate.table.sources import Sources, UntraceableError

TEST = """\
import pytest
from shop import price

from helpers import check

LIMIT = 10

def near(found):
    return abs(found - LIMIT) < 1

@pytest.fixture
def cart(db):
    return [db]

@pytest.mark.parametrize("amount", [1, 2])
def test_price(amount, cart):
    check(price(amount))
    assert near(price(amount))

def test_other():
    assert True

class TestCart:
    size = 3

    def setup_method(self):
        self.cart = []

    @pytest.fixture
    def inner(self):
        return 1

    def test_size(self, inner):
        assert self.size == 3

    def test_else(self):
        assert True
"""
CONFTEST = """\
import pytest

@pytest.fixture
def db():
    return 1

@pytest.fixture
def unrelated():
    return 2
"""
HELPERS = """\
def check(found):
    assert found

def other(found):
    assert found
"""
FILES = {
    "tests/test_price.py": TEST,
    "tests/conftest.py": CONFTEST,
    "tests/helpers.py": HELPERS,
    "shop.py": "def price(amount):\n    return amount\n",
}
PRICE = "tests/test_price.py::test_price[1]"
SIZE = "tests/test_price.py::TestCart::test_size"


def parts(test: str, files: dict[str, str]) -> dict[str, str]:
    sources = {path: text.encode() for path, text in files.items()}
    return parts_of(test, Sources(sources.get, ""))


def edited(path: str, old: str, new: str) -> dict[str, str]:
    assert old in FILES[path]
    return {**FILES, path: FILES[path].replace(old, new, 1)}


def what_changed(test: str, files: dict[str, str]) -> str:
    told = changes_since(lock_of(parts(test, FILES)), parts(test, files))
    return told.removeprefix("the claimed test changed since it was locked: ")


HERE = "tests/test_price.py"
ABOVE = "tests/conftest.py"


@pytest.mark.parametrize(
    ("test", "path", "old", "new", "told"),
    [
        (PRICE, HERE, "assert near(price(amount))", "assert True", "its body"),
        (PRICE, HERE, "[1, 2]", "[1]", "its decorators"),
        (PRICE, HERE, "@pytest.mark.p", "@pytest.mark.skip\n@pytest.mark.p", "its decorators"),
        (PRICE, HERE, "(amount, cart)", "(amount, cart, n=1)", "its parameters"),
        (PRICE, HERE, "return [db]", "return []", f"fixture cart in {HERE}"),
        (PRICE, ABOVE, "return 1", "return 7", f"fixture db in {ABOVE}"),
        (PRICE, HERE, "< 1", "< 100", f"near in {HERE}"),
        (PRICE, HERE, "LIMIT = 10", "LIMIT = 99", f"LIMIT in {HERE}"),
        (PRICE, "tests/helpers.py", "assert found", "pass", "check in tests/helpers.py"),
        (PRICE, HERE, "from shop import", "from fake import", f"the import of price in {HERE}"),
        (
            PRICE,
            ABOVE,
            "import pytest\n",
            "import pytest\ndef pytest_runtest_call(item): item.obj = print\n",
            f"pytest_runtest_call in {ABOVE} (new)",
        ),
        (
            PRICE,
            ABOVE,
            "@pytest.fixture\ndef unrelated",
            "@pytest.fixture(autouse=True)\ndef unrelated",
            f"fixture unrelated in {ABOVE} (new)",
        ),
        (
            PRICE,
            HERE,
            "LIMIT = 10",
            "LIMIT = 10\npytestmark = pytest.mark.xfail",
            f"pytestmark in {HERE} (new)",
        ),
        (
            PRICE,
            HERE,
            "LIMIT = 10",
            "LIMIT = 10\nprice.__code__ = near.__code__",
            f"statements outside of functions in {HERE} (new)",
        ),
        (SIZE, HERE, "self.size == 3", "True", "its body"),
        (SIZE, HERE, "size = 3", "size = 4", f"class TestCart in {HERE}"),
        (SIZE, HERE, "class TestC", "@pytest.mark.skip\nclass TestC", f"class TestCart in {HERE}"),
        (SIZE, HERE, "self.cart = []", "self.cart = 1", f"class TestCart in {HERE}"),
        (SIZE, HERE, "        return 1", "        return 2", f"fixture TestCart.inner in {HERE}"),
    ],
)  # fmt: skip
def test_an_edit_is_named(test: str, path: str, old: str, new: str, told: str) -> None:
    assert what_changed(test, edited(path, old, new)) == told


@pytest.mark.parametrize(
    ("test", "path", "old", "new"),
    [
        (PRICE, HERE, "    assert near", "    # a word\n\n    assert   near"),
        (PRICE, HERE, "    check(", '    """Say."""\n    check('),
        (PRICE, HERE, "assert near(price(amount))", "assert near(price(\n        amount,\n    ))"),
        (PRICE, HERE, "def test_other():\n    assert True", "def test_new():\n    pass"),
        (PRICE, HERE, "self.size == 3", "True"),
        (PRICE, ABOVE, "return 2", "return 3"),
        (PRICE, ABOVE, "@pytest.fixture\ndef unr", "@pytest.fixture\ndef more(): pass\ndef unr"),
        (PRICE, "shop.py", "return amount", "return amount + 1"),
        (PRICE, "tests/helpers.py", "def other(found):\n    assert found", ""),
        (SIZE, HERE, "    def test_else(self):\n        assert True\n", ""),
        (SIZE, HERE, "assert near(price(amount))", "pass"),
    ],
)
def test_what_does_not_change_the_test_is_none(test: str, path: str, old: str, new: str) -> None:
    assert what_changed(test, edited(path, old, new)) == ""


def test_a_conftest_that_is_added_above_counts_if_its_fixtures_come_by_themselves() -> None:
    added = "import pytest\n@pytest.fixture(autouse=True)\ndef lax(): pass\n"

    assert (
        what_changed(PRICE, {**FILES, "conftest.py": added}) == "fixture lax in conftest.py (new)"
    )
    assert what_changed(PRICE, {**FILES, "conftest.py": "X = 1\n"}) == ""


def test_a_fixture_that_overrides_one_further_up_leads_to_it() -> None:
    files = edited(
        HERE, "def cart(db):", "def db(db):\n    return db\n@pytest.fixture\ndef cart(db):"
    )

    names = parts(PRICE, files)

    assert {f"fixture db in {HERE}", f"fixture db in {ABOVE}"} <= names.keys()


@pytest.mark.parametrize(
    ("mark", "asked"),
    [
        ("@pytest.mark.usefixtures('unrelated')\ndef test_other():\n    assert True", "unrelated"),
        ("def test_other(request):\n    request.getfixturevalue('unrelated')", "unrelated"),
    ],
)
def test_fixtures_that_are_asked_for_by_text_count(mark: str, asked: str) -> None:
    files = edited(HERE, "def test_other():\n    assert True", mark)

    assert f"fixture {asked} in {ABOVE}" in parts("tests/test_price.py::test_other", files)


def test_fixtures_of_plugins_that_a_conftest_names_count() -> None:
    files = {
        **edited(ABOVE, "@pytest.fixture\ndef db():\n    return 1\n", ""),
        "tests/plugin.py": "import pytest\n@pytest.fixture\ndef db(): return 1\n",
    }
    files[ABOVE] += "pytest_plugins = ['tests.plugin']\n"

    assert "fixture db in tests/plugin.py" in parts(PRICE, files)


def test_a_test_that_is_inherited_is_found_in_its_base_class() -> None:
    files = {
        "tests/base.py": "class Base:\n    def test_it(self):\n        assert True\n",
        "tests/test_it.py": "from base import Base\nclass TestIt(Base):\n    pass\n",
    }
    changed = {**files, "tests/base.py": files["tests/base.py"].replace("True", "1")}

    before, after = (parts("tests/test_it.py::TestIt::test_it", one) for one in (files, changed))

    assert before["its body"] != after["its body"]


def test_a_test_of_a_nested_class_is_found() -> None:
    files = {"test_a.py": "class TestA:\n    class TestB:\n        def test_c(self): pass\n"}

    found = parts("test_a.py::TestA::TestB::test_c", files)

    assert {"class TestA in test_a.py", "class TestB in test_a.py"} <= found.keys()


def test_paths_are_relative_to_the_project() -> None:
    sources = {"svc/test_a.py": b"def test_a(): pass\n"}

    assert "its body" in parts_of("test_a.py::test_a", Sources(sources.get, "svc"))


@pytest.mark.parametrize(
    ("test", "files", "why"),
    [
        ("test_a.py::test_a", {}, "there is no test_a.py"),
        ("test_a.py::test_a", {"test_a.py": "x = 1\n"}, "test_a.py defines no test_a"),
        ("test_a.py::T::test_a", {"test_a.py": "x = 1\n"}, "test_a.py defines no class T"),
        ("test_a.py::test_a", {"test_a.py": "def\n"}, "test_a.py does not parse"),
    ],
)
def test_what_is_not_there_is_named(test: str, files: dict[str, str], why: str) -> None:
    with pytest.raises(UntraceableError, match=why):
        parts(test, files)


def test_names_that_lead_in_a_circle_have_an_end() -> None:
    files = {
        "test_a.py": "from test_b import *\nfrom test_b import f\nclass A(A): pass\n"
        "def test_a(): f(); A()\ndef g(): f()\n",
        "test_b.py": "from test_a import *\nfrom test_a import g\ndef f(): g()\n",
    }

    assert "f in test_b.py" in parts("test_a.py::test_a", files)
