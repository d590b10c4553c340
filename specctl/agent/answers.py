"""The `answers` stream: what a server on this host answers on one path, again and again."""

from __future__ import annotations

import http.client
import socket
import time
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from . import asked
from .protocol import OpError
from .sampler import to_next_s

if TYPE_CHECKING:
    from typing import Any, Dict, Iterator

MAX_BODY_BYTES = 384 * 1024
"""An item has to fit one line of the protocol."""


def answers(params: Dict[str, Any], cancelled: Any) -> Iterator[Dict[str, Any]]:
    """An item every `interval_s`, asked for when the samples of that interval are taken.

    Each has `status` and `body`, or `error` (refused, timed out, broken) and its `detail`. The
    connection is kept; a request that finds it closed by the server is sent once more on a new one.
    """
    interval_s = asked.seconds(params, "interval_s", 1.0, 0.05)
    server = _Server(params)
    try:
        while True:
            due = time.monotonic() + to_next_s(time.time(), interval_s)
            if cancelled.wait(max(0.0, due - time.monotonic())):
                return
            yield server.ask()
    finally:
        server.close()


class _Server:
    """One path of one server."""

    def __init__(self, params: Dict[str, Any]) -> None:
        url = urlsplit(params["url"])
        if url.scheme != "http" or not url.hostname or not url.port:
            raise OpError("bad_request", "url must be http://ADDRESS:PORT")
        self._timeout_s = asked.seconds(params, "timeout_s", 4.0, 0.05)
        self._connection = http.client.HTTPConnection(
            url.hostname, url.port, timeout=self._timeout_s
        )
        self._path = asked.text(params, "path")
        self._headers = {str(k): str(v) for k, v in (params.get("headers") or {}).items()}

    def close(self) -> None:
        self._connection.close()

    def ask(self) -> Dict[str, Any]:
        """One item."""
        was_open = self._connection.sock is not None
        try:
            return self._ask_twice() if was_open else self._ask()
        except socket.timeout as error:
            return self._failed("timed out", error)
        except ConnectionRefusedError as error:
            return self._failed("refused", error)
        except (OSError, http.client.HTTPException) as error:
            return self._failed("broken", error)

    def _ask_twice(self) -> Dict[str, Any]:
        """The server may have closed the kept connection: then it did not see the request."""
        try:
            return self._ask()
        except (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError):
            self._connection.close()
            return self._ask()

    def _ask(self) -> Dict[str, Any]:
        self._connection.request("GET", self._path, headers=self._headers)
        answer = self._connection.getresponse()
        body = self._read(answer, time.monotonic() + self._timeout_s)
        return {"status": answer.status, "body": body.decode("utf-8", "replace")}

    @staticmethod
    def _read(answer: http.client.HTTPResponse, until_s: float) -> bytes:
        """The body: each piece has a deadline by its socket, this one is of them all."""
        body = b""
        while piece := answer.read1(MAX_BODY_BYTES):
            body += piece
            if len(body) > MAX_BODY_BYTES:
                raise http.client.HTTPException("an answer over 384 KiB")
            if time.monotonic() > until_s:
                raise socket.timeout("timed out")
        answer.close()  # `read1` leaves one of a given length open (Python 3.8 to 3.13)
        return body

    def _failed(self, word: str, error: Exception) -> Dict[str, Any]:
        self._connection.close()
        return {"error": word, "detail": "%s" % (error,) or type(error).__name__}
