import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).parents[1]

SCRIPT = """
import sys
sys.path.insert(0, sys.argv[1])
from support.reports import nothing_new
from invertgate.cli import perform

class Fake:
    def run(self, request):
        return nothing_new()

code = perform(["run", "--changed", "--json"], Fake())
heavy = {"rich", "msgspec", "coverage", "psutil", "pytest", "yaml", "xdist", "mutmut"}
print(code, sorted(heavy & set(sys.modules)), file=sys.stderr)
"""


def test_command_line_imports_nothing_heavy_where_nothing_is_new() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(TESTS)], capture_output=True, text=True, check=True
    )

    assert done.stderr.splitlines()[-1] == "0 []"
