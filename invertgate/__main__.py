"""The command, also as ``python -m invertgate``."""

import gc
from typing import NoReturn

_BETWEEN_COLLECTIONS = 50_000
"""Objects; what is imported is no garbage, and hardly anything here makes cycles."""


def main() -> NoReturn:
    """Do what the command line says; see :func:`invertgate.cli.main`."""
    gc.set_threshold(_BETWEEN_COLLECTIONS)
    from invertgate import cli  # noqa: PLC0415 - what is imported is the most of a short run

    cli.main()


if __name__ == "__main__":
    main()
