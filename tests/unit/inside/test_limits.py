import os
import subprocess
import sys
import threading
import time
from contextlib import closing

import pytest

from invertgate.inside.limits import Children, Usage, kill_below, usage_below

SLEEP = [sys.executable, "-c", "import time; time.sleep(60)"]


def test_children_are_told_while_they_are_there() -> None:
    with closing(Children(os.getpid())) as children:
        before = set(children.now())

        with subprocess.Popen(SLEEP) as process:
            during = set(children.now())
            process.kill()

        assert during - before == {process.pid}
        assert set(children.now()) == before


def test_child_of_a_thread_is_a_child_too() -> None:
    started: list[subprocess.Popen[bytes]] = []
    ready, over = threading.Event(), threading.Event()

    def start() -> None:
        started.append(subprocess.Popen(SLEEP))
        ready.set()
        over.wait()

    thread = threading.Thread(target=start)
    thread.start()
    ready.wait()
    with closing(Children(os.getpid())) as children:
        told = children.now()
    over.set()
    started[0].kill()
    started[0].wait()
    thread.join()

    assert started[0].pid in told


def test_process_that_is_gone_has_no_children() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()

    with closing(Children(process.pid)) as children:
        assert children.now() == []


@pytest.mark.skipif(sys.platform != "linux", reason="orphans go to process 1 elsewhere")
def test_all_below_another_process_are_killed() -> None:
    code = f"import subprocess; print(subprocess.Popen({SLEEP!r}).pid, flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        child = int(process.stdout.readline())

        kill_below(process.pid)

        assert _state(child) in ("Z", "")
        process.communicate("\n")


def _state(pid: int) -> str:
    time.sleep(0.01)
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:  # noqa: PTH123
            return file.read().rsplit(")", 1)[1].split()[0]
    except OSError:
        return ""


def test_usage_below_is_that_of_grandchildren_and_of_ended_ones_too() -> None:
    busy = "import time\nwhile time.process_time() < 0.3: pass"
    large = "held = bytearray(64 << 20); print(flush=True); input()"
    code = (
        "import subprocess, sys\n"
        f"subprocess.run([sys.executable, '-c', {busy!r}])\n"
        f"subprocess.run([sys.executable, '-c', {large!r}])\n"
    )
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()

        used = usage_below(os.getpid())

        process.communicate(b"\n")

    assert used.cpu >= 0.3
    assert used.memory > 64 << 20


def test_nothing_is_used_below_a_process_that_is_gone() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()

    assert usage_below(process.pid) == Usage(0.0, 0)
