"""A server on loopback that answers each connection with a script."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
import threading
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field

Script = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@dataclass
class Hostile:
    """Where it listens, and the requests it was sent."""

    port: int = 0
    requests: list[bytes] = field(default_factory=list)
    most_at_once: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


def sends(*pieces: bytes, pause_s: float = 0.0, reset: bool = False, hang: bool = False) -> Script:
    """A script that writes `pieces`, then closes, resets or hangs."""

    async def script(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for piece in pieces:
            await asyncio.sleep(pause_s)
            writer.write(piece)
            await writer.drain()
        if hang:
            await asyncio.Event().wait()
        if reset:
            linger = struct.pack("ii", 1, 0)
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)

    return script


@contextlib.contextmanager
def hostile_server(scripts: Sequence[Script]) -> Iterator[Hostile]:
    """Serve connection i with `scripts[i]`, the last one for all that follow."""
    server, is_up, stop = Hostile(), threading.Event(), asyncio.Event()
    loop = asyncio.new_event_loop()
    thread = threading.Thread(
        target=loop.run_until_complete, args=(_serve(server, scripts, is_up, stop),)
    )
    thread.start()
    is_up.wait(5)
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(5)
        loop.close()


async def _serve(
    server: Hostile, scripts: Sequence[Script], is_up: threading.Event, stop: asyncio.Event
) -> None:
    open_now = 0

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal open_now
        open_now += 1
        server.most_at_once = max(server.most_at_once, open_now)
        with contextlib.suppress(
            ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError
        ):
            server.requests.append(await _read_request(reader))
            await scripts[min(len(server.requests), len(scripts)) - 1](reader, writer)
        open_now -= 1
        writer.close()

    listening = await asyncio.start_server(answer, "127.0.0.1", 0)
    server.port = listening.sockets[0].getsockname()[1]
    is_up.set()
    await stop.wait()
    listening.close()
    tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _read_request(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readuntil(b"\r\n\r\n")
    lines = head.lower().split(b"\r\n")
    lengths = [int(line.split(b":")[1]) for line in lines if line.startswith(b"content-length")]
    length = lengths[0] if lengths else 0
    return head + await reader.readexactly(length)
