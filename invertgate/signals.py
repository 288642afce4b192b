"""A request to end, however it is made, is a `KeyboardInterrupt`."""

import signal
import sys
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType
from typing import Final

TO_END: Final = (signal.SIGINT, signal.SIGTERM) + (
    (signal.SIGHUP,) if sys.platform != "win32" else ()
)
"""Signals by which somebody asks us to end."""


@contextmanager
def interruptible() -> Generator[None]:
    """Let a request to end be a ``KeyboardInterrupt``, so that every ``with`` cleans up.

    Only the first is: another one would interrupt the cleaning.
    """
    asked = False

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        nonlocal asked
        if not asked:
            asked = True
            raise KeyboardInterrupt

    numbers = [
        number for number in TO_END if signal.getsignal(number) not in {signal.SIG_IGN, None}
    ]
    before = {number: signal.signal(number, interrupt) for number in numbers}
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)
