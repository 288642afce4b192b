"""Put the switch in place, in every Python process of a run, before anything else happens."""

from __future__ import annotations

import os
import sys

from . import children, loading, refusals, seen, settings, switch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .witnessed import Witness

BOOTSTRAP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
"""The folder that holds this package and ``sitecustomize``; it stands on ``PYTHONPATH``."""


class Here:
    """What is in place in this process; empty until :func:`start`."""

    boot: settings.Boot
    loading: loading.Loading
    hand_over: children.HandOver
    folder: str
    """Where this process was started, before anything could change that."""
    environment: dict[str, str]
    """What its environment was then."""
    seen: seen.Seen | None = None
    """What this process has opened; None if nobody wants to know."""
    witness: Witness | None = None
    """In a worker: of what is opened in its tree."""


def start(scratch: str) -> None:
    """Put the switch in place: the tree, the woven modules, the hand-over to children."""
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != BOOTSTRAP]
    boot = settings.read_boot(scratch)
    number = int(os.environ.get(settings.TREE, "0"))
    switch.install()
    switch.SWITCH.board = switch.Board(boot.board(number), len(boot.files), boot.slots)
    switch.invert(switch.SWITCH.board.inverted())
    Here.boot = boot
    Here.loading = loading.install(boot, number)
    held = os.environ.get(settings.CONTAIN, "")
    Here.seen = seen.begun(boot, number, is_held=bool(held))
    Here.hand_over = children.install(
        BOOTSTRAP,
        Here.loading,
        refusals.watcher(held, scratch),
        None if Here.seen is None else Here.seen.watch,
    )
    _remember()
    _note_script()


def enter(number: int) -> None:
    """Move this process, a new worker, to another tree and its private folders."""
    boot = Here.boot
    settings.put(os.environ, settings.home_environment(boot, number))
    os.environ["PWD"] = os.getcwd()
    loaded = sys.modules.get("tempfile")
    if loaded is not None:
        vars(loaded)["tempdir"] = None  # it is asked for anew
    switch.SWITCH.board = switch.Board(boot.board(number), len(boot.files), boot.slots)
    Here.loading.enter(number)
    if Here.seen is not None:
        from .witnessed import Witness  # only a worker needs it

        Here.witness = Witness(boot, number)
        Here.seen.enter(number)
    Here.hand_over.refresh()
    _remember()


def _remember() -> None:
    Here.folder = os.getcwd()
    Here.environment = dict(os.environ)


def _note_script() -> None:
    """Note a file with rows that is run as a script: it does not come in by the import system."""
    script = next((word for word in sys.orig_argv[1:] if word.endswith(".py")), None)
    if script is None or {"-m", "-c"} & set(sys.orig_argv[1 : sys.orig_argv.index(script)]):
        return
    file = Here.loading.woven_file(script) or Here.loading.file_of_original(script)
    board = switch.SWITCH.board
    if file is not None and board is not None:
        board.bare(file.number)
