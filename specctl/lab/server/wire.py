"""Messages between the server's processes: JSON objects, one a line, over a pair of sockets."""

from __future__ import annotations

import json
import select
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import socket

_CHUNK = 1 << 16
_ENDED = b""


class Wire:
    """One end, used without asyncio."""

    def __init__(self, end: socket.socket) -> None:
        self._end = end
        self._rest = b""
        self.is_closed = False

    def send(self, message: dict[str, Any]) -> None:
        """Raises BrokenPipeError when the other end is gone."""
        self._end.sendall(json.dumps(message, separators=(",", ":")).encode() + b"\n")

    def receive(self, timeout_s: float | None) -> list[dict[str, Any]]:
        """What has come, waiting at most so long for the first; empty after a close too."""
        readable, _, _ = select.select([self._end], [], [], timeout_s)
        if not readable:
            return []
        chunk = self._end.recv(_CHUNK)
        if chunk == _ENDED:
            self.is_closed = True
            return []
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        return [json.loads(line) for line in lines]

    def detach(self) -> socket.socket:
        """The socket itself, for whoever goes on with it."""
        return self._end
