"""Checks everything: lint, types, imports and all tests, on each Python that is found here.

Needs Python 3.11 or newer, git and a package index; makes its own environment in ``.check``.
Where there is no Chromium for the tests of the report's page, it is installed if this may be done.
"""

import argparse
import os
import re
import subprocess
import sys
import venv
from collections.abc import Iterator, Sequence
from pathlib import Path
from shutil import which

ROOT = Path(__file__).resolve().parents[1]
HOME = ROOT / ".check" / "venv"
TOX = "tox>=4.30"
VERSIONS = ("3.11", "3.12", "3.13")
CHECKS = ("lint", "types", "imports")
BROWSERS = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
BROWSER_REQUIRED = "INVERTGATE_BROWSER_REQUIRED"
"""Tells the tests that there is a browser, so that none of them may be skipped."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the checks; the exit code is tox's."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--quick",
        action="store_true",
        help="one Python only, without tests marked slow, the browser and the demo",
    )
    quick = parser.parse_args(argv).quick
    if sys.version_info < (3, 11):  # noqa: UP036 (this file is run before anything is installed)
        print("check: needs Python 3.11 or newer, try: python3.11 scripts/check.py")
        return 2
    pythons = {version: python for version in VERSIONS if (python := find(version))}
    for version in VERSIONS:
        if version not in pythons:
            print(f"check: Python {version} is not here, its tests are skipped")
    if not pythons:
        print(f"check: none of Python {', '.join(VERSIONS)} is here, so no test can be run")
        return 2
    return run_tox(list(pythons)[:1] if quick else list(pythons), pythons, quick=quick)


def run_tox(versions: Sequence[str], pythons: dict[str, Path], *, quick: bool) -> int:
    """Run tox on some Pythons, with what it prints passed through."""
    environments = (*CHECKS, *versions, *(() if quick else ("browser", "demo")))
    has_browser = not quick and find_browser()
    tests = ("-n", "logical", "--dist", "worksteal", *(("-m", "not slow") if quick else ()))
    return subprocess.run(
        [
            *(str(tox()), "run", "--root", str(ROOT), "--skip-missing-interpreters", "false"),
            *("-e", ",".join(environments)),
            *("--discover", *(str(pythons[version]) for version in pythons)),
            *("--", *tests),
        ],
        cwd=ROOT,
        env=os.environ | ({BROWSER_REQUIRED: "1"} if has_browser else {}),
        check=False,
    ).returncode


def find_browser() -> bool:
    """Tell whether there is a browser, installing one where there is none and that may be done."""
    if any(map(which, BROWSERS)):
        return True
    apt = which("apt-get")
    if apt is None or os.name == "nt" or os.geteuid() != 0:
        print("check: no Chromium here, and only root on Debian or its like may install it:")
        print("check: the browser tests are skipped; try: sudo apt-get install chromium")
        return False
    print("check: installing Chromium for the browser tests", flush=True)
    quiet = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    for command in ([apt, "-q", "update"], [apt, "-q", "install", "--yes", BROWSERS[0]]):
        if subprocess.run(command, env=quiet, stdout=subprocess.DEVNULL, check=False).returncode:
            print(f"check: `{' '.join(command)}` failed: the browser tests are skipped")
            return False
    return any(map(which, BROWSERS))


def tox() -> Path:
    """Give tox, installed into an environment of our own."""
    scripts = HOME / ("Scripts" if os.name == "nt" else "bin")
    if not any(scripts.glob("tox*")):
        print(f"check: making an environment in {HOME.relative_to(ROOT)}")
        venv.create(HOME, with_pip=True, clear=True)
        python = scripts / Path(sys.executable).name
        install = [str(next(p for p in (python, scripts / "python") if p.exists())), "-m", "pip"]
        subprocess.run([*install, "install", "--quiet", TOX], check=True)
    return scripts / "tox"


def find(version: str) -> Path | None:
    """Find a Python that really starts: this one, one on PATH, or one that pyenv keeps."""
    return next((python for python in candidates(version) if starts(python, version)), None)


def candidates(version: str) -> Iterator[Path]:
    """Name the places where a version may lie, the likeliest first."""
    yield Path(sys.executable)
    if on_path := which(f"python{version}"):
        yield Path(on_path)
    kept = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
    yield from sorted(kept.glob(f"{version}.*/bin/python3"), key=by_number, reverse=True)


def by_number(python: Path) -> list[int]:
    """Order ``3.11.10`` after ``3.11.9``."""
    return [int(number) for number in re.findall(r"\d+", python.parts[-3])]


def starts(python: Path, version: str) -> bool:
    """Tell whether it starts and is of that version; a shim of pyenv may do neither."""
    ask = [str(python), "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
    try:
        answer = subprocess.run(ask, capture_output=True, text=True, check=False)
    except OSError:
        return False
    return answer.returncode == 0 and answer.stdout.strip() == version


if __name__ == "__main__":
    sys.exit(main())
