"""Processes are run, started and ended, with all that they started."""

import os
import signal
import sys
import time
from pathlib import Path
from subprocess import TimeoutExpired

import psutil
import pytest

from invertgate.process import Completed, Cut, ask, end_tree, run, running, start, tree

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="sessions are POSIX")

STUBBORN = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); {} time.sleep(60)"
TELL = "open({!r}, 'a').write(f'{{__import__(\"os\").getpid()}}\\n');"


def wait_for(path: Path, lines: int) -> list[int]:
    """Wait until processes have written their numbers."""
    end = time.monotonic() + 20
    while time.monotonic() < end:
        text = path.read_text(encoding="ascii") if path.exists() else ""
        if text.count("\n") == lines:
            return [int(line) for line in text.splitlines()]
        time.sleep(0.01)
    pytest.fail(f"{path} has not {lines} lines")


def gone(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def test_run_tells_code_output_and_errors() -> None:
    script = "import sys; print(input()); print('oh', file=sys.stderr); sys.exit(3)"

    done = run([sys.executable, "-c", script], input=b"hello\n")

    assert done == Completed(3, b"hello\n", b"oh\n")


def test_run_gives_exactly_the_environment_and_folder_that_it_is_told(tmp_path: Path) -> None:
    script = "import os; print(os.environ.get('A'), os.environ.get('HOME'), os.getcwd())"

    done = run([sys.executable, "-c", script], env={"A": "1"}, cwd=tmp_path)

    assert done.stdout.decode() == f"1 None {tmp_path}\n"


def test_run_reads_nothing_of_ours() -> None:
    assert run([sys.executable, "-c", "print(repr(open(0).read()))"]).stdout == b"''\n"


def test_run_ends_what_takes_too_long() -> None:
    with pytest.raises(TimeoutExpired):
        run([sys.executable, "-c", "import time; time.sleep(60)"], timeout=0.2)


def test_run_of_a_program_that_is_not_there_raises() -> None:
    with pytest.raises(FileNotFoundError):
        run(["no such program"])


def test_started_process_leads_a_session_and_writes_its_log(tmp_path: Path) -> None:
    script = "import os, sys; print(os.getsid(0) == os.getpid(), flush=True); sys.exit('end')"
    log = tmp_path / "log"
    log.write_text("before\n")

    process = start([sys.executable, "-c", script], log=log)

    assert process.wait() == 1
    assert log.read_text() == "before\nTrue\nend\n"


def test_started_process_keeps_the_descriptors_that_it_is_given() -> None:
    reading, writing = os.pipe()
    script = f"import os; os.write({writing}, b'hello')"

    with running([sys.executable, "-c", script], pass_fds=[writing]) as process:
        os.close(writing)
        process.wait()

    with os.fdopen(reading, "rb") as pipe:
        assert pipe.read() == b"hello"


def test_left_block_leaves_no_process(tmp_path: Path) -> None:
    told = tmp_path / "told"
    script = TELL.format(str(told)) + "import time; time.sleep(60)"

    with running([sys.executable, "-c", script]) as process:
        wait_for(told, 1)

    assert process.returncode == -signal.SIGTERM


def test_interrupted_block_leaves_no_process(tmp_path: Path) -> None:
    told = tmp_path / "told"
    script = TELL.format(str(told)) + "import time; time.sleep(60)"

    def interrupted() -> None:
        with running([sys.executable, "-c", script]):
            wait_for(told, 1)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()

    [pid] = wait_for(told, 1)
    assert gone(pid)


def test_process_that_ignores_sigterm_is_killed_and_its_status_is_kept(tmp_path: Path) -> None:
    told = tmp_path / "told"
    process = start([sys.executable, "-c", STUBBORN.format(TELL.format(str(told)))])
    wait_for(told, 1)

    end_tree(process.pid, grace=0.1)

    assert process.wait() == -signal.SIGKILL


def test_grandchildren_and_orphans_of_the_session_are_ended(tmp_path: Path) -> None:
    told = tmp_path / "told"
    sleeper = STUBBORN.format(TELL.format(str(told)))
    middle = (
        f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {sleeper!r}]);"
        + TELL.format(str(told))
    )
    script = (
        f"import subprocess, sys; subprocess.run([sys.executable, '-c', {middle!r}]);"
        f"subprocess.Popen([sys.executable, '-c', {sleeper!r}], start_new_session=True);" + sleeper
    )
    process = start([sys.executable, "-c", script])
    pids = wait_for(told, 4)

    end_tree(process.pid, grace=0.1)

    process.wait()
    assert all(gone(pid) for pid in pids)


