"""The wire format, one ASCII JSON object per line of bounded size, and what an op may raise."""

from __future__ import annotations

import json
import threading
import time
from typing import Any, BinaryIO, Dict, Optional

PROTOCOL = 1
LINE_MAX_BYTES = 1 << 20
CHUNK_MAX_BYTES = 720 << 10
"""Raw bytes that still fit one line after base64."""

GATHERED_S = 0.02
HELD_MAX_BYTES = 64 << 10
"""A line this long is written at once."""


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
        self._held = bytearray()
        self._has_held = threading.Event()
        self._flusher: Optional[threading.Thread] = None
        self._error: Optional[OSError] = None

    def hello(self, marker: str, hello: Dict[str, Any]) -> None:
        """The first line: everything printed before it on the host is noise."""
        self._write(b"\n" + marker.encode("ascii") + b" " + _encode(hello))

    def send(self, message: Dict[str, Any]) -> None:
        """One message; one too large is replaced by an error with the same id."""
        self._write(_line(message))

    def send_soon(self, message: Dict[str, Any]) -> None:
        """One message, together with others of the same instant: an operator is woken once.

        It waits for `GATHERED_S` at most; raises OSError when one before it could not be written.
        """
        line = _line(message)
        if len(line) >= HELD_MAX_BYTES:
            self._write(line)
            return
        with self._lock:
            if self._error is not None:
                raise self._error
            self._held += line
            if self._flusher is None:
                self._flusher = threading.Thread(target=self._flush_on, name="flush", daemon=True)
                self._flusher.start()
        self._has_held.set()

    def _flush_on(self) -> None:
        while self._error is None:
            self._has_held.wait()
            self._has_held.clear()
            time.sleep(GATHERED_S)
            try:
                self._write(b"")
            except OSError as error:
                self._error = error

    def _write(self, data: bytes) -> None:
        with self._lock:
            view = memoryview(bytes(self._held) + data)
            self._held.clear()
            while view:  # an unbuffered stdout may take only part
                view = view[self._stream.write(view) or 0 :]
            self._stream.flush()


def _line(message: Dict[str, Any]) -> bytes:
    line = _encode(message)
    if len(line) <= LINE_MAX_BYTES:
        return line
    words = "the answer is larger than a line may be (%d bytes)" % len(line)
    return _encode({"id": message.get("id"), "error": {"kind": "error", "message": words}})


def _encode(message: Dict[str, Any]) -> bytes:
    return json.dumps(message, ensure_ascii=True, separators=(",", ":")).encode("ascii") + b"\n"
