"""Processes and virtual environments for the scripts; needs nothing but a Python."""

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

RECIPE_FILE: Final = "recipe.json"
"""In an environment: what it was made from, so that a second call can use it again."""


class ScriptError(Exception):
    """The script cannot go on; the message says why."""


@dataclass(frozen=True, slots=True)
class Finished:
    """A process that has ended."""

    returncode: int | None
    """None if it was stopped at its time limit."""
    output: str
    """What it printed."""
    errors: str
    """What it printed on its error stream."""
    seconds: float
    cpu: float
    """CPU seconds of all children that ended meanwhile; exact only if they run one at a time."""


def run(
    argv: Sequence[str | Path],
    *,
    cwd: Path,
    environ: Mapping[str, str] | None = None,
    limit: float | None = None,
) -> Finished:
    """Run a command to its end, or end it and its process group at the limit.

    Args:
        argv: The command.
        cwd: Where it runs.
        environ: Its whole environment; ours by default.
        limit: Seconds of wall time; None waits for ever.
    """
    started, cpu_before = time.monotonic(), _cpu_of_children()
    # Files and no pipes: whoever outlives the command and holds a pipe open would make us wait.
    with (
        tempfile.TemporaryFile() as printed,
        tempfile.TemporaryFile() as complained,
        subprocess.Popen(
            [str(word) for word in argv],
            cwd=cwd,
            env=None if environ is None else dict(environ),
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=complained,
            start_new_session=True,
        ) as process,
    ):
        returncode: int | None = None
        with suppress(subprocess.TimeoutExpired):
            returncode = process.wait(limit)
        _end_group(process.pid)
        process.wait()
        seconds = time.monotonic() - started
        cpu = _cpu_of_children() - cpu_before
        return Finished(returncode, _text(printed), _text(complained), seconds, cpu)


def must(argv: Sequence[str | Path], *, cwd: Path, environ: Mapping[str, str] | None = None) -> str:
    """Run a command that has to succeed and return what it printed.

    Raises:
        ScriptError: It ended otherwise; the message quotes its last lines.
    """
    finished = run(argv, cwd=cwd, environ=environ)
    if finished.returncode != 0:
        command = " ".join(str(word) for word in argv)
        last_lines = "\n".join((finished.output + finished.errors).splitlines()[-25:])
        raise ScriptError(f"{command}\nended with {finished.returncode}:\n{last_lines}")
    return finished.output


def find_python(minor: int) -> Path:
    """Find a Python 3.MINOR on the path or under pyenv; the running one if there is none."""
    name = f"python3.{minor}"
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
    found = [Path(name) for name in [shutil.which(name)] if name]
    for python in [*found, *sorted(pyenv.glob(f"3.{minor}.*/bin/{name}"))]:
        if run([python, "-c", ""], cwd=Path.cwd()).returncode == 0:
            return python
    return Path(sys.executable)


@dataclass(frozen=True, slots=True)
class Environment:
    """A virtual environment."""

    folder: Path

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.folder / "bin" / "python"

    def command(self, name: str) -> Path:
        """Name one of its console scripts."""
        return self.folder / "bin" / name

    def install(
        self, words: Sequence[str | Path], *, cwd: Path, environ: Mapping[str, str] | None = None
    ) -> None:
        """Call ``pip install``.

        Raises:
            ScriptError: It failed.
        """
        must([self.python, "-m", "pip", "install", "-q", *words], cwd=cwd, environ=environ)


def gate_command(environment: Environment, *, cold: bool = False) -> list[str | Path]:
    """Give the words that call the gate of an environment.

    Args:
        environment: Has invertgate.
        cold: As where there is no fork: every run gets a fresh process.
    """
    if cold:
        return [environment.python, "-c", _WITHOUT_FORK]
    return [environment.command("invertgate")]


_WITHOUT_FORK: Final = "import os; del os.fork; from invertgate.cli import main; main()"


def make_environment(
    folder: Path,
    python: Path,
    words: Sequence[str],
    *,
    cwd: Path,
    variables: Mapping[str, str],
) -> Environment:
    """Make an environment by ``pip install WORDS``, or use the one that the same call made before.

    Args:
        folder: Where it lies.
        python: The interpreter it is made from.
        words: What is installed; relative paths start at ``cwd``.
        cwd: Where pip runs.
        variables: Added to pip's process environment.

    Raises:
        ScriptError: An installation failed; the next call starts afresh.
    """
    environment = Environment(folder)
    recipe = json.dumps([str(python), list(words), str(cwd), dict(variables)])
    stamp = folder / RECIPE_FILE
    if stamp.is_file() and stamp.read_text("utf-8") == recipe:
        return environment
    shutil.rmtree(folder, ignore_errors=True)
    must([python, "-m", "venv", folder], cwd=cwd)
    environment.install(words, cwd=cwd, environ={**os.environ, **variables})
    stamp.write_text(recipe, "utf-8")
    return environment


def _text(written: IO[bytes]) -> str:
    written.seek(0)
    return written.read().decode("utf-8", "replace")


def _cpu_of_children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _end_group(group: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)
