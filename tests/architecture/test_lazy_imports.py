import subprocess
import sys
from importlib import import_module
from pathlib import Path

from invertgate.cli import LATER

TESTS = Path(__file__).parents[1]

SCRIPT = """
import sys
from importlib import import_module
sys.path.insert(0, sys.argv[1])
from support.reports import nothing_new
from invertgate.cli import perform

class Fake:
    def run(self, request):
        return nothing_new()

code = perform(["run", "--changed", "--json"], Fake())
ours = {"invertgate.cli_author", "invertgate.cli_sweep"}
heavy = ours | {"rich", "msgspec", "coverage", "psutil", "pytest", "yaml", "xdist", "mutmut"}
print(code, sorted(heavy & set(sys.modules)), file=sys.stderr)
"""


def test_command_line_imports_nothing_heavy_where_nothing_is_new() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(TESTS)], capture_output=True, text=True, check=True
    )

    assert done.stderr.splitlines()[-1] == "0 []"


def test_commands_that_are_imported_later_are_those_of_their_modules() -> None:
    named = {
        module: tuple(command.name for command in import_module(f"invertgate.{module}").COMMANDS)
        for module in LATER
    }

    assert named == LATER
