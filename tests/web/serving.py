"""The web server in this process, on a real socket, with a screen that is quick to start."""

from __future__ import annotations

import sys
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import aiohttp

from specctl.adapters.web.screens import Limits, Screens
from specctl.adapters.web.server import COOKIE, Server, listening
from specctl.domain.web.address import read_place

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

ECHO = """
import os, struct, sys
def say(kind, text):
    os.write(1, kind + struct.pack(">I", len(text)) + text)
os.write(1, b"__GANGLION__\\n")
say(b"D", b"pid %d of %sx%s" % (os.getpid(), os.environb[b"COLUMNS"], os.environb[b"ROWS"]))
while head := sys.stdin.buffer.read(5):
    text = sys.stdin.buffer.read(int.from_bytes(head[1:], "big"))
    if text == b"leave" or b'"quit"' in text:
        break
    say(b"D", head[:1] + text)
say(b"M", b'{"type": "exit"}')
"""
"""A screen that paints its process id, then everything that it hears."""

DEAF = """
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
os.write(1, b"__GANGLION__\\nD\\0\\0\\0\\4" + b"deaf")
while True:
    os.write(1, b"D\\0\\0\\1\\0" + b"x" * 256)
"""
"""A screen that hears nothing, not even that it shall end."""

FAILING = "import sys; sys.exit('specctl: ws: no workspace here\\x1b[31m')"


@dataclass
class Serving:
    """A server that listens."""

    server: Server
    port: int
    client: aiohttp.ClientSession
    said: list[str] = field(default_factory=list)

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def inside(self) -> str:
        return f"{self.origin}/{self.server.folder}/"

    async def let_in(self) -> dict[str, str]:
        """Headers of a browser that used the link."""
        link = self.origin + self.server.new_link()
        async with self.client.get(link, allow_redirects=False) as answer:
            assert answer.status == 303
            cookie = answer.cookies[COOKIE].value
        return {"Cookie": f"{COOKIE}={cookie}", "Origin": self.origin}

    async def get(self, address: str, **headers: str) -> tuple[int, str, dict[str, str]]:
        """Status, text and headers; redirects are not followed."""
        async with self.client.get(address, headers=headers, allow_redirects=False) as answer:
            return answer.status, await answer.text("latin-1"), dict(answer.headers)

    async def open(
        self, headers: dict[str, str], query: str = "?width=100&height=30"
    ) -> aiohttp.ClientWebSocketResponse:
        """A screen's socket."""
        return await self.client.ws_connect(f"{self.inside}ws{query}", headers=headers)


@asynccontextmanager
async def serving(
    screen: str = ECHO, limits: Limits | None = None, public_url: str = ""
) -> AsyncIterator[Serving]:
    said: list[str] = []
    argv = [sys.executable, "-c", screen]
    screens = Screens(argv, {"PATH": "/usr/bin"}, limits or Limits(), said.append)
    place = read_place("127.0.0.1", frozenset(), public_url)
    server = Server(place, screens, "read-only", said.append)
    async with listening(server, "127.0.0.1", 0) as port:
        jar = aiohttp.DummyCookieJar()
        async with aiohttp.ClientSession(cookie_jar=jar) as client:
            yield Serving(server, port, client, said)
