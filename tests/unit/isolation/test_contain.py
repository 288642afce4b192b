import os
import socket
import sys
from pathlib import Path

import pytest

from invertgate import process
from invertgate.isolation.contain import Granted, NotGrantedError, granted, held, launcher
from invertgate.options import Contain

ALL = Granted(Contain.FILES)
NOTHING = Granted(Contain.NONE, "unshare: Operation not permitted; allow user namespaces")

needs_namespaces = pytest.mark.skipif(
    granted().level is not Contain.FILES, reason="this machine grants no namespaces"
)


def under(level: Contain, scratch: Path, code: str) -> str:
    """Run Python code in a held process, and return what it prints or complains of."""
    argv = [*launcher(level, scratch), sys.executable, "-c", code]
    done = process.run(argv, cwd=scratch)
    return (done.stdout + done.stderr).decode().strip()


def test_nothing_is_started_before_code_that_is_not_held(tmp_path: Path) -> None:
    assert launcher(Contain.NONE, tmp_path) == ()


def test_auto_takes_the_strongest_and_may_fall_back_test_by_test() -> None:
    assert held(Contain.AUTO, lambda: ALL).levels == (Contain.FILES, Contain.NETWORK, Contain.NONE)


def test_auto_goes_on_where_nothing_is_granted_and_says_why() -> None:
    how = held(Contain.AUTO, lambda: NOTHING)

    assert how.levels == (Contain.NONE,)
    assert "kept neither from the network nor from files" in how.note
    assert "allow user namespaces" in how.note


def test_level_that_was_asked_for_holds_everything_and_does_not_fall_back() -> None:
    how = held(Contain.NETWORK, lambda: ALL)

    assert (how.levels, how.always) == ((Contain.NETWORK,), Contain.NETWORK)


def test_level_that_was_asked_for_and_is_not_granted_is_an_error_with_the_cure() -> None:
    with pytest.raises(
        NotGrantedError, match=r'"files" is not granted here.*allow user namespaces'
    ):
        held(Contain.FILES, lambda: NOTHING)


def test_none_asks_the_machine_nothing() -> None:
    def never() -> Granted:
        raise AssertionError

    assert held(Contain.NONE, never).levels == (Contain.NONE,)


@needs_namespaces
def test_everything_outside_of_the_folder_is_read_only(tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    code = """
import os, tempfile
open("mine", "w").close()
open("/dev/null", "w").close()
open("/dev/shm/mine", "w").close()
try:
    open("../outside", "w")
except OSError as error:
    print(error.strerror)
"""

    assert under(Contain.FILES, scratch, code) == "Read-only file system"
    assert (scratch / "mine").exists()
    assert not (tmp_path / "outside").exists()
    assert not Path("/dev/shm/mine").exists()


@needs_namespaces
def test_containment_cannot_be_undone_from_within(tmp_path: Path) -> None:
    code = """
import ctypes
libc = ctypes.CDLL(None)
print(libc.mount(None, b"/", None, 0x1020, None), libc.umount(b"/proc/sys"))
libc.unshare(0x10020000)
print(libc.mount(None, b"/", None, 0x1020, None))
"""

    assert under(Contain.FILES, tmp_path, code).split() == ["-1", "-1", "-1"]


@needs_namespaces
def test_only_a_loopback_of_its_own_is_left_of_the_network(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        code = f"""
import socket
with socket.create_server(("127.0.0.1", 0)) as server:
    socket.create_connection(server.getsockname()).close()
for address in (("127.0.0.1", {listener.getsockname()[1]}), ("192.0.2.1", 80)):
    try:
        socket.create_connection(address, 5)
    except OSError as error:
        print(error.strerror)
"""

        said = under(Contain.NETWORK, tmp_path, code)

    assert said.splitlines() == ["Connection refused", "Network is unreachable"]


@needs_namespaces
def test_user_and_processes_stay_what_they_are(tmp_path: Path) -> None:
    code = f"import os; print(os.getuid(), os.getgid(), os.path.exists('/proc/{os.getpid()}/stat'))"

    assert under(Contain.FILES, tmp_path, code) == f"{os.getuid()} {os.getgid()} True"


@needs_namespaces
def test_held_process_is_found_and_ended_from_outside(tmp_path: Path) -> None:
    argv = [*launcher(Contain.FILES, tmp_path), sys.executable, "-c", "import time; time.sleep(60)"]

    with process.running(argv, env={**os.environ, "A_MARK": str(tmp_path)}) as held_process:
        while not (tmp_path / "listening").exists():
            assert held_process.poll() is None
        process.end_marked("A_MARK", str(tmp_path))

        assert held_process.wait(10) < 0
