"""What may be asked of a host, whichever way it is reached: the seam between wire and services."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from specctl.domain.text import clean_lines

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    import httpx

LINE_BYTES_MAX = 1 << 20
OUTPUT_BYTES_MAX = 64 << 20
"""More than this from one `run` is an error: what is long is read in ranges by the agent."""


@dataclass(frozen=True, slots=True)
class Finished:
    """A command that ran to its end on a host."""

    argv: tuple[str, ...]
    exit_status: int
    """128 + N when signal N ended it, as shells count."""

    stdout: bytes
    stderr: bytes
    """At most its last 256 KiB."""

    @property
    def text(self) -> str:
        """What it printed, decoded and safe to show."""
        return _text(self.stdout)

    @property
    def error_text(self) -> str:
        """What it printed on stderr, decoded and safe to show."""
        return _text(self.stderr)


def _text(raw: bytes) -> str:
    return "\n".join(clean_lines(raw.decode("utf-8", "replace")))


class Process(Protocol):
    """A command that goes on running on a host while it is talked to."""

    async def write(self, data: bytes) -> None:
        """Send to its stdin, waiting while it does not read."""
        ...

    async def close_stdin(self) -> None:
        """Let it read the end of its stdin."""
        ...

    def lines(self, max_bytes: int = LINE_BYTES_MAX) -> AsyncIterator[bytes]:
        """Its stdout line by line, without the newline; a longer line is an error."""
        ...

    async def stderr_tail(self) -> str:
        """The end of what it printed on stderr, safe to show."""
        ...

    async def wait(self) -> int:
        """Its exit status; ConnectionLostError when that will never be known."""
        ...

    async def close(self) -> None:
        """Stop talking to it. On this machine it is killed; on another it reads end of file."""
        ...


class ByteStream(Protocol):
    """A TCP connection made on the host's side."""

    async def read(self, max_bytes: int) -> bytes:
        """What has arrived; nothing at the end."""
        ...

    async def write(self, data: bytes) -> None:
        """Send, waiting while the other side does not read."""
        ...

    async def write_eof(self) -> None:
        """Let the other side read the end; reading goes on."""
        ...

    async def close(self) -> None:
        """Close both directions."""
        ...

    @property
    def at_eof(self) -> bool:
        """Nothing more will arrive."""
        ...


class Session(Protocol):
    """One host, reached. Every call raises ConnectionLostError when the way there breaks."""

    @property
    def host(self) -> str:
        """The host's name in the workspace."""
        ...

    @property
    def outside(self) -> Session:
        """The host itself, where commands run inside something entered; else this very session."""
        ...

    async def run(self, argv: Sequence[str], *, timeout_s: float, stdin: bytes = b"") -> Finished:
        """Run `argv` to its end; a non-zero exit status is an answer, not an error."""
        ...

    async def open(self, argv: Sequence[str]) -> Process:
        """Start `argv` and keep talking to it."""
        ...

    async def connect_tcp(self, address: str, port: int) -> ByteStream:
        """Connect from the host to `address`:`port`."""
        ...

    def transport(self) -> httpx.AsyncBaseTransport:
        """HTTP as if sent from the host: its loopback is `127.0.0.1`."""
        ...

    async def close(self) -> None:
        """Close the way to the host and everything that uses it."""
        ...

    @property
    def is_closed(self) -> bool:
        """The way to the host is gone."""
        ...

    async def wait_closed(self) -> str:
        """Wait until the way to the host is gone; returns the reason in words."""
        ...
