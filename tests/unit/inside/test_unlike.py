"""What makes a test be confirmed by fresh processes: what forks lack, share, or find outdated."""

import mmap
import os
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import pytest

from invertgate.inside.unlike import is_dated, shared

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="Linux tells of memory")


@contextmanager
def project(folder: Path, source: str) -> Generator[None]:
    """Lend a module of a project in a folder."""
    module = ModuleType("unlike_shop")
    module.__file__ = str(folder / "shop.py")
    sys.modules[module.__name__] = module
    try:
        exec(source, vars(module))  # noqa: S102
        yield
    finally:
        del sys.modules[module.__name__]


@pytest.mark.parametrize(
    "source",
    [
        "import os\nPID = os.getpid()",
        "import os\nclass Pool:\n    def __init__(self): self._pid = os.getpid()\nPOOL = Pool()",
        "import os\nclass Pool:\n    pid = os.getpid()",
        "import time\nSTARTED = time.time()",
        "import time\nSEEN = {'tea': [time.monotonic()]}",
        "import time\nSTARTED = time.time_ns()",
        "import time\nSTARTED = int(time.time())",
        "import time\ndef age(now=time.time()): return now",
        "import time\ndef make(now):\n    return lambda: now\nage = make(time.monotonic())",
        "import datetime\nNOW = datetime.datetime.now()",
        "import datetime\nNOW = datetime.datetime.now(tz=datetime.UTC)",
        "import datetime\nNOW = datetime.datetime.now(tz=datetime.UTC).replace(tzinfo=None)",
    ],
)
def test_a_number_of_the_process_or_a_time_of_now_is_found(tmp_path: Path, source: str) -> None:
    with project(tmp_path, source):
        assert is_dated(str(tmp_path))


@pytest.mark.parametrize(
    "source",
    [
        "import datetime, os, time\nLIMIT = 30\nRATE = 0.5\nNAME = 'tea'",
        "import datetime\nEPOCH = datetime.datetime(2001, 1, 1)",
        "import time\nLONG_AGO = time.time() - 86400",
        "TABLE = list(range(10000))",
        "class Odd:\n    def __getattr__(self, name): raise ZeroDivisionError\nODD = Odd()",
        "class Lazy:\n    __class__ = property(lambda self: 1 / 0)\nLAZY = Lazy()",
        "SELF = {}\nSELF['self'] = SELF",
        "def make():\n    def get(): return later\n    return get\n    later = 1\nGET = make()",
    ],
)
def test_what_every_process_finds_alike_is_no_matter(tmp_path: Path, source: str) -> None:
    with project(tmp_path, source):
        assert not is_dated(str(tmp_path))


def test_modules_of_others_are_no_matter(tmp_path: Path) -> None:
    with project(tmp_path / "elsewhere", f"PID = {os.getpid()}\nSTARTED = {time.time()}"):
        assert not is_dated(str(tmp_path / "shop"))


@on_linux
def test_shared_memory_is_found_but_for_ours(tmp_path: Path) -> None:
    before = shared(str(tmp_path))
    board = tmp_path / "0" / "board"
    board.parent.mkdir()
    board.write_bytes(bytes(8))

    with board.open("r+b") as file:
        ours = mmap.mmap(file.fileno(), 8)
    with ours, mmap.mmap(-1, 8):
        found = shared(str(tmp_path)) - before

    assert len(found) == 1


@on_linux
def test_an_open_file_of_the_tree_is_found(tmp_path: Path) -> None:
    before = shared(str(tmp_path))
    log = tmp_path / "0" / "shop" / "log"
    log.parent.mkdir(parents=True)

    with log.open("w"):
        found = shared(str(tmp_path)) - before

    assert [each.partition(" ")[2] for each in found] == [str(log)]


@pytest.mark.parametrize(
    ("change", "alive"),
    [
        ("pass", False),
        ("threading.Thread(target=time.sleep, args=(9,), daemon=True).start()", True),
        ("thread = threading.Thread(target=int); thread.start(); thread.join()", False),
        ("child = subprocess.Popen([sys.executable, '-c', 'input()'], stdin=-1)", True),
        ("subprocess.run([sys.executable, '-c', ''])", False),
        ("lines = open(sys.executable)", True),
        ("open(sys.executable).close()", False),
        ("pipe = os.pipe()", True),
    ],
)
def test_threads_children_and_open_files_are_found_while_they_live(
    change: str, alive: bool
) -> None:
    source = f"""
import os, subprocess, sys, threading, time
from invertgate.inside.unlike import is_alive, shared
known = shared("/ours")
{change}
sys.exit(is_alive("/ours", known))
"""

    ended = subprocess.run([sys.executable, "-c", source], check=False)

    assert ended.returncode == alive
