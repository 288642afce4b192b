"""Inverted code is held: what it would do outside does not happen, and proves nothing."""

import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from invertgate.isolation.contain import granted
from invertgate.options import Contain
from support.run import Ended, Invertgate, Place
from support.trees import build, named

needs_namespaces = pytest.mark.skipif(
    granted().level is not Contain.FILES, reason="this machine grants no namespaces"
)


@dataclass(frozen=True, slots=True)
class Outside:
    """What lies outside of the repository, within reach of code that is not held."""

    place: Place
    precious: Path
    listener: socket.socket

    def was_reached(self) -> bool:
        """Tell whether anybody connected."""
        self.listener.settimeout(0)
        try:
            connection, _ = self.listener.accept()
        except BlockingIOError:
            return False
        connection.close()
        return True


@pytest.fixture
def outside(tmp_path: Path) -> Iterator[Outside]:
    place = build(named("reaches_outside"), tmp_path)
    folder = Path(place.environment("")["OUTSIDE"])
    precious = folder / "precious"
    precious.write_text("years of work")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        folder.joinpath("port").write_text(str(listener.getsockname()[1]))
        yield Outside(place, precious, listener)


def judged(invertgate: Invertgate, outside: Outside, *more: str) -> Ended:
    return invertgate(outside.place, "run", "--changed", "--workers", "1", *more)


def said(ended: Ended, line: int, side: str) -> tuple[str | None, str]:
    [row] = [row for row in ended.report.rows if (row.line, row.side) == (line, side)]
    return row.verdict, row.reason


def test_guard_that_is_not_held_deletes_and_connects_and_the_test_is_weak(
    outside: Outside, invertgate: Invertgate
) -> None:
    ended = judged(invertgate, outside, "--contain", "none")

    assert said(ended, 15, "true")[0] == "weak", str(ended)
    assert not outside.precious.exists()
    assert outside.was_reached()


@needs_namespaces
def test_inverted_guard_reaches_nothing_outside_and_tests_that_need_it_are_held_less(
    outside: Outside, invertgate: Invertgate
) -> None:
    ended = judged(invertgate, outside)

    deleting, connecting = said(ended, 8, "true"), said(ended, 15, "true")
    assert (deleting[0], connecting[0]) == ("unproven", "unproven"), str(ended)
    assert f"kept it from removing {outside.precious}" in deleting[1]
    assert "on which somebody outside listens" in connecting[1]
    assert outside.precious.read_text() == "years of work"
    assert not outside.was_reached()
    assert (ended.processes, ended.scratch) == ((), ())
    assert said(ended, 23, "true")[0] == "bound"
    assert said(ended, 31, "true")[0] == "bound"
    assert 'test_size_with_a_log_outside cannot be run under contain = "files"' in ended.said


@needs_namespaces
def test_test_that_only_containment_turns_red_is_not_blamed(
    outside: Outside, invertgate: Invertgate
) -> None:
    ended = judged(invertgate, outside, "--contain", "files")

    verdict, reason = said(ended, 31, "true")
    assert (ended.exit_code, verdict) == (4, "red"), str(ended)
    assert 'the test passes, but not under contain = "files"' in reason
    assert said(ended, 31, "false")[0] == "bound"
