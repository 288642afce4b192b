"""Every option once: default, meaning, flag, limits, and whether the merge base decides it."""

from dataclasses import Field, dataclass, field, fields, replace
from enum import Enum, StrEnum
from math import inf
from typing import Any, Final

from invertgate.model import EXTRA_KINDS, Kind

Value = str | int | float | tuple[str, ...]
"""A truth value counts as a whole number here; ``Option.type`` tells them apart."""


class Inversion(StrEnum):
    """How an ``if`` is inverted."""

    ONESIDED = "onesided"
    NEGATE = "negate"


class Kill(StrEnum):
    """What counts as noticing the inversion."""

    ANY = "any"
    ASSERTION = "assertion"


class OnTimeout(StrEnum):
    """What a run says that used up its CPU time."""

    UNPROVEN = "unproven"
    KILL = "kill"


class Contain(StrEnum):
    """How far inverted code is held; the code of nobody, as no one reviewed it."""

    AUTO = "auto"
    """The strongest that the machine grants and under which a test passes without an inversion."""
    NONE = "none"
    NETWORK = "network"
    """No network but loopback."""
    FILES = "files"
    """That, and everything outside of the private copies is read-only."""


class Assertions(StrEnum):
    """How the lanes tell that an assertion was removed."""

    TREE = "tree"
    LINES = "lines"


class Form(StrEnum):
    """What the text of an option stands for."""

    ANY = "any"
    TEXT = "text"
    GLOB = "glob"
    FOLDER = "folder"
    TABLE = "table"


@dataclass(frozen=True, slots=True)
class About:
    """What is known of an option beside its name, type and default."""

    help: str
    flags: tuple[str, ...]
    policy: bool
    """It could loosen the gate: where a patch changes it, the merge base's value counts."""
    form: Form
    choices: tuple[str, ...]
    low: float
    high: float


def _about(
    help: str,  # noqa: A002 (the word click uses)
    *flags: str,
    policy: bool = False,
    form: Form = Form.TEXT,
    choices: tuple[str, ...] = (),
    low: float = 0,
    high: float = inf,
) -> dict[str, About]:
    return {"about": About(help, flags, policy, form, choices, low, high)}


