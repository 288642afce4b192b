"""The workers of a Dask cluster, each given one shard at a time; the one caller of Dask."""

# What is imported within functions is needed only by those who have a cluster.
# ruff: noqa: PLC0415

import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar
from uuid import uuid4

from invertgate.errors import EngineError, UsageError
from invertgate.nightly import hand
from invertgate.nightly.hand import Answer, Stance

if TYPE_CHECKING:
    from distributed import Client, Future

    Running = dict[str, tuple[int, "Future[Answer]"]]

_CONNECT: Final = "10s"
_PIECE: Final = 4 << 20
_LOOK_EVERY: Final = 0.5
_WAIT_FOR_WORKERS: Final = 15.0
"""Seconds that a run waits for a worker to come, when there is none."""
_TRIES: Final = 3
"""Workers that a shard may be given to, one after another."""

_Thing = TypeVar("_Thing")


@dataclass(frozen=True, slots=True)
class Archive:
    """A tree that travels."""

    path: Path
    digest: str
    name: str
    """What the top of the tree is called."""


class GoneError(Exception):
    """A worker went away before it had answered."""


@dataclass(slots=True)
class _State:
    """What has become of shards and workers so far."""

    waiting: deque[int]
    running: "Running" = field(default_factory=dict)
    ready: set[str] = field(default_factory=set)
    refused: dict[str, str] = field(default_factory=dict)
    """By worker, why it is not used."""
    given: dict[int, int] = field(default_factory=dict)
    """How often each shard was given to a worker."""
    alone_since: float = 0.0
    """Since when no worker can be used; 0 if one can."""


