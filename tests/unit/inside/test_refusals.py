import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from invertgate.inside import switch
from invertgate.inside.refusals import LISTENING, mark_of, watcher

Call = tuple[object, ...]


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    folder = tmp_path.resolve() / "scratch"
    folder.mkdir()
    (folder / LISTENING).write_text("5432")
    return folder


@pytest.fixture
def board(scratch: Path) -> Iterator[switch.Board]:
    before = switch.SWITCH.board
    switch.SWITCH.board = switch.Board(str(scratch / "board"), 0, 0)
    yield switch.SWITCH.board
    switch.SWITCH.board = before


def refused(board: switch.Board, scratch: Path, event: str, *arguments: object) -> str:
    watch = watcher("files", str(scratch))
    assert watch is not None
    watch(event, arguments)
    return switch.refused_in(board.content())


def test_nothing_is_watched_where_nothing_is_held(scratch: Path) -> None:
    assert watcher("", str(scratch)) is None


@pytest.mark.parametrize(
    ("event", "arguments"),
    [
        ("open", ("{outside}/new", "w", os.O_WRONLY | os.O_CREAT)),
        ("open", ("{outside}/there", "r+", os.O_RDWR)),
        ("open", ("{scratch}/link", "a", os.O_WRONLY | os.O_APPEND)),
        ("os.remove", ("{outside}/there", -1)),
        ("os.remove", ("{outside}/nothing", -1)),
        ("os.rmdir", (b"{outside}/folder", -1)),
        ("os.mkdir", ("{outside}/new", 0o777, -1)),
        ("os.rename", ("{scratch}/mine", "{outside}/new", -1, -1)),
        ("os.symlink", ("x", "{outside}/new", -1)),
        ("os.link", ("{scratch}/mine", "{outside}/new", -1, -1)),
        ("os.chmod", ("{scratch}/link", 0o600, -1)),
        ("os.truncate", ("{outside}/there", 0)),
        ("os.utime", ("{outside}/there", None, None, -1)),
    ],
)
def test_changes_outside_are_noted(
    event: str, arguments: Call, scratch: Path, board: switch.Board
) -> None:
    outside = furnish(scratch)

    assert str(outside) in refused(board, scratch, event, *filled(arguments, scratch, outside))


@pytest.mark.parametrize(
    ("event", "arguments"),
    [
        ("open", ("{outside}/there", "r", os.O_RDONLY)),
        ("open", ("{scratch}/new", "w", os.O_WRONLY | os.O_CREAT)),
        ("open", ("{outside}/nowhere/new", "w", os.O_WRONLY | os.O_CREAT)),
        ("open", ("/dev/null", "w", os.O_WRONLY)),
        ("os.mkdir", ("{outside}/__pycache__", 0o777, -1)),
        ("open", ("{outside}/folder/__pycache__/a.cpython-312.pyc.77", None, os.O_CREAT)),
        ("open", (3, "w", os.O_WRONLY)),
        ("os.remove", ("{scratch}/link", -1)),
        ("os.remove", ("{outside}/nowhere/nothing", -1)),
        ("os.mkdir", ("{outside}/folder", 0o777, -1)),
        ("os.truncate", (3, 0)),
        ("os.remove", (None, -1)),
        ("os.listdir", ("{outside}",)),
    ],
)
def test_what_is_not_refused_is_not_noted(
    event: str, arguments: Call, scratch: Path, board: switch.Board
) -> None:
    outside = furnish(scratch)

    assert refused(board, scratch, event, *filled(arguments, scratch, outside)) == ""


def test_path_below_an_open_folder_is_followed(scratch: Path, board: switch.Board) -> None:
    outside = furnish(scratch)
    folder = os.open(outside, os.O_RDONLY)

    said = refused(board, scratch, "os.remove", "there", folder)

    os.close(folder)
    assert said == f"removing {outside / 'there'}"


@pytest.mark.parametrize(
    ("event", "address", "words"),
    [
        ("socket.connect", ("192.0.2.1", 80), "reaching 192.0.2.1 port 80"),
        ("socket.connect", ("127.0.0.1", 5432), "reaching port 5432, on which somebody outside"),
        ("socket.sendto", ("192.0.2.1", 53), "reaching 192.0.2.1 port 53"),
        ("socket.bind", ("192.0.2.1", 80), "listening on 192.0.2.1"),
        ("socket.connect", ("127.0.0.1", 5433), ""),
        ("socket.bind", ("", 0), ""),
        ("socket.sendmsg", None, ""),
    ],
)
def test_sockets_to_the_outside_are_noted(
    event: str, address: object, words: str, scratch: Path, board: switch.Board
) -> None:
    with socket.socket() as any_socket:
        said = refused(board, scratch, event, any_socket, address)

    assert said.startswith(words)
    assert bool(said) == bool(words)


def test_names_that_only_a_server_knows_are_noted(scratch: Path, board: switch.Board) -> None:
    calm = [
        refused(board, scratch, "socket.getaddrinfo", host, 80, 0, 0, 0)
        for host in (None, "localhost", "127.0.0.1", "::1")
    ]
    said = refused(board, scratch, "socket.getaddrinfo", "shop.example", 80, 0, 0, 0)

    assert calm == [""] * 4
    assert said == "asking for the address of shop.example"


def test_first_refusal_is_kept(scratch: Path, board: switch.Board) -> None:
    refused(board, scratch, "socket.getaddrinfo", "first.example", 80, 0, 0, 0)

    assert "first" in refused(board, scratch, "socket.getaddrinfo", "second.example", 80, 0, 0, 0)


def test_commands_differ_by_what_they_touch_outside_only(scratch: Path) -> None:
    inside = [mark_of(["rm", f"{scratch}/tmp/{name}"], str(scratch)) for name in ("a", "b")]
    outside = [mark_of(["rm", f"/srv/{name}"], str(scratch)) for name in ("a", "b")]

    assert inside[0] == inside[1]
    assert len({*inside, *outside}) == 3


def furnish(scratch: Path) -> Path:
    outside = scratch.parent / "outside"
    (outside / "folder" / "__pycache__").mkdir(parents=True)
    (outside / "there").touch()
    (scratch / "mine").touch()
    (scratch / "link").symlink_to(outside / "there")
    return outside


def filled(arguments: Call, scratch: Path, outside: Path) -> Call:
    return tuple(_filled(each, str(scratch), str(outside)) for each in arguments)


def _filled(argument: object, scratch: str, outside: str) -> object:
    if isinstance(argument, bytes):
        return os.fsencode(str(_filled(os.fsdecode(argument), scratch, outside)))
    if isinstance(argument, str):
        return argument.replace("{scratch}", scratch).replace("{outside}", outside)
    return argument
