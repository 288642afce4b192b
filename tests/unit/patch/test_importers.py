import pytest

from invertgate.patch.importers import imported_by, mentions_import, stem

IMPORTS = [
    ("test_a.py", "app.py", "import test_a"),
    ("test_a.py", "app.py", "import os, test_a as t"),
    ("pkg/test_a.py", "app.py", "from pkg import test_a"),
    ("pkg/test_a.py", "app.py", "from pkg.test_a import f"),
    ("src/pkg/test_a.py", "app.py", "import pkg.test_a.deeper"),
    ("pkg/test_a.py", "pkg/app.py", "from . import test_a"),
    ("pkg/test_a.py", "pkg/sub/app.py", "from ..test_a import f"),
    ("pkg/tests/__init__.py", "app.py", "from pkg.tests.test_a import f"),
    ("pkg/tests/__init__.py", "pkg/app.py", "from .tests import f"),
    ("pkg/test_a.py", "pkg/app.py", "from . import \\\n    test_a"),
    (
        "pkg/test_a.py",
        "pkg/app.py",
        "def f():\n    try:\n        from . import test_a\n    finally: ...",
    ),
]
NO_IMPORTS = [
    ("test_a.py", "test_a.py", "import test_a"),
    ("pkg/test_a.py", "app.py", "from . import test_a"),
    ("pkg/test_a.py", "app.py", "from ... import test_a"),
    ("pkg/test_a.py", "app.py", "from other import test_a"),
    ("pkg/test_a.py", "app.py", "import test_ab"),
    ("pkg/test_a.py", "app.py", "'import test_a'"),
    ("pkg/test_a.py", "app.py", "import test_a as"),
    ("tests/json.py", "app.py", "import json"),
    ("pkg/test_a.py", "app.py", "import test_a\0"),
]


@pytest.mark.parametrize(("module", "importer", "source"), IMPORTS)
def test_module_is_imported(module: str, importer: str, source: str) -> None:
    assert imported_by([module], {importer: source.encode()}) == {module}
    assert mentions_import(module, source.encode())


@pytest.mark.parametrize(("module", "importer", "source"), NO_IMPORTS)
def test_module_is_not_imported(module: str, importer: str, source: str) -> None:
    assert imported_by([module], {importer: source.encode()}) == set()


def test_escapes_of_the_source_warn_nobody() -> None:
    assert imported_by(["test_a.py"], {"app.py": b"import test_a\n'\\d'\n"}) == {"test_a.py"}


def test_package_is_named_by_its_folder() -> None:
    assert [stem("a/tests/__init__.py"), stem("a/test_b.py"), stem("__init__.py")] == [
        "tests",
        "test_b",
        "__init__",
    ]
