import os
import socket
import threading

import pytest

from invertgate.inside.channel import Channel


@pytest.mark.parametrize("size", [0, 1, 4091, 4092, 4093, 1_000_000])
def test_message_comes_out_as_it_went_in(size: int) -> None:
    one, other = socket.socketpair()
    message = os.urandom(size)
    with one, other:
        sender = threading.Thread(target=Channel(one.fileno()).send, args=(message,))
        sender.start()
        received = Channel(other.fileno()).receive()
        sender.join()

    assert received == message


def test_message_that_comes_byte_by_byte_is_whole() -> None:
    one, other = socket.socketpair()
    with one, other:
        for byte in b"\x03\0\0\0abc":
            one.send(bytes([byte]))
        received = Channel(other.fileno()).receive()

    assert received == b"abc"


def test_end_of_the_stream_is_told() -> None:
    one, other = socket.socketpair()
    one.close()

    with other, pytest.raises(EOFError):
        Channel(other.fileno()).receive()
