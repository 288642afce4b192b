"""A real Dask cluster on this machine: a scheduler, and workers that each have a folder."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psutil

PATIENCE = 60
SHARD = "invertgate.cluster_shard"


@dataclass(slots=True)
class DaskCluster:
    """A scheduler, and what it takes to start workers."""

    folder: Path
    started: list["subprocess.Popen[bytes]"] = field(default_factory=list)

    @property
    def told(self) -> Path:
        """The file in which the scheduler says where it is."""
        return self.folder / "scheduler.json"

    @property
    def temporary(self) -> Path:
        """The folder for temporary files of the host on which all workers are."""
        folder = self.folder / "tmp"
        folder.mkdir(exist_ok=True)
        return folder

    @property
    def address(self) -> str:
        """Where the scheduler is, once it is there."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if self.told.exists() and (text := self.told.read_text(encoding="utf-8")):
                return str(json.loads(text)["address"])
            time.sleep(0.1)
        raise AssertionError(self.log("scheduler"))

    def worker(self, name: str, variables: Mapping[str, str] | None = None) -> int:
        """Start a worker in a folder of its own; return its process."""
        place = self.folder / name
        place.mkdir()
        options = ("--nthreads", "1", "--no-nanny", "--local-directory", str(place))
        return self._start("worker", name, place, options, variables or {})

    def scheduler(self) -> None:
        """Start the scheduler."""
        options = ("--host", "127.0.0.1", "--port", "0")
        self._start("scheduler", "scheduler", self.folder, options, {})

    def log(self, name: str) -> str:
        """Return what a process of the cluster has printed."""
        return (self.folder / f"{name}.log").read_text(encoding="utf-8", errors="replace")

    def _start(
        self, kind: str, name: str, place: Path, options: tuple[str, ...], more: Mapping[str, str]
    ) -> int:
        argv = [sys.executable, "-m", f"distributed.cli.dask_{kind}", *options]
        argv += ["--no-dashboard", "--scheduler-file", str(self.told)]
        environment = {**os.environ, "TMPDIR": str(self.temporary), **more}
        with (self.folder / f"{name}.log").open("wb") as log:
            process = subprocess.Popen(
                argv, cwd=place, env=environment, stdout=log, stderr=subprocess.STDOUT
            )
        self.started.append(process)
        return process.pid


@contextmanager
def dask_cluster(folder: Path) -> Generator[DaskCluster]:
    """Lend a scheduler without workers; all that is started is ended."""
    folder.mkdir()
    cluster = DaskCluster(folder)
    cluster.scheduler()
    try:
        yield cluster
    finally:
        for process in reversed(cluster.started):
            process.kill()
            process.wait()


def shards_below(pid: int) -> list[psutil.Process]:
    """Give the processes that judge shards for a worker now."""
    return [each for each in psutil.Process(pid).children() if SHARD in each.cmdline()]


def is_gone(process: psutil.Process, seconds: float = 20) -> bool:
    """Wait for a process to end; tell whether it did."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if not process.is_running() or process.status() == psutil.STATUS_ZOMBIE:
            return True
        time.sleep(0.1)
    return False
