import shlex
from pathlib import Path

from invertgate.model import PolicySource
from invertgate.one_row import repeat
from invertgate.request import Request
from support.reports import outcome

ROW = outcome(1, path="src/a b.py")
NAME = f"src/a b.py:{ROW.id}"


def test_commands_that_repeat_name_the_row_so_that_only_it_is_meant() -> None:
    run, try_ = repeat(Request(Path()), ROW)

    assert shlex.split(run) == ["invertgate", "run", "--id", NAME]
    assert shlex.split(try_) == ["invertgate", "try", NAME]


def test_commands_that_repeat_keep_what_was_said_beside_the_row() -> None:
    said = {"base": "main", "operator": "negate", "include": ("a", "b"), "locked": False}
    request = Request(Path(), overrides=said | {"table": None, "exclude": ()}, head="HEAD~1")

    run, _ = repeat(request, ROW)

    words = shlex.split(run)
    for part in (["--head", "HEAD~1"], ["--base", "main"], ["--operator", "negate"]):
        assert words[words.index(part[0]) :][:2] == part
    assert words.count("--include") == 2
    assert "--no-locked" in words
    assert not {"--table", "--exclude", "None"} & set(words)


def test_commands_that_repeat_keep_policy_and_paths() -> None:
    request = Request(Path(), paths=("src/a b.py",), policy=PolicySource.HEAD)

    run, _ = repeat(request, ROW)

    assert shlex.split(run)[2:] == ["--policy", "head", "--id", NAME, "src/a b.py"]
