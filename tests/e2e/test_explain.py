"""`explain` and `try` on the repository of a fixture tree, as a person calls them."""

import json
import os
import pty
import select
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.run import COMMAND, PATIENCE, Ended, Invertgate, Place
from support.trees import fingerprint

PRICES = "shop/prices.py"


def told(ended: Ended) -> Any:  # noqa: ANN401
    assert ended.exit_code == 0, str(ended)
    return json.loads(ended.stdout)


def identity(place: Place, invertgate: Invertgate, line: int, side: str) -> str:
    listed = invertgate(place, "run", "--list", "--json")
    rows = json.loads(listed.stdout)["rows"]
    [row] = [each for each in rows if (each["line"], each["side"]) == (line, side)]
    return str(row["id"])


def test_explain_tells_all_of_a_row_and_touches_nothing(
    repo: Callable[[str], Place], invertgate: Invertgate
) -> None:
    place = repo("demo")
    row = identity(place, invertgate, 9, "false")
    before = fingerprint(place.top)

    ended = invertgate(place, "explain", row[:6], "--json", "--workers", "1")

    explained = told(ended)
    kept = explained["row"]
    assert kept["verdict"] == "unreached"
    assert kept["advice"][0].startswith("`tests/test_orders.py::test_")
    assert "the test takes the true side only" in kept["advice"][1]
    assert [each["noticed"] for each in explained["others"]] == ["kills", "kills"]
    assert kept["passes_on_base"] is False
    assert f"invertgate run --workers 1 --id shop/orders.py:{row}" in explained["repeat"]
    assert fingerprint(place.top) == before
    assert (ended.processes, ended.scratch) == ((), ())


def test_explain_shows_source_mutant_runs_and_advice(
    repo: Callable[[str], Place], invertgate: Invertgate
) -> None:
    place = repo("advice")
    row = identity(place, invertgate, 2, "true")

    ended = invertgate(place, "explain", row, "--others", "0", "--no-base")

    assert ended.exit_code == 0, str(ended)
    for part in (
        "> 2      if items is None:",
        "+    if items is None and False:",
        "inverted stayed green",
        "advice: line 11 of the test expects `Exception`, and any error satisfies it",
        f"again: invertgate try {PRICES}:{row}",
    ):
        assert part in ended.stdout, str(ended)


def test_mutant_of_explain_is_applied_by_git(
    repo: Callable[[str], Place], invertgate: Invertgate
) -> None:
    place = repo("latin1_and_crlf")
    listed = json.loads(invertgate(place, "run", "--list", "--json").stdout)["rows"]
    for row in listed:
        diff = subprocess.run(
            [str(COMMAND), "explain", f"{row['path']}:{row['id']}", "--diff"],
            cwd=place.top,
            env=place.environment("diff"),
            capture_output=True,
            check=True,
        )
        subprocess.run(
            ["git", "apply", "--check", "-"],  # noqa: S607
            cwd=place.top,
            env=place.environment("diff"),
            input=diff.stdout,
            check=True,
        )
    assert listed


def test_unknown_and_left_over_ids_are_refused(
    repo: Callable[[str], Place], invertgate: Invertgate
) -> None:
    place = repo("leftover_row")
    listed = json.loads(invertgate(place, "run", "--list", "--json").stdout)["rows"]
    gone = next(row["id"] for row in listed if row["verdict"] == "leftover")

    unknown = invertgate(place, "explain", "0" * 12)
    left_over = invertgate(place, "explain", gone)

    assert unknown.exit_code == left_over.exit_code == 2
    assert "no new outcome is 000000000000" in unknown.stderr
    assert "branch_rows.json has a row for it" in left_over.stderr


def test_explain_of_a_verdict_says_what_it_means(
    repo: Callable[[str], Place], invertgate: Invertgate
) -> None:
    ended = invertgate(repo("advice"), "explain", "weak")

    assert ended.stdout.startswith("weak: the test stays green")


@pytest.mark.parametrize(
    ("test", "code", "said"),
    [
        ("", 1, "the test stayed green on the inverted outcome"),
        ("tests/test_prices.py::test_rebate", 0, "assert 5 == 3"),
        ("tests/test_prices.py::test_none", 2, "pytest collects no test"),
    ],
)
def test_try_ends_by_what_the_test_says(
    repo: Callable[[str], Place], invertgate: Invertgate, test: str, code: int, said: str
) -> None:
    place = repo("advice")
    row = identity(place, invertgate, 5, "true")
    before = fingerprint(place.top)

    ended = invertgate(place, "try", row[:6], *(("--test", test) if test else ()))

    assert ended.exit_code == code, str(ended)
    assert said in ended.said, str(ended)
    assert fingerprint(place.top) == before
    assert (ended.processes, ended.scratch) == ((), ())


def test_try_of_a_test_that_is_red_anyway_says_so(
    repo: Callable[[str], Place], invertgate: Invertgate
) -> None:
    place = repo("advice")
    row = identity(place, invertgate, 5, "true")
    Path(place.top, "tests", "test_red.py").write_text("def test_red():\n    assert 0\n")

    ended = invertgate(place, "try", row, "--test", "tests/test_red.py::test_red")

    assert ended.exit_code == 4, str(ended)
    assert "the test does not pass although nothing is inverted" in ended.stdout


def test_try_finds_the_test_that_claims_by_a_marker(
    repo: Callable[[str], Place], invertgate: Invertgate
) -> None:
    place = repo("marker_claims")
    row = identity(place, invertgate, 2, "true")

    ended = invertgate(place, "try", row)

    assert ended.exit_code == 0, str(ended)


def test_try_pdb_has_the_terminal(repo: Callable[[str], Place], invertgate: Invertgate) -> None:
    place = repo("advice")
    row = identity(place, invertgate, 5, "true")
    test = "tests/test_prices.py::test_rebate"

    said, code = at_terminal(place, ("try", row, "--test", test, "--pdb"), b"p 6 * 7\nq\n")

    assert b"42" in said, said.decode()
    assert code == 0, said.decode()


def at_terminal(place: Place, args: tuple[str, ...], typed: bytes) -> tuple[bytes, int]:
    """Run the command at a terminal, and type something when the debugger asks."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [str(COMMAND), *args],
        cwd=place.top,
        env={**place.environment("pdb"), "TERM": "dumb"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    said, end = b"", time.monotonic() + PATIENCE
    try:
        while time.monotonic() < end:
            if not select.select([ours], [], [], 1)[0]:
                continue
            try:
                piece = os.read(ours, 4096)
            except OSError:  # the other end is closed
                break
            said += piece
            if b"(Pdb)" in said and typed:
                os.write(ours, typed)
                typed = b""
        return said, process.wait(timeout=PATIENCE)
    finally:
        process.kill()
        os.close(ours)
