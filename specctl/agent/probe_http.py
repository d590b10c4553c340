"""HTTP/1.1 as bytes: the request as it goes out, and one answer cut out of what comes back."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Callable, Dict, List, Mapping, Optional

    Step = Callable[[List[bytes]], bool]

MAX_HEAD_BYTES = 64 * 1024
MAX_SIZE_LINE_BYTES = 1024
NO_BODY = (204, 304)
INTERIM = range(100, 200)
SWITCHING = 101


_SIZE = re.compile(rb"[0-9A-Fa-f]{1,15}\Z")
_STATUS_LINE = re.compile(r"HTTP/1\.[0-9] ([0-9]{3})( |\Z)")
_CHUNK_END = b"\r\n"
MOST_SIZE_BYTES = 18
"""Of a size that `_SIZE` matches, and its line's end."""


class BrokenAnswerError(Exception):
    """An answer that did not arrive whole; `kind` is one of a few fixed words."""

    def __init__(self, kind: str, detail: str = "") -> None:
        super().__init__(kind, detail)
        self.kind = kind
        self.detail = detail


class AnswerReader:
    """Cuts one answer out of bytes in whatever pieces they come (RFC 9112)."""

    def __init__(self) -> None:
        self.status: Optional[int] = None
        self.headers: Dict[str, str] = {}
        self.is_chunked = False
        self.is_done = False
        self.has_begun = False
        self._held = bytearray()
        self._is_between = False
        """What comes next is the size of a chunk."""

        self._left = 0
        self._step: Step = self._read_head

    def feed(self, data: bytes) -> bytes:
        """Take `data`; returns what it adds to the body."""
        if self._is_between and not self._held:
            whole = _whole_chunk(data)
            if whole is not None:
                return whole
        self.has_begun = self.has_begun or bool(data)
        self._held += data
        body: List[bytes] = []
        while not self.is_done and self._step(body):
            pass
        return b"".join(body)

    def end(self) -> None:
        """The peer closed: complete only where the body lasts until then."""
        if self._step == self._read_until_close:
            self.is_done = True
        if not self.is_done:
            raise BrokenAnswerError("truncated" if self.has_begun else "no answer")

    def _read_head(self, _body: List[bytes]) -> bool:
        end = self._held.find(b"\r\n\r\n")
        if end < 0:
            if len(self._held) > MAX_HEAD_BYTES:
                raise BrokenAnswerError("malformed", "header over 64 KiB")
            return False
        head = bytes(self._held[:end]).decode("latin-1").split("\r\n")
        del self._held[: end + 4]
        status = _read_status(head[0])
        if status in INTERIM and status != SWITCHING:
            return True  # interim: the answer itself follows
        self.status = status
        self.headers = _read_headers(head[1:])
        self._step = self._choose_body(status)
        return True

    def _choose_body(self, status: int) -> Step:
        if status in NO_BODY:
            return self._finish
        self.is_chunked = "chunked" in self.headers.get("transfer-encoding", "").lower()
        if self.is_chunked:
            return self._read_size
        if "content-length" not in self.headers:
            return self._read_until_close
        length = self.headers["content-length"]
        if not (length.isascii() and length.isdigit()):
            raise BrokenAnswerError("malformed", "content-length %r" % length)
        self._left = int(length)
        return self._read_length

    def _finish(self, _body: List[bytes]) -> bool:
        self.is_done = True
        return False

    def _read_until_close(self, body: List[bytes]) -> bool:
        self._take(body, len(self._held))
        return False

    def _read_length(self, body: List[bytes]) -> bool:
        self._take(body, self._left)
        if self._left == 0:
            self._step = self._finish
        return self._left == 0

    def _read_size(self, _body: List[bytes]) -> bool:
        line = self._line()
        if line is None:
            return False
        size = line.split(b";", 1)[0].strip()
        if not _SIZE.match(size):
            raise BrokenAnswerError("malformed", "chunk size %r" % line[:40])
        self._left = int(size, 16)
        self._is_between = False
        self._step = self._read_chunk if self._left else self._read_trailer
        return True

    def _read_chunk(self, body: List[bytes]) -> bool:
        self._take(body, self._left)
        if self._left == 0:
            self._step = self._read_chunk_end
        return self._left == 0

    def _read_chunk_end(self, _body: List[bytes]) -> bool:
        if len(self._held) < len(_CHUNK_END):
            return False
        if not self._held.startswith(_CHUNK_END):
            raise BrokenAnswerError("malformed", "a chunk longer than its size")
        del self._held[: len(_CHUNK_END)]
        self._step, self._is_between = self._read_size, True
        return True

    def _read_trailer(self, _body: List[bytes]) -> bool:
        line = self._line()
        if line is None:
            return False
        if not line:
            self._step = self._finish
        return True

    def _line(self) -> Optional[bytes]:
        end = self._held.find(b"\r\n")
        if end > MAX_SIZE_LINE_BYTES or (end < 0 and len(self._held) > MAX_SIZE_LINE_BYTES):
            raise BrokenAnswerError("malformed", "a chunk size line over 1 KiB")
        if end < 0:
            return None
        line = bytes(self._held[:end])
        del self._held[: end + 2]
        return line

    def _take(self, body: List[bytes], most: int) -> None:
        piece = bytes(self._held[:most])
        if piece:
            del self._held[: len(piece)]
            self._left -= len(piece)
            body.append(piece)


def _whole_chunk(data: bytes) -> Optional[bytes]:
    """What `data` holds when it is one chunk and nothing else, as most pieces are."""
    end = data.find(b"\r\n", 0, MOST_SIZE_BYTES)
    if end < 0 or not data.endswith(_CHUNK_END) or not _SIZE.match(data[:end]):
        return None
    begin = end + len(_CHUNK_END)
    size = len(data) - begin - len(_CHUNK_END)
    return data[begin:-2] if size > 0 and int(data[:end], 16) == size else None


def _read_status(line: str) -> int:
    found = _STATUS_LINE.match(line)
    if not found:
        raise BrokenAnswerError("malformed", "not HTTP: %r" % line[:60])
    return int(found.group(1))


def _read_headers(lines: List[str]) -> Dict[str, str]:
    headers: Dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if colon:
            headers[name.strip().lower()] = value.strip()
    return headers


class Endpoint:
    """Where requests go, and the headers that all of them carry."""

    def __init__(self, address: str, port: int, headers: Mapping[str, str]) -> None:
        self.address, self.port = address, port
        self._headers = dict(headers)

    def request_bytes(self, method: str, path: str, body: bytes) -> bytes:
        """The request as it goes out; raises ValueError for a line break where none belongs."""
        host = "[%s]" % self.address if ":" in self.address else self.address
        lines = ["%s %s HTTP/1.1" % (method, path), "Host: %s:%d" % (host, self.port)]
        lines += ["%s: %s" % pair for pair in self._headers.items()]
        lines += ["Content-Length: %d" % len(body), "Connection: close", "", ""]
        if any("\r" in line or "\n" in line for line in lines):
            raise ValueError("a header or path with a line break")
        return "\r\n".join(lines).encode("latin-1") + body
