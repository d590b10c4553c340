"""One request on one connection: what is sent, when what comes is stamped, and when it is read."""

from __future__ import annotations

import select
import socket
import threading
import time
from typing import TYPE_CHECKING

import pytest

from specctl.agent.probe_exchange import HELD_BYTES, Exchange, resolve
from specctl.agent.probe_http import BrokenAnswerError

if TYPE_CHECKING:
    from collections.abc import Iterator

HEAD = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
PIECE = b"5\r\nhello\r\n"
LAST = b"0\r\n\r\n"


class Peer:
    """The other end of one exchange, played by hand."""

    def __init__(self, payload: bytes = b"GET", *, is_streamed: bool = True) -> None:
        self.body: list[bytes] = []
        self.times: list[float] = []
        with socket.create_server(("127.0.0.1", 0)) as listening:
            where = socket.AF_INET, listening.getsockname()
            self.exchange = Exchange(payload, self._take, where, is_streamed=is_streamed)
            self.socket, _ = listening.accept()
        self._epoll = select.epoll()
        self._epoll.register(self.exchange.fileno, self.exchange.wants)

    def _take(self, status: int | None, data: bytes, at: float) -> None:
        assert status == 200
        self.body.append(data)
        self.times.append(at)

    def step(self, wait_s: float = 1.0) -> bool:
        """One turn of a loop; True when there is something to read."""
        ready = [self.exchange.ready(mask) for _, mask in self._epoll.poll(wait_s)]
        self._epoll.modify(self.exchange.fileno, self.exchange.wants)
        return any(ready)

    def sends(self, data: bytes) -> bool:
        """Send `data`, let it be taken."""
        self.socket.sendall(data)
        return self.step()

    def begun(self) -> Peer:
        """Its request sent, the head of the answer read."""
        while self.exchange.wants & select.EPOLLOUT:
            self.step()
        assert self.socket.recv(100) == b"GET"
        assert self.sends(HEAD)
        assert not self.exchange.settle()
        return self

    def close(self) -> None:
        self.exchange.close()
        self.socket.close()
        self._epoll.close()


@pytest.fixture
def peer() -> Iterator[Peer]:
    made = Peer()
    yield made.begun()
    made.close()


def test_the_middle_of_a_stream_is_stamped_as_it_comes_and_read_together(peer):
    assert not peer.sends(PIECE)
    time.sleep(0.05)
    assert not peer.sends(PIECE)
    assert peer.body == []
    assert peer.sends(LAST)
    assert peer.exchange.settle()
    assert peer.body == [b"hello", b"hello"]
    assert 0.05 <= peer.times[1] - peer.times[0] < 1
    assert peer.exchange.ended_at >= peer.times[1]


def test_a_last_chunk_in_two_pieces_ends_the_answer(peer):
    peer.sends(PIECE)
    assert peer.sends(b"0\r\n")
    assert not peer.exchange.settle()
    assert peer.sends(b"\r\n")
    assert peer.exchange.settle()


def test_no_more_than_so_much_of_a_stream_is_held(peer):
    chunk = b"4000\r\n" + b"x" * 0x4000 + b"\r\n"
    held = 0
    while not peer.sends(chunk[: len(chunk) - 1]):
        peer.sends(chunk[len(chunk) - 1 :])
        held += len(chunk)
        assert held <= HELD_BYTES
    assert not peer.exchange.settle()
    assert sum(map(len, peer.body)) > HELD_BYTES / 2


def test_a_stream_that_closes_in_the_middle_is_truncated_after_what_came(peer):
    peer.sends(PIECE)
    peer.socket.close()
    assert peer.step()
    with pytest.raises(BrokenAnswerError) as caught:
        peer.exchange.settle()
    assert (caught.value.kind, peer.body) == ("truncated", [b"hello"])


def test_what_is_not_a_stream_is_read_as_it_comes():
    peer = Peer(is_streamed=False).begun()
    assert peer.sends(PIECE)
    peer.exchange.settle()
    assert peer.body == [b"hello"]
    peer.close()


def test_a_request_larger_than_the_socket_takes_goes_out_in_parts():
    payload = bytes(range(256)) * 100_000
    peer = Peer(payload)
    got: list[bytes] = []

    def read() -> None:
        size = 0
        while size < len(payload):
            got.append(peer.socket.recv(1 << 20))
            size += len(got[-1])

    reading = threading.Thread(target=read)
    peer.step()
    assert peer.exchange.wants & select.EPOLLOUT
    reading.start()
    while peer.exchange.wants & select.EPOLLOUT:
        peer.step()
    reading.join(10)
    assert b"".join(got) == payload
    peer.close()


def test_an_answer_before_the_request_was_read_is_kept():
    peer = Peer(b"x" * 50_000_000)
    peer.step()
    peer.socket.sendall(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")
    peer.socket.shutdown(socket.SHUT_WR)
    assert peer.step()
    assert peer.exchange.settle()
    assert peer.exchange.reader.status == 413
    peer.close()


def test_a_name_without_an_address_is_unreachable():
    with pytest.raises(BrokenAnswerError) as caught:
        resolve("no-such-host.invalid", 1)
    assert caught.value.kind == "unreachable"
