"""Whole messages between a worker and the processes that it asks for runs. PYTEST_DONT_REWRITE."""

import os
from typing import Final

_LENGTH: Final = 4
"""Bytes before a message that say how long it is, the lowest first."""

_PIECE: Final = 4096

_read: Final = os.read
_write: Final = os.write


class Channel:
    """One end of a stream: bytes in, the same bytes out at the other end."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor

    def send(self, message: bytes) -> None:
        """Send a message.

        Raises:
            OSError: Nobody has the other end any more.
        """
        rest = len(message).to_bytes(_LENGTH, "little") + message
        while rest:
            rest = rest[_write(self.descriptor, rest) :]

    def receive(self) -> bytes:
        """Wait for a message; nobody sends a second one before the first is answered.

        Raises:
            EOFError: Nobody has the other end any more.
        """
        read = self._some(_PIECE)
        while len(read) < _LENGTH:
            read += self._some(_PIECE)
        length = _LENGTH + int.from_bytes(read[:_LENGTH], "little")
        while len(read) < length:
            read += self._some(length - len(read))
        return read[_LENGTH:]

    def close(self) -> None:
        """Give this end up."""
        os.close(self.descriptor)

    def _some(self, most: int) -> bytes:
        read = _read(self.descriptor, most)
        if not read:
            raise EOFError
        return read
