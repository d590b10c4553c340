"""One HTTP/1.1 request on one fresh connection, timed where the bytes arrive.

A connection carries one request only, so no answer can be lost to a kept-alive connection that the
server closed in between, and nothing is ever sent twice.
"""

from __future__ import annotations

import errno
import os
import select
import socket
import time
from typing import TYPE_CHECKING

from .probe_http import AnswerReader, BrokenAnswerError

if TYPE_CHECKING:
    from typing import Any, Callable, List, Optional, Tuple

    OnBody = Callable[[Optional[int], bytes, float], None]
    Where = Tuple[int, Any]
    """An address family and an address of it."""

IN, OUT = select.EPOLLIN, select.EPOLLOUT
READ_BYTES = 16 * 1024
"""At once; memory for more is mapped and unmapped by the kernel each time."""

HELD_BYTES = 256 * 1024
"""Of a stream, that are read together: reading each piece as it comes costs more."""

LAST_CHUNK = b"\r\n\r\n"
"""What ends a chunked answer ends with it; no event of SGLang's does."""


class Exchange:
    """Sends one request and keeps each piece of the answer with its arrival time.

    Its owner waits on `fileno` for the `wants` of epoll(7), calls `ready`, and reads what came with
    `settle`: arrivals of all connections are stamped before any of them is read.
    """

    def __init__(self, payload: bytes, on_body: OnBody, where: Where, *, is_streamed: bool) -> None:
        """Begin to connect; raises BrokenAnswerError."""
        self.reader = AnswerReader()
        self.sent_at: Optional[float] = None
        self.first_byte_at: Optional[float] = None
        self.ended_at: Optional[float] = None
        self.wants = OUT
        self._unsent = memoryview(payload)
        self._on_body, self._is_streamed = on_body, is_streamed
        self._may_wait = False
        """The middle of a chunked stream is read when more of it has come."""

        self._pieces: List[Tuple[bytes, float]] = []
        self._held_bytes = 0
        self._failure: Optional[BrokenAnswerError] = None
        family, address = where
        try:
            self._socket = socket.socket(family, socket.SOCK_STREAM)
        except OSError as error:
            raise _connection_error(error) from error
        try:
            self._begin(address)
        except OSError as error:
            self._socket.close()
            raise _connection_error(error) from error

    @property
    def fileno(self) -> int:
        """The descriptor of its connection."""
        return self._socket.fileno()

    def _begin(self, address: Any) -> None:
        self._socket.settimeout(0)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        code = self._socket.connect_ex(address)
        if code == 0:
            self._send()
        elif code != errno.EINPROGRESS:
            raise OSError(code, os.strerror(code))

    def close(self) -> None:
        """Let go of the connection."""
        self._socket.close()

    def ready(self, mask: int) -> bool:
        """Send or take what can be; True when `settle` has something to do."""
        try:
            if mask != IN:
                self._send_if(mask)
                if mask == OUT:
                    return False
            return self._take()
        except OSError as error:
            self._failure = _connection_error(error)
            return True

    def _send_if(self, mask: int) -> None:
        if self.sent_at is None or mask & OUT:
            self._send()

    def settle(self) -> bool:
        """Read what came; True when the answer is whole. Raises BrokenAnswerError when broken."""
        pieces, self._pieces, self._held_bytes = self._pieces, [], 0
        for data, at in pieces:
            if data:
                self._read(data, at)
            else:
                self.reader.end()
            if self.reader.is_done:
                self.ended_at = at
                return True
        if self._failure is not None:
            raise self._failure
        return False

    def _read(self, data: bytes, at: float) -> None:
        body = self.reader.feed(data)
        if not self._may_wait:
            self._may_wait = self._is_streamed and self.reader.is_chunked
        if body:
            self._on_body(self.reader.status, body, at)

    def _send(self) -> None:
        if self.sent_at is None:
            code = self._socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            if code:
                raise OSError(code, os.strerror(code))
            self.sent_at = time.perf_counter()
        try:
            self._unsent = self._unsent[self._socket.send(self._unsent) :]
        except BlockingIOError:
            return
        except OSError:
            self._unsent = self._unsent[:0]  # it may have answered before it closed: that is read
        self.wants = IN | (OUT if self._unsent else 0)

    def _take(self) -> bool:
        try:
            data = self._socket.recv(READ_BYTES)
        except BlockingIOError:
            return False
        except OSError as error:
            self._failure = BrokenAnswerError(self._broken_kind(), str(error))
            return True
        at = time.perf_counter()
        if self.first_byte_at is None and data:
            self.first_byte_at = at
        self._pieces.append((data, at))
        self._held_bytes += len(data)
        is_last = data.endswith(LAST_CHUNK) or len(data) <= len(LAST_CHUNK)
        return is_last or not self._may_wait or self._held_bytes >= HELD_BYTES

    def _broken_kind(self) -> str:
        return "reset mid-stream" if self.first_byte_at is not None else "no answer"


def _connection_error(error: OSError) -> BrokenAnswerError:
    is_refused = isinstance(error, ConnectionRefusedError)
    return BrokenAnswerError("refused" if is_refused else "unreachable", str(error))


def resolve(address: str, port: int) -> List[Where]:
    """All that `address` stands for; raises BrokenAnswerError."""
    try:
        found = socket.getaddrinfo(address, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise BrokenAnswerError("unreachable", str(error)) from error
    return [(family, where) for family, _, _, _, where in found]
