"""The screen in a browser: a server of this machine, one process of the TUI for each screen."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING

from specctl.domain.errors import RefusedError, SpecctlError, UsageError
from specctl.domain.web.address import bracketed, is_loopback, read_place, tunnel_line

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from contextlib import AbstractAsyncContextManager

    from specctl.adapters.web.server import Server

NEEDED = ("aiohttp", "textual_serve")
SCREEN = (sys.executable, "-P", "-m", "specctl.tui.served")
"""Never with the current directory on the path: what lies there is not ours."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What was asked for."""

    bind: str = "127.0.0.1"
    port: int = 0
    public_url: str = ""
    is_unencrypted_allowed: bool = False
    """Other machines may reach it although nothing encrypts what is typed."""

    changes_allowed: bool = False
    workspace: str | None = None
    screens: int = 4
    idle_s: float = 12 * 3600.0

    @property
    def mode(self) -> str:
        """What its screens may do."""
        return "changes allowed" if self.changes_allowed else "read-only"

    def argv(self) -> list[str]:
        """The process behind each screen; it is told no secret."""
        chosen = ["-C", self.workspace] if self.workspace else []
        return [*SCREEN, *chosen, *([] if self.changes_allowed else ["--read-only"])]


@dataclass(frozen=True, slots=True)
class Web:
    """A server that listens."""

    server: Server
    origin: str
    port: int
    tunnel: str
    """The ssh command that leads there from elsewhere; empty where none is needed."""

    def new_link(self) -> str:
        """An address that lets one browser in, once; the one before does no more."""
        return self.origin + self.server.new_link()


def check_web(wanted: Wanted) -> None:
    """Refuse what cannot be served, or must not be unasked."""
    missing = [name.replace("_", "-") for name in NEEDED if find_spec(name) is None]
    if missing:
        raise UsageError(
            f"not installed: {', '.join(missing)}",
            hint="Install specctl with its extra `web`, e.g. pip install '.[web]'",
        )
    read_place(wanted.bind, frozenset(), wanted.public_url)
    if not is_loopback(wanted.bind) and not wanted.is_unencrypted_allowed:
        raise RefusedError(
            f"other machines reach {wanted.bind}, and nothing encrypts what is shown and typed",
            hint="Leave --bind out, and on your machine: "
            f"{tunnel_line('127.0.0.1', wanted.port)}  (or add --without-tls)",
        )


@asynccontextmanager
async def serve_web(wanted: Wanted, say: Callable[[str], None]) -> AsyncIterator[Web]:
    """The server while the block runs; every screen and its process end with it."""
    from specctl.adapters.web.screens import Limits, Screens
    from specctl.adapters.web.server import Server, listening

    check_web(wanted)
    names = await asyncio.to_thread(_own_names)
    place = read_place(wanted.bind, names, wanted.public_url)
    screens = Screens(wanted.argv(), os.environ, Limits(wanted.screens, wanted.idle_s), say)
    server = Server(place, screens, wanted.mode, say)
    try:
        async with listening(server, wanted.bind, wanted.port) as port:
            name = bracketed("127.0.0.1" if place.takes_any_address else wanted.bind)
            tunnel = tunnel_line(wanted.bind, port) if is_loopback(wanted.bind) else ""
            yield Web(server, place.public_origin or f"http://{name}:{port}", port, tunnel)
    except OSError as error:
        raise SpecctlError(
            f"cannot listen on {wanted.bind} port {wanted.port}: {error.strerror}",
            hint="--port 0 takes any that is free.",
        ) from error


def opened_in_browser(link: str) -> AbstractAsyncContextManager[str]:
    """A browser of this machine is sent to `link`, and follows while the block runs.

    Gives why there is none, or nothing.
    """
    from specctl.adapters.web.opening import opened

    return opened(link)


def _own_names() -> frozenset[str]:
    return frozenset({socket.gethostname(), socket.getfqdn()})
