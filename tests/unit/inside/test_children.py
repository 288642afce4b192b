import pytest

from invertgate.inside.children import ignores


@pytest.mark.parametrize(
    "options",
    [["-I", "x.py"], ["-E", "-m", "pkg"], ["-S"], ["-uIc", "pass"], ["-W", "error", "-I", "x"]],
)
def test_options_that_keep_sitecustomize_away(options: list[str]) -> None:
    assert ignores(options)


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["x.py", "-I"],
        ["-m", "pkg", "-E"],
        ["-c", "print('-I')", "-I"],
        ["-W", "-I", "x.py"],
        ["-Wignore::I", "x.py"],
        ["-X", "dev", "x.py"],
        ["-", "-I"],
        ["--version"],
        ["-u", "-B", "-s"],
    ],
)
def test_options_that_do_not(options: list[str]) -> None:
    assert not ignores(options)
