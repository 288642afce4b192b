"""The errors that a user can do something about: one root, each with its exit code."""

from enum import IntEnum


class ExitCode(IntEnum):
    """What continuous integration sees; the numbers are part of the contract."""

    OK = 0
    FINDINGS = 1
    USAGE = 2
    UNPROVEN = 3
    RED = 4
    NO_BASE = 5
    NOT_PARSED = 6
    LANE_REJECTED = 7
    HOLD = 8
    BUG = 70
    INTERRUPTED = 130


WORST_FIRST = (
    ExitCode.INTERRUPTED,
    ExitCode.BUG,
    ExitCode.USAGE,
    ExitCode.NOT_PARSED,
    ExitCode.NO_BASE,
    ExitCode.RED,
    ExitCode.LANE_REJECTED,
    ExitCode.FINDINGS,
    ExitCode.UNPROVEN,
    ExitCode.HOLD,
    ExitCode.OK,
)
"""When several apply, the first of these is the exit code."""


class InvertgateError(Exception):
    """The run cannot go on, and the message says what the user can do."""

    exit_code: ExitCode = ExitCode.USAGE


class UsageError(InvertgateError):
    """An option, a configuration key or an argument is wrong."""


class TableError(InvertgateError):
    """The decision table is malformed; the message names line and field."""


class NoBaseError(InvertgateError):
    """The base or the difference to it cannot be had."""

    exit_code = ExitCode.NO_BASE


class EngineError(InvertgateError):
    """pytest could not be started on the copies; the message quotes what it said."""

    exit_code = ExitCode.UNPROVEN


class IncompleteSetError(InvertgateError):
    """Reports do not make up a whole; the message names what is missing or does not belong."""

    exit_code = ExitCode.UNPROVEN
