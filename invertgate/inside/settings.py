"""What a process is told when it starts: where it runs, which files are woven, what is inverted."""

from __future__ import annotations

import marshal
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, MutableMapping

# Every Python process of a run loads this when it starts, children of tests too: nothing is
# imported here that Python does not load anyway, and types only for the type checker.

RUN = "INVERTGATE_RUN"
"""Environment variable: the scratch folder of the run."""
TREE = "INVERTGATE_TREE"
"""Environment variable: the number of this process's tree."""
CONTAIN = "INVERTGATE_CONTAIN"
"""Environment variable: how far this process is held; not there if it is not."""
COLD = "INVERTGATE_COLD"
"""Environment variable: the file that describes the one run that this process is for."""
KEEPER = "INVERTGATE_KEEPER"
"""Environment variable: the descriptor on which a worker's other process is asked for runs."""
WORKER = "INVERTGATE_WORKER"
"""Environment variable of that process: the ids of the worker it belongs to, as JSON."""
AS_IS = "INVERTGATE_AS_IS"
"""Environment variable: a process of ours is started, with an environment that is to stay."""
MEASURE = "INVERTGATE_MEASURE"
"""Environment variable: the folder for coverage data, while the workers measure."""

VARIABLES = (RUN, TREE, CONTAIN)
"""What child processes inherit."""

BOOT = "boot"
"""Name of the file in the scratch folder that every process of a run reads when it starts."""


class WovenFile:
    """A file whose decisions can be inverted."""

    def __init__(
        self,
        number: int,
        path: str,
        sha256: str,
        decisions: list[tuple[str, int, int, int]],
        versions: list[tuple[int, int, str, int, str]] | tuple[()] = (),
    ) -> None:
        self.number = number
        self.path = path.replace("/", os.sep)
        """Relative to the top of a tree, in the form of this platform."""
        self.sha256 = sha256
        self.decisions = decisions
        """Kind, line and column of the anchor, slot."""
        self.versions = versions
        """Line, column and part of a statement, slot, the text of its other version."""


class Boot:
    """What every process of a run knows."""

    def __init__(  # a record, and dataclasses are slow to load
        self,
        scratch: str,
        original: str,
        name: str,
        kept_out: list[str],
        files: list[WovenFile],
        slots: int,
    ) -> None:
        self.scratch = scratch
        self.original = original
        """The top of the user's working tree."""
        self.name = name
        """Name of the top folder, the same in all trees."""
        self.kept_out = kept_out
        """Folders in the original that stay where they are (virtual environments)."""
        self.files = files
        self.slots = slots

    def nothing(self) -> tuple[int, ...]:
        """Return what is inverted in a control: a slot that no outcome has.

        From within, a control then looks like any other run.
        """
        return (self.slots,)

    def tree(self, number: int) -> str:
        """Return the top of a private tree."""
        return os.path.join(self.scratch, str(number), self.name)

    def pristine(self) -> str:
        """Return the top of the copy in which nothing is ever run."""
        return os.path.join(self.scratch, "pristine", self.name)

    def bytecode(self, number: int) -> str:
        """Return the folder for the byte code of a tree's modules."""
        return os.path.join(self.scratch, str(number), "pyc")

    def board(self, number: int) -> str:
        """Return the path of a tree's board."""
        return os.path.join(self.scratch, str(number), "board")


def write_boot(scratch: str, told: dict[str, object]) -> None:
    """Write what every process of a run knows, as plain values (see ``read_boot``)."""
    with open(os.path.join(scratch, BOOT), "wb") as file:
        marshal.dump(told, file)


def read_boot(scratch: str) -> Boot:
    """Read what every process of a run knows."""
    with open(os.path.join(scratch, BOOT), "rb") as file:
        told = marshal.load(file)  # noqa: S302  # written by ourselves, in our own folder
    files = [WovenFile(*each) for each in told["files"]]
    return Boot(scratch, told["original"], told["name"], told["kept_out"], files, told["slots"])


def home_environment(boot: Boot, number: int) -> dict[str, str]:
    """Return the variables that give a tree its private folders."""
    return private_variables(os.path.join(boot.scratch, str(number)), number)


def private_variables(place: str, number: int) -> dict[str, str]:
    """Return the same for the folder in which a tree and its private folders lie."""
    return {
        TREE: str(number),
        "HOME": os.path.join(place, "home"),
        "TMPDIR": os.path.join(place, "tmp"),
        "HYPOTHESIS_STORAGE_DIRECTORY": os.path.join(place, "tmp", "hypothesis"),
    }


def put(environment: MutableMapping[str, str], values: Mapping[str, str]) -> None:
    """Set several variables."""
    for name, value in values.items():
        environment[name] = value
