import re
import shlex
from collections.abc import Iterator

import click
import pytest

from invertgate.cli import Installed, command_line, perform

WIDTHS = (40, 80, 200)


def leaves(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for name in group.list_commands(click.Context(group)):
        command = group.commands[name]
        if isinstance(command, click.Group):
            yield from leaves(command, (*path, name))
        else:
            yield (*path, name)


LEAVES = sorted(leaves(command_line))


def page(*words: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert perform([*words, "--help"], Installed()) == 0
    return capsys.readouterr().out


def shown_examples(text: str) -> list[str]:
    _, _, below = text.partition("Examples:\n")
    return re.findall(r"^ +(invertgate .*?)(?:  .*)?$", below, re.MULTILINE)


@pytest.mark.parametrize("words", LEAVES, ids=" ".join)
def test_each_page_has_examples_that_the_command_line_understands(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    found = shown_examples(page(*words, capsys=capsys))

    assert found
    for example in found:
        argv = shlex.split(re.split(r" (?:>>?|\|) ", example)[0])[1:]
        action = command_line.main(argv, standalone_mode=False, obj=tuple(argv))
        assert callable(action), example


def test_each_command_has_a_line_that_is_not_cut_off(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")

    text = page(capsys=capsys)

    lines = {line.split()[0]: line for line in text.splitlines() if line.startswith("  ")}
    assert set(command_line.commands) <= set(lines)
    assert [name for name in command_line.commands if lines[name].endswith("...")] == []


def test_options_of_the_configuration_stand_apart(capsys: pytest.CaptureFixture[str]) -> None:
    text = page("run", capsys=capsys)

    plain, _, rest = text.partition("What is shown and written:")
    shown, _, keys = rest.partition("Options that [tool.invertgate] may hold too:")
    assert "--changed" in plain
    assert "--json" in shown
    assert "--workers" in keys


@pytest.mark.parametrize("width", WIDTHS)
def test_pages_fit_the_terminal(
    width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))

    text = page("run", capsys=capsys).partition("Examples:")[0]

    # one word, be it longer than the line, is never broken
    long = [line for line in text.splitlines() if len(line) > max(width, 50)]
    assert long == []
