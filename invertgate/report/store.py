"""The report on disk: always there, always valid, complete only at the end."""

import json
import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Final

from invertgate.errors import ExitCode, InvertgateError, UsageError
from invertgate.report.build import ConservationError, check, failed
from invertgate.report.document import SCHEMA_VERSION, BindReport, Facts, Report
from invertgate.source_text import json_of

FOLDER: Final = "invertgate.out"
FILE: Final = "report.json"


@contextmanager
def opened(folder: Path, facts: Facts) -> Generator[None]:
    """Keep a valid report in a folder, from the first moment on.

    The stale one is gone on entry, replaced by one marked incomplete with exit code 130. Whoever
    gets to the end writes the real one; what stops the run before leaves its own exit code.

    Raises:
        UsageError: The folder cannot be written.
    """
    clear(folder)
    write(failed(facts, ExitCode.INTERRUPTED), folder)
    try:
        yield
    except InvertgateError as error:
        write(failed(facts, error.exit_code, str(error)), folder)
        raise
    except Exception as error:
        write(failed(facts, ExitCode.BUG, f"{type(error).__name__}: {error}"), folder)
        raise


def clear(folder: Path) -> None:
    """Remove what an earlier run left, and make sure that git ignores the folder.

    Raises:
        UsageError: The folder cannot be written.
    """
    with _or_usage_error(folder):
        folder.mkdir(exist_ok=True)
        ignore = folder / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n", encoding="ascii")
        (folder / FILE).unlink(missing_ok=True)


def write(report: Report, folder: Path) -> Path:
    """Write the report, all of it or nothing, and return its path.

    Raises:
        UsageError: The folder cannot be written.
    """
    path = folder / FILE
    unfinished = folder / f".{FILE}.{os.getpid()}"
    with _or_usage_error(path):
        try:
            unfinished.write_text(encode(report), encoding="ascii", newline="\n")
            unfinished.replace(path)
        finally:
            with suppress(OSError):
                unfinished.unlink(missing_ok=True)
    return path


def encode(report: Report | BindReport) -> str:
    """Return the report as JSON, in ASCII, with a newline at its end."""
    # msgspec does the slow parts where there are rows, if all names are UTF-8; a patch without any
    # starts sooner without it.
    if isinstance(report, Report) and not report.rows:
        return json.dumps(asdict(report), indent=2, allow_nan=False) + "\n"
    from msgspec import DecodeError, to_builtins  # noqa: PLC0415
    from msgspec.json import format as lay_out  # noqa: PLC0415

    content = to_builtins(report)
    try:
        return lay_out(json.dumps(content, allow_nan=False), indent=2) + "\n"
    except DecodeError:
        return json.dumps(content, indent=2, allow_nan=False) + "\n"


def read(path: Path) -> Report:
    """Read a report that :func:`write` wrote.

    Raises:
        UsageError: It cannot be read, or it is no report of this version.
    """
    from msgspec import ValidationError, convert  # noqa: PLC0415 - only readers wait for it

    if not path.exists():
        raise UsageError(f"there is no report {path}; `invertgate run` writes one")
    with _or_usage_error(path):
        text = path.read_text(encoding="utf-8")
    try:
        content = json_of(text)
        version = content.get("schema_version") if isinstance(content, dict) else None
        if isinstance(version, int) and version > SCHEMA_VERSION:
            raise UsageError(
                f"{path} is no report that this version reads: a newer invertgate wrote it "
                f"(schema_version {version}, not {SCHEMA_VERSION}); install that one, or run the "
                "gate again"
            )
        if version != SCHEMA_VERSION:
            raise UsageError(
                f"{path} is no report that this version reads (schema_version {version!r}, "
                f"not {SCHEMA_VERSION}); run the gate again"
            )
        return check(convert(content, Report))
    except (ValueError, ValidationError) as error:
        raise UsageError(f"{path} is no report: {error}; run the gate again") from error
    except ConservationError as error:
        raise UsageError(f"{path} does not add up: {error}; run the gate again") from error


@contextmanager
def _or_usage_error(path: Path) -> Generator[None]:
    try:
        yield
    except OSError as error:
        what = error.strerror or type(error).__name__
        raise UsageError(f"cannot use {path}: {what}; make it writable or move it away") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is no report: {error}; run the gate again") from error