class Cluster:
    """A cluster that somebody is connected to."""

    def __init__(self, client: "Client") -> None:
        self._client = client
        self.token = uuid4().hex
        self.notes: list[str] = []
        """What a reader should be told of workers that were refused, or went away."""
        self._used: set[str] = set()

    def addresses(self) -> list[str]:
        """Return the addresses of the workers that are there now."""
        return sorted(self._client.nthreads())

    def ask(self, address: str, question: Callable[..., _Thing], *told: object) -> _Thing:
        """Let one worker answer a question.

        Raises:
            GoneError: It went away.
            Exception: What the worker ran into.
        """
        future = self.start(address, question, *told)
        while True:
            with suppress(TimeoutError):
                return future.result(timeout=_LOOK_EVERY)
            if address not in self.addresses():
                future.cancel()
                raise GoneError(address)

    def start(
        self, address: str, question: Callable[..., _Thing], *told: object
    ) -> "Future[_Thing]":
        """Begin to ask one worker, and no other."""
        return self._client.submit(
            question, *told, workers=[address], allow_other_workers=False, pure=False
        )

    def judged(
        self, archive: Archive, here: Stance, jobs: Mapping[int, str]
    ) -> Generator[tuple[int, str, Answer]]:
        """Let the workers judge shards; one that dies gives its shard back.

        Args:
            archive: The tree.
            here: What a worker has to be like.
            jobs: What the process of each shard is told, by the shard's number.

        Yields:
            The number of a shard, the worker that judged it, and what it answered.

        Raises:
            UsageError: No worker can be used, and why.
            EngineError: All of them went away, or a shard takes its workers down with it.
        """
        state = _State(deque(jobs))
        try:
            while state.waiting or state.running:
                there = self.addresses()
                self._give_back(state, there)
                self._make_ready(state, there, archive, here)
                for address in sorted(state.ready - state.running.keys()):
                    if state.waiting:
                        self._give(state, address, archive, jobs)
                self._wait(state)
                yield from self._done(state)
        finally:
            for _, future in state.running.values():
                future.cancel()

    def _give_back(self, state: _State, there: Iterable[str]) -> None:
        """Take the shards of workers that are gone, and forget them."""
        gone = (state.ready | state.running.keys()) - set(there)
        for address in sorted(gone):
            state.ready.discard(address)
            number, future = state.running.pop(address, (None, None))
            if number is not None and future is not None:
                future.cancel()
                self._once_more(state, number, f"worker {address} went away")

    def _once_more(self, state: _State, number: int, why: str) -> None:
        self.notes.append(f"{why}; another one judges shard {number}")
        if state.given[number] >= _TRIES:
            raise EngineError(
                f"shard {number} was given to {_TRIES} workers, and none of them judged it: {why}"
            )
        state.waiting.appendleft(number)

    def _make_ready(
        self, state: _State, there: Iterable[str], archive: Archive, here: Stance
    ) -> None:
        """Look at workers that are new, and let the tree travel to hosts that do not have it."""
        for address in there:
            if address in state.ready or address in state.refused:
                continue
            try:
                why = here.differs(self.ask(address, hand.stance))
                if not why:
                    self.ship(address, archive)
            except GoneError:
                continue
            except Exception as error:  # noqa: BLE001  # whatever a machine of others runs into
                why = f"{type(error).__name__}: {error}"
            if why:
                state.refused[address] = why
                self.notes.append(f"worker {address} is not used: {why}")
            else:
                state.ready.add(address)
                self._used.add(address)

    def ship(self, address: str, archive: Archive) -> bool:
        """Bring an archive to the host of a worker; tell whether it had to travel.

        Raises:
            GoneError: The worker went away.
            EngineError: What arrived is not what was sent.
        """
        if self.ask(address, hand.holds, archive.digest):
            return False
        offset = 0
        with archive.path.open("rb") as stream:
            while piece := stream.read(_PIECE):
                self.ask(address, hand.take, archive.digest, self.token, offset, piece)
                offset += len(piece)
        if not self.ask(address, hand.keep, archive.digest, self.token):
            raise EngineError("the archive did not arrive as it was sent")
        return True

    def _give(self, state: _State, address: str, archive: Archive, jobs: Mapping[int, str]) -> None:
        number = state.waiting.popleft()
        state.given[number] = state.given.get(number, 0) + 1
        told = (archive.digest, archive.name, self.token, jobs[number])
        state.running[address] = (number, self.start(address, hand.judge, *told))

    def _wait(self, state: _State) -> None:
        """Wait a little for something to happen, and not for ever for the first worker."""
        if state.running:
            from distributed import wait

            state.alone_since = 0.0
            futures = [future for _, future in state.running.values()]
            with suppress(TimeoutError):
                wait(futures, timeout=_LOOK_EVERY, return_when="FIRST_COMPLETED")
            return
        state.alone_since = state.alone_since or time.monotonic()
        if time.monotonic() - state.alone_since > _WAIT_FOR_WORKERS:
            raise _nobody(state)
        time.sleep(_LOOK_EVERY)

    def _done(self, state: _State) -> Generator[tuple[int, str, Answer]]:
        there = set(self.addresses())
        for address, (number, future) in list(state.running.items()):
            if address not in there or not future.done():
                continue
            del state.running[address]
            try:
                answer = future.result()
            except Exception as error:  # noqa: BLE001  # see _make_ready
                why = f"{type(error).__name__}: {error}"
                state.ready.discard(address)
                state.refused[address] = why
                self._once_more(state, number, f"worker {address} is not used any more: {why}")
                continue
            yield number, address, answer

    def leave(self) -> None:
        """End what still runs, and let the workers remove the tree."""
        there = [address for address in self.addresses() if address in self._used]
        if there:
            self._client.run(hand.stop, self.token, workers=there, on_error="ignore")


def _nobody(state: _State) -> UsageError | EngineError:
    refused = "; ".join(f"{address}: {why}" for address, why in sorted(state.refused.items()))
    if state.given:
        left = len(state.waiting)
        return EngineError(f"no worker is left, and {left} shards are not judged; {refused}")
    return UsageError(
        f"no worker of the cluster can be used ({refused or 'it has none'}); "
        "start workers with the same Python and the same packages as here"
    )


def ready() -> None:
    """See to it that Dask is there.

    Raises:
        UsageError: It is not.
    """
    try:
        import distributed  # noqa: F401
    except ImportError as error:
        raise UsageError(
            f"--cluster needs Dask, which cannot be imported ({error}); "
            "pip install 'invertgate[dask]'"
        ) from error


@contextmanager
def connected(address: str) -> Generator[Cluster]:
    """Lend a connection to a cluster.

    Args:
        address: Its scheduler's (``tcp://host:8786``).

    Raises:
        UsageError: Nobody answers there, or Dask is not installed.
    """
    ready()
    from distributed import Client

    try:
        client = Client(address, timeout=_CONNECT)
    except (OSError, ValueError, ImportError) as error:
        said = str(error).strip().splitlines()
        raise UsageError(
            f"--cluster {address}: no scheduler answers there "
            f"({said[0] if said else type(error).__name__}); "
            "start one with `dask scheduler`, and name its address, as in tcp://host:8786"
        ) from error
    with client:
        cluster = Cluster(client)
        try:
            yield cluster
        finally:
            cluster.leave()
