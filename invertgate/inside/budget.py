"""How experiments are run; told to every worker."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Options:
    """How many runs, in what processes, under which limits."""

    confirm: int
    """How many pairs of a passing control and a failing inverted run have to agree."""
    fork: bool
    """False: every run is a fresh process."""
    doubt: bool
    """Ask a fresh process too before a test is blamed."""
    factor: float
    """Processor time of an inverted run, as a multiple of the control's."""
    floor: float
    """Least seconds of processor time of a run."""
    wall_floor: float
    """Least seconds of the clock of a run."""
    memory: int
    """Bytes that a run may use."""
    control: float
    """Seconds of the clock of a control in a fresh process; there is nothing to compare it with."""
    control_fork: float
    """The same in a fork, which may hang where a fresh process would not."""
