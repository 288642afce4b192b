import pytest

from invertgate.inside.children import ignores, is_lost


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


@pytest.mark.parametrize(
    "words",
    [
        ["env", "-i", "python3", "x.py"],
        ["env", "-", "python"],
        ["/usr/bin/env", "-u", "PYTHONPATH", "python"],
        ["sudo", "python3.12", "-m", "pkg"],
        ["sh", "-c", "cd", ".", "python", "-S", "x.py"],
        ["/opt/bin/python3", "-I", "x.py"],
    ],
)
def test_python_without_our_environment_is_lost(words: list[str]) -> None:
    assert is_lost(words)


@pytest.mark.parametrize(
    "words", [["env", "python3"], ["python3", "x.py"], ["git", "-I"], ["env", "-i", "ls"], []]
)
def test_other_programs_are_not(words: list[str]) -> None:
    assert not is_lost(words)
