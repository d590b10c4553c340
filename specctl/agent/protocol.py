"""The wire format, one ASCII JSON object per line of bounded size, and what an op may raise."""

from __future__ import annotations

import json
import threading
from typing import Any, BinaryIO, Dict

PROTOCOL = 1
LINE_MAX_BYTES = 1 << 20
CHUNK_MAX_BYTES = 720 << 10
"""Raw bytes that still fit one line after base64."""


class OpError(Exception):
    """An op that failed in an expected way; `kind` is part of the protocol."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


def describe(error: BaseException) -> Dict[str, str]:
    """The `error` object of an answer."""
    return {"kind": _kind(error), "message": _words(error)}


def _kind(error: BaseException) -> str:
    if isinstance(error, OpError):
        return error.kind
    if isinstance(error, PermissionError):
        return "no_permission"
    if isinstance(error, (FileNotFoundError, NotADirectoryError, ProcessLookupError)):
        return "not_found"
    if isinstance(error, TimeoutError):
        return "timed_out"
    return "error"


def _words(error: BaseException) -> str:
    if isinstance(error, OpError):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        where = " " + str(error.filename) if error.filename else ""
        return error.strerror + where
    return type(error).__name__ + (": " + str(error) if str(error) else "")


class Writer:
    """Writes whole lines from any thread."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._lock = threading.Lock()

    def hello(self, marker: str, hello: Dict[str, Any]) -> None:
        """The first line: everything printed before it on the host is noise."""
        self._write(b"\n" + marker.encode("ascii") + b" " + _encode(hello))

    def send(self, message: Dict[str, Any]) -> None:
        """One message; one too large is replaced by an error with the same id."""
        line = _encode(message)
        if len(line) > LINE_MAX_BYTES:
            words = "the answer is larger than a line may be (%d bytes)" % len(line)
            error = {"kind": "error", "message": words}
            line = _encode({"id": message.get("id"), "error": error})
        self._write(line)

    def _write(self, data: bytes) -> None:
        with self._lock:
            view = memoryview(data)
            while view:  # an unbuffered stdout may take only part
                view = view[self._stream.write(view) or 0 :]
            self._stream.flush()


def _encode(message: Dict[str, Any]) -> bytes:
    return json.dumps(message, ensure_ascii=True, separators=(",", ":")).encode("ascii") + b"\n"