def test_orphans_of_a_session_are_ended_after_its_leader_ended(tmp_path: Path) -> None:
    told = tmp_path / "told"
    sleeper = STUBBORN.format(TELL.format(str(told)))
    script = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {sleeper!r}])"
    process = start([sys.executable, "-c", script])
    [orphan] = wait_for(told, 1)
    while not gone(process.pid):
        time.sleep(0.01)

    end_tree(process.pid, grace=0.1)

    assert gone(orphan)
    assert process.wait() == 0


def test_tree_never_holds_this_process() -> None:
    ours = {process.pid for process in tree(os.getpid())}
    of_our_session = {process.pid for process in tree(os.getsid(0))}

    assert os.getpid() not in ours | of_our_session


def test_end_of_a_process_that_is_not_there_is_no_error() -> None:
    process = start([sys.executable, "-c", ""])
    process.wait()

    end_tree(process.pid)


def test_ask_hears_what_is_said_to_the_end() -> None:
    script = "import sys; print(sys.stdin.read()); print('oh', file=sys.stderr); sys.exit(3)"

    answer = ask([sys.executable, "-c", script], input=b"x" * 200_000, seconds=20, most=300_000)

    assert (answer.code, len(answer.stdout), answer.stderr) == (3, 200_001, b"oh\n")
    assert answer.cut is None


def test_ask_is_not_stopped_by_one_that_does_not_read() -> None:
    answer = ask([sys.executable, "-c", "print('hold')"], input=b"x" * 200_000, seconds=20, most=9)

    assert (answer.code, answer.stdout, answer.cut) == (0, b"hold\n", None)


def test_ask_ends_what_takes_too_long(tmp_path: Path) -> None:
    told = tmp_path / "told"
    script = f"import os, time; {TELL.format(str(told))} os.fork(); time.sleep(60)"

    answer = ask([sys.executable, "-c", script], seconds=1, most=9)

    assert answer.cut is Cut.LATE
    assert [gone(pid) for pid in wait_for(told, 1)] == [True]


def test_ask_ends_what_says_too_much() -> None:
    script = "while True: print('hold' * 1000)"

    answer = ask([sys.executable, "-c", script], seconds=20, most=100)

    assert (answer.cut, len(answer.stdout)) == (Cut.FLOOD, 100)


def test_ask_does_not_wait_for_a_child_that_holds_the_pipe(tmp_path: Path) -> None:
    told = tmp_path / "told"
    child = f"import os, time; {TELL.format(str(told))} time.sleep(60)"
    script = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {child!r}])"
    waits = f"; import os, time\nwhile not os.path.exists({str(told)!r}): time.sleep(0.01)"

    started = time.monotonic()
    answer = ask([sys.executable, "-c", script + waits], seconds=50, most=100)

    assert (answer.code, answer.cut) == (0, None)
    assert time.monotonic() - started < 40
    assert [gone(pid) for pid in wait_for(told, 1)] == [True]


def test_ask_tells_of_a_signal() -> None:
    script = "import os, signal; print('hold', flush=True); os.kill(os.getpid(), signal.SIGKILL)"

    answer = ask([sys.executable, "-c", script], seconds=20, most=100)

    assert (answer.code, answer.stdout) == (-signal.SIGKILL, b"hold\n")
