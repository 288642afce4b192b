"""Python runs this when it starts in a run of invertgate; it then runs the one it stands before."""

import os
import sys


def _start() -> None:
    scratch = os.environ.get("INVERTGATE_RUN")
    if not scratch:
        return
    if sys.version_info < (3, 11):  # noqa: UP036  # a test may start any Python
        _note_old_python(scratch)
        return
    from _invertgate_inside import boot  # type: ignore[import-not-found]

    boot.start(scratch)


def _note_old_python(scratch):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    board = os.path.join(scratch, os.environ.get("INVERTGATE_TREE", "0"), "board")
    with open(board, "r+b") as file:
        file.seek(1)
        file.write(b"\x01")


def _run_the_next() -> None:
    from _frozen_importlib import module_from_spec
    from _frozen_importlib_external import PathFinder

    here = os.path.dirname(os.path.abspath(__file__))
    rest = [entry for entry in sys.path if os.path.abspath(entry) != here]
    spec = PathFinder.find_spec("sitecustomize", rest)
    if spec is None or spec.loader is None:
        return
    module = module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


_start()
_run_the_next()