@dataclass(frozen=True, slots=True)
class Config:
    """The options of a run."""

    base: str = field(
        default="",
        metadata=_about(
            "Branch or commit to compare with; the default is what the CI host says, or origin's.",
            "--base",
            form=Form.ANY,
        ),
    )
    include: tuple[str, ...] = field(
        default=("**/*.py",),
        metadata=_about(
            "Glob of files whose outcomes need rows; may be repeated.",
            "--include",
            policy=True,
            form=Form.GLOB,
        ),
    )
    exclude: tuple[str, ...] = field(
        default=(),
        metadata=_about(
            "Glob of files that make no rows, generated code for one; may be repeated.",
            "--exclude",
            policy=True,
            form=Form.GLOB,
        ),
    )
    extra_kinds: tuple[Kind, ...] = field(
        default=(),
        metadata=_about(
            "Syntax that makes rows only when asked for; may be repeated.",
            "--extra-kind",
            policy=True,
            choices=EXTRA_KINDS,
        ),
    )
    table: str = field(
        default="branch_rows.json",
        metadata=_about(
            "The decision table: a .json, .yaml or .yml file in the project's folder.",
            "--table",
            policy=True,
            form=Form.TABLE,
        ),
    )
    project: tuple[str, ...] = field(
        default=(),
        metadata=_about(
            "Folder with a pytest configuration of its own; may be repeated. "
            "By default found from the changed files.",
            "--project",
            policy=True,
            form=Form.FOLDER,
        ),
    )
    workers: int = field(
        default=0,
        metadata=_about("Worker processes; 0 is one for each usable core.", "--workers", high=256),
    )
    confirm: int = field(
        default=2,
        metadata=_about(
            "Agreeing pairs of control and inverted run that bind a row.",
            "--confirm",
            policy=True,
            low=1,
            high=10,
        ),
    )
    operator: Inversion = field(
        default=Inversion.ONESIDED,
        metadata=_about(
            "onesided turns away only the runs that would take the outcome; "
            "negate inverts the whole test of an if, which is weaker.",
            "--operator",
            policy=True,
        ),
    )
    kill: Kill = field(
        default=Kill.ANY,
        metadata=_about(
            "What binds a row: any failure in the test's call phase, "
            "or only an assertion of the test.",
            "--kill",
            policy=True,
        ),
    )
    timeout: OnTimeout = field(
        default=OnTimeout.UNPROVEN,
        metadata=_about(
            "What a run that used up its CPU time is: unproven, or, if it does so twice, a kill.",
            "--timeout",
            policy=True,
        ),
    )
    timeout_factor: float = field(
        default=10.0,
        metadata=_about(
            "CPU time of an inverted run, as a multiple of what its control took.",
            "--timeout-factor",
            policy=True,
            low=1,
            high=10_000,
        ),
    )
    timeout_floor: float = field(
        default=2.0,
        metadata=_about(
            "CPU seconds that every run may use, however quick its control was.",
            "--timeout-floor",
            policy=True,
            low=0.1,
            high=86_400,
        ),
    )
    wall_floor: float = field(
        default=30.0,
        metadata=_about(
            "Seconds on the clock that every run may take, for tests that wait.",
            "--wall-floor",
            low=0.1,
            high=86_400,
        ),
    )
    memory_limit: int = field(
        default=0,
        metadata=_about(
            "MiB that one run and its child processes may use; 0 is half of the machine's memory.",
            "--memory-limit",
            high=1 << 30,
        ),
    )
    external: tuple[str, ...] = field(
        default=(),
        metadata=_about(
            "Glob of nodeids with an outside cost: never run on inverted code; may be repeated.",
            "--external",
            policy=True,
        ),
    )
    contain: Contain = field(
        default=Contain.AUTO,
        metadata=_about(
            "How far inverted code is held: network leaves it a loopback only, files also makes "
            "everything outside of its copy read-only; "
            "auto is the strongest that works here, test by test.",
            "--contain",
            policy=True,
        ),
    )
    tests: tuple[str, ...] = field(
        default=(),
        metadata=_about(
            "File or folder that `bind` collects tests from; may be repeated. "
            "By default what pytest collects by itself.",
            "--tests",
        ),
    )
    pytest_args: tuple[str, ...] = field(
        default=(),
        metadata=_about(
            # no policy: as a conftest or `addopts` it decides how tests run, and is told like these
            "Argument for every pytest that is started; may be repeated.",
            "--pytest-arg",
            form=Form.ANY,
        ),
    )
    tries: int = field(
        default=200,
        metadata=_about(
            "Tests that `bind` tries for one row before it gives up.",
            "--tries",
            low=1,
            high=1_000_000,
        ),
    )
    coverage: str = field(
        default="",
        metadata=_about(
            "Coverage data that may save runs: a .coverage file, or `measure` to make one first.",
            "--coverage",
            form=Form.ANY,
        ),
    )
    copy_exclude: tuple[str, ...] = field(
        default=(),
        metadata=_about(
            "Glob of files that the workers' copies can do without; may be repeated.",
            "--copy-exclude",
            form=Form.GLOB,
        ),
    )
    copy_include: tuple[str, ...] = field(
        default=(),
        metadata=_about(
            "Glob of files that the workers' copies need although they look like caches; "
            "may be repeated.",
            "--copy-include",
            form=Form.GLOB,
        ),
    )
    line_cap: int = field(
        default=400,  # about what one person reviews with care in one sitting
        metadata=_about(
            "Lanes: lines that a patch may add and delete together.",
            policy=True,
            high=1_000_000,
        ),
    )
    generated: tuple[str, ...] = field(
        default=(),  # only a project knows what it generates; a guess would hide written code
        metadata=_about(
            "Lanes: glob of files that programs write, whose lines are not counted.",
            policy=True,
            form=Form.GLOB,
        ),
    )
    neutral: tuple[str, ...] = field(
        default=(),  # documents are neutral anyway; anything else may change what runs
        metadata=_about(
            "Lanes: glob of files that are neither tested nor tests, as documents are.",
            policy=True,
            form=Form.GLOB,
        ),
    )
    assertions: Assertions = field(
        default=Assertions.TREE,  # by lines, a test that is only tidied up would be refused
        metadata=_about(
            "Lanes: how removed assertions of Python files are found, by comparing trees, "
            "or by removed lines as in other languages.",
            policy=True,
        ),
    )
    unit_cap: int = field(
        default=3,  # what a reviewer still reads the properties of
        metadata=_about(
            "Lanes: units that the properties of one patch may cost together.", policy=True
        ),
    )
    property_command: tuple[str, ...] = field(
        default=(),
        metadata=_about(
            "Lanes: executable, with its arguments, that is asked about properties. "
            "By default pytest runs the tests that state them.",
            policy=True,
        ),
    )
    property_seconds: float = field(
        default=120.0,
        metadata=_about(
            "Lanes: seconds on the clock that one property may take.",
            policy=True,
            low=0.1,
            high=86_400,
        ),
    )
    max_quarantine_days: int = field(
        default=30,  # longer, and nobody remembers what was to be mended
        metadata=_about(
            "Lanes: days that an entry of `flaky.yaml` may still live.", policy=True, high=366
        ),
    )
    max_waiver_days: int = field(
        default=180,  # an equivalent mutant stays one, but people and code move on
        metadata=_about(
            "Days that an entry of `waivers.yaml` may still live.", policy=True, high=3660
        ),
    )
    locked: bool = field(
        default=False,
        metadata=_about(
            "Lock rows out whose claimed test changed since `bind --lock` locked it, and rows of "
            "the merge base's table that the patch points at another test.",
            "--locked",
            policy=True,
        ),
    )


@dataclass(frozen=True, slots=True)
class Option:
    """One option, ready to become a flag, a configuration key or a line of documentation."""

    name: str
    """Field of ``Config``, configuration key and name in overrides alike."""
    type: type[str] | type[int] | type[float] | type[bool]
    """Of the value, or of each value in a list."""
    many: bool
    """A list in the file; a flag that may be repeated."""
    default: Value
    about: About


def _option(of: Field[Any], default: Value) -> Option:
    about: About = of.metadata["about"]
    match default:
        case Enum():
            choices = tuple(map(str, type(default)))
            return Option(
                of.name, str, many=False, default=default, about=replace(about, choices=choices)
            )
        case str() | int() | float():
            return Option(of.name, type(default), many=False, default=default, about=about)
        case _:
            return Option(of.name, str, many=True, default=default, about=about)


OPTIONS: Final = tuple(_option(of, getattr(Config(), of.name)) for of in fields(Config))
"""In the order in which a reader should meet them."""
