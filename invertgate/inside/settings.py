"""What a process is told when it starts: where it runs, which files are woven, what is inverted."""

import json
import os
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from typing import Final

RUN: Final = "INVERTGATE_RUN"
"""Environment variable: the scratch folder of the run."""
TREE: Final = "INVERTGATE_TREE"
"""Environment variable: the number of this process's tree."""
INVERT: Final = "INVERTGATE_INVERT"
"""Environment variable: the slots that are inverted, separated by commas."""
COLD: Final = "INVERTGATE_COLD"
"""Environment variable: the file that describes the one run that this process is for."""
MEASURE: Final = "INVERTGATE_MEASURE"
"""Environment variable: the folder for coverage data, while the workers measure."""

VARIABLES: Final = (RUN, TREE, INVERT)
"""What child processes inherit."""

DECISIONS: Final = "boot.json"
"""Name of the file in the scratch folder that every process of a run reads when it starts."""


@dataclass(frozen=True, slots=True)
class WovenFile:
    """A file whose decisions can be inverted."""

    number: int
    path: str
    """Relative to the top of a tree, in the form of this platform."""
    sha256: str
    decisions: tuple[tuple[str, int, int, int], ...]
    """Kind, line and column of the anchor, slot."""


@dataclass(frozen=True, slots=True)
class Boot:
    """What every process of a run knows."""

    scratch: str
    original: str
    """The top of the user's working tree."""
    name: str
    """Name of the top folder, the same in all trees."""
    kept_out: tuple[str, ...]
    """Folders in the original that stay where they are (virtual environments)."""
    files: tuple[WovenFile, ...]
    slots: int

    def tree(self, number: int) -> str:
        """Return the top of a private tree."""
        return os.path.join(self.scratch, str(number), self.name)

    def pristine(self) -> str:
        """Return the top of the copy in which nothing is ever run."""
        return os.path.join(self.scratch, "pristine", self.name)

    def board(self, number: int) -> str:
        """Return the path of a tree's board."""
        return os.path.join(self.scratch, str(number), "board")


def read_boot(scratch: str) -> Boot:
    """Read what every process of a run knows."""
    with open(os.path.join(scratch, DECISIONS), encoding="utf-8") as file:
        told = json.load(file)
    files = tuple(
        WovenFile(
            each["number"],
            each["path"].replace("/", os.sep),
            each["sha256"],
            tuple(tuple(decision) for decision in each["decisions"]),
        )
        for each in told["files"]
    )
    return Boot(
        scratch,
        told["original"],
        told["name"],
        tuple(told["kept_out"]),
        files,
        told["slots"],
    )


def inverted_slots(environment: Mapping[str, str]) -> tuple[int, ...]:
    """Return the slots that the environment says are inverted."""
    return tuple(int(slot) for slot in environment.get(INVERT, "").split(",") if slot)


def home_environment(boot: Boot, number: int) -> dict[str, str]:
    """Return the variables that give a tree its private folders."""
    return private_variables(os.path.join(boot.scratch, str(number)), number)


def private_variables(place: str, number: int) -> dict[str, str]:
    """Return the same for the folder in which a tree and its private folders lie."""
    return {
        TREE: str(number),
        "HOME": os.path.join(place, "home"),
        "TMPDIR": os.path.join(place, "tmp"),
        "PYTHONPYCACHEPREFIX": os.path.join(place, "pyc"),
        "HYPOTHESIS_STORAGE_DIRECTORY": os.path.join(place, "tmp", "hypothesis"),
    }


def put(environment: MutableMapping[str, str], values: Mapping[str, str]) -> None:
    """Set several variables."""
    for name, value in values.items():
        environment[name] = value
