import pytest

from invertgate.patch.globs import first_match

MATCH = [
    ("**/*.py", "a.py"),
    ("**/*.py", "a/b/c.py"),
    ("*.py", "a/b/c.py"),
    ("build/", "build/x.py"),
    ("build/", "a/build/b/x.py"),
    ("build", "a/build/b/x.py"),
    ("src/gen", "src/gen/x.py"),
    ("src/gen/", "src/gen/x.py"),
    ("/gen", "gen/x.py"),
    ("src/*_pb2.py", "src/a_pb2.py"),
    ("src/**", "src/a/b.py"),
    ("src/**/b.py", "src/b.py"),
    ("src/**/b.py", "src/x/y/b.py"),
    ("a?c.py", "abc.py"),
    ("[ab].py", "b.py"),
    ("[!ab].py", "c.py"),
    ("[]].py", "].py"),
    ("a[.py", "a[.py"),
    ("*", "a/b.py"),
    ("a+b(1).py", "a+b(1).py"),
    ("**.py", "a/b.py"),
    ("naïve/", "naïve/x.py"),
    ("new*line.py", "new\nline.py"),
]
NO_MATCH = [
    ("build/", "mybuild/x.py"),
    ("build/", "build.py"),
    ("build", "rebuild/x.py"),
    ("src/gen", "other/src/gen/x.py"),
    ("/gen", "src/gen/x.py"),
    ("src/*.py", "src/a/b.py"),
    ("a?c.py", "a/c.py"),
    ("a[!b]c.py", "a/c.py"),
    ("[!ab].py", "a.py"),
    ("src/**", "src"),
    ("*.py", "a.pyi"),
    ("A.py", "a.py"),
    ("a.py", "aXpy"),
]


@pytest.mark.parametrize(("glob", "path"), MATCH)
def test_glob_matches(glob: str, path: str) -> None:
    assert first_match(path, ["nothing", glob, "**"]) == glob


@pytest.mark.parametrize(("glob", "path"), NO_MATCH)
def test_glob_does_not_match(glob: str, path: str) -> None:
    assert first_match(path, [glob]) is None


def test_no_glob_matches_nothing() -> None:
    assert first_match("a.py", []) is None
