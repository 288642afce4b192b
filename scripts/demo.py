"""Shows the gate at work on a small shop: one row bound, one weak, one never reached.

Needs Python 3.11 or newer, git and a package index; makes its own environment in ``.demo``.
"""

import os
import subprocess
import sys
import venv
from pathlib import Path
from shutil import copytree, rmtree

ROOT = Path(__file__).resolve().parents[1]
TREE = ROOT / "fixtures" / "trees" / "demo"
DEMO = ROOT / ".demo"
SHOP = DEMO / "shop"
SCRIPTS = DEMO / "venv" / ("Scripts" if os.name == "nt" else "bin")
FINDINGS = 1

INTRODUCTION = """
A shop in {shop}: `git diff main` there is a patch that adds a coupon.
Its test suite is green. Which of the patch's branches would it miss if they went wrong?
"""

NEXT = """
Two rows are bound: a test fails when that outcome, and only that, is inverted.
One is weak: `test_large_coupon` takes `amount < 0` and does not care what comes of it.
One is unreached: the test that is named for it never goes that way.

Where to go from here, in {shop}:

  1. In tests/test_orders.py let test_large_coupon assert `total([5], coupon="TEN") == 0`.
  2. In branch_rows.json set "test" of the unreached row to null.
  3. {invertgate} bind --base main
     finds a test that notices, and writes it into the table.
  4. {invertgate} run --changed --base main
     ends with 0.

In a project of your own: `pip install` invertgate into its environment, then
`invertgate run --changed`. README.md says the rest.
"""


def main() -> int:
    """Set up, show, and tell where to go; 0 if the gate said what it should."""
    if sys.version_info < (3, 11):  # noqa: UP036 (this file is run before anything is installed)
        print("demo: needs Python 3.11 or newer, try: python3.11 scripts/demo.py")
        return 2
    install()
    make_shop()
    shop, invertgate = os.path.relpath(SHOP), os.path.relpath(SCRIPTS / "invertgate", SHOP)
    print(INTRODUCTION.format(shop=shop))
    show("run", "--list", "--base", "main")
    ended = show("run", "--changed", "--base", "main", "--verbose")
    print(NEXT.format(shop=shop, invertgate=invertgate))
    return 0 if ended == FINDINGS else 1


def install() -> None:
    """Make an environment that holds invertgate and pytest."""
    print(f"demo: making an environment in {DEMO.relative_to(ROOT)}", flush=True)
    venv.create(DEMO / "venv", with_pip=True, clear=True)
    command = [str(SCRIPTS / "python"), "-m", "pip", "install", "--quiet", str(ROOT)]
    subprocess.run(command, check=True)


def make_shop() -> None:
    """Make a repository of two commits: the shop on main, the patch on a branch."""
    rmtree(SHOP, ignore_errors=True)
    SHOP.mkdir()
    git("init", "--quiet", "--initial-branch=main")
    copytree(TREE / "base", SHOP, dirs_exist_ok=True)
    commit("Sell things")
    git("checkout", "--quiet", "-b", "coupon")
    copytree(TREE / "head", SHOP, dirs_exist_ok=True)
    commit("Take coupons")


def commit(message: str) -> None:
    """Commit everything in the shop."""
    git("add", "--all")
    identity = ("-c", "user.name=Demo", "-c", "user.email=demo@example.org")
    git(*identity, "-c", "commit.gpgSign=false", "commit", "--quiet", "--message", message)


def git(*args: str) -> None:
    """Run git in the shop, whatever repository the caller's variables name."""
    own = {name: text for name, text in os.environ.items() if not name.startswith("GIT_")}
    subprocess.run(["git", *args], cwd=SHOP, env=own, check=True)  # noqa: S607 (git is on PATH)


def show(*args: str) -> int:
    """Run the gate in the shop, where everybody can see it, and give its exit code."""
    print(f"$ invertgate {' '.join(args)}", flush=True)
    ended = subprocess.run([str(SCRIPTS / "invertgate"), *args], cwd=SHOP, check=False)
    print(f"(exit {ended.returncode})\n", flush=True)
    return ended.returncode


if __name__ == "__main__":
    sys.exit(main())
