"""The web server: every route guarded, no access log, as few connections as people need."""

from __future__ import annotations

import asyncio
import logging
import secrets
import socket as sockets
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING

from aiohttp import web

from specctl.adapters.web.files import read_files, read_page
from specctl.domain.text import clean
from specctl.domain.web.access import Request, Route, refusal
from specctl.domain.web.door import Door
from specctl.domain.web.headers import ALWAYS, NOTHING, page_policy
from specctl.domain.web.messages import MESSAGE_BYTES_MAX, Size, read_size

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from specctl.adapters.web.screens import Screens
    from specctl.domain.web.address import Place

    Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

COOKIE = "specctl-screen"
CONNECTIONS_MOST = 64
REQUEST_WITHIN_S = 10.0
"""A connection that has asked for nothing by then is closed."""

HEARTBEAT_S = 15.0
_CLOSE_S = 2.0
_REFUSALS_SAID = 20
_NEW = "Enter in the terminal of specctl web makes a new one; where it has none, start it again."
_POLICY = "Content-Security-Policy"
_ROUTES = {route.name: route for route in Route}


@dataclass
class Server:
    """What answers; `door` changes with every link made and used."""

    place: Place
    screens: Screens
    mode: str
    """What the title of the page says of it, e.g. `read-only`."""

    say: Callable[[str], None]
    door: Door = field(default_factory=Door)
    folder: str = field(default_factory=lambda: secrets.token_hex(8))
    """Everything but the entry lies in it, and the cookie is sent there only.

    Servers on other ports of this machine are sent the cookies of all, by path alone.
    """

    def __post_init__(self) -> None:
        self._files, self._page = read_files(), read_page()
        self._said: set[str] = set()
        self.asking: set[asyncio.BaseProtocol] = set()

    def new_link(self) -> str:
        """Path and query of a link that is good once; the one before is no longer."""
        token = secrets.token_urlsafe(32)
        self.door = self.door.with_link(token, asyncio.get_running_loop().time())
        return f"/enter?token={token}"

    def application(self) -> web.Application:
        """All routes; who is not let in does not learn which there are."""
        app = web.Application(middlewares=[self._guard], client_max_size=1024)
        app.on_response_prepare.append(_set_headers)
        app.router.add_get("/enter", self._enter, allow_head=False, name=Route.ENTRY.name)
        inside = f"/{self.folder}/"
        app.router.add_get(inside, self._show_page, allow_head=False, name=Route.PAGE.name)
        app.router.add_get(f"{inside}static/{{name}}", self._send_file, allow_head=False)
        app.router.add_get(f"{inside}ws", self._open, allow_head=False, name=Route.SOCKET.name)
        return app

    @web.middleware
    async def _guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Judge before anything is done; runs for routes that do not exist as well."""
        if request.protocol is not None:
            self.asking.discard(request.protocol)
        words = refusal(_read(request), self.place, self.door)
        if words:
            self._say_refused(request, words)
            return _words(403, words)
        try:
            return await handler(request)
        except web.HTTPException as error:
            return _words(error.status, error.reason)

    def _say_refused(self, request: web.Request, words: str) -> None:
        """Each refusal once, and not without end: who is refused must not fill a log."""
        line = clean(f"refused a request for {request.path[:60]}: {words}")
        if line not in self._said and len(self._said) < _REFUSALS_SAID:
            self._said.add(line)
            self.say(line)

    async def _enter(self, request: web.Request) -> web.Response:
        cookie = secrets.token_urlsafe(32)
        now_s = asyncio.get_running_loop().time()
        self.door, words = self.door.admit(request.query.get("token", ""), cookie, now_s)
        if words:
            return _words(403, f"{words} {_NEW}")
        self.say("a browser was let in by the link, which is used up")
        inside = f"/{self.folder}/"
        answer = _moved(request, inside)
        answer.set_cookie(
            COOKIE, cookie, path=inside, httponly=True, samesite="Strict",
            secure=self.place.is_encrypted,
        )  # fmt: skip
        return answer

    async def _show_page(self, request: web.Request) -> web.Response:
        nonce, scheme = secrets.token_urlsafe(16), "wss" if self.place.is_encrypted else "ws"
        body = self._page.substitute(nonce=nonce, mode=escape(self.mode))
        policy = {_POLICY: page_policy(nonce, f"{scheme}://{request.headers['Host']}")}
        return web.Response(text=body, content_type="text/html", headers=policy)

    async def _send_file(self, request: web.Request) -> web.Response:
        file = self._files.get(request.match_info["name"])
        if file is None:
            raise web.HTTPNotFound
        return web.Response(body=file.body, content_type=file.content_type)

    async def _open(self, request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse(
            heartbeat=HEARTBEAT_S, timeout=_CLOSE_S, max_msg_size=MESSAGE_BYTES_MAX, compress=False
        )
        await socket.prepare(request)
        asked = read_size(request.query.get("width"), request.query.get("height"))
        await self.screens.show(socket, asked or Size())
        return socket


def _read(request: web.Request) -> Request:
    """What decides, of a request."""
    name = request.match_info.route.resource.name if request.match_info.route.resource else None
    return Request(
        route=_ROUTES.get(name or "", Route.FILE),
        hosts=tuple(request.headers.getall("Host", ())),
        origins=tuple(request.headers.getall("Origin", ())),
        fetch_site=request.headers.get("Sec-Fetch-Site", ""),
        purpose=request.headers.get("Sec-Purpose", request.headers.get("Purpose", "")),
        destination=request.headers.get("Sec-Fetch-Dest", ""),
        cookie=request.cookies.get(COOKIE, ""),
    )


def _words(status: int, words: str) -> web.Response:
    return web.Response(status=status, text=f"specctl: {words}\n", headers={_POLICY: NOTHING})


def _moved(request: web.Request, path: str) -> web.Response:
    """On to the page, so that the token is gone from the address.

    From a link on another page a browser would not send the new cookie to where it is redirected:
    there the page moves on by itself.
    """
    if request.headers.get("Sec-Fetch-Site", "none") in {"none", "same-origin"}:
        return web.Response(status=303, headers={"Location": path, _POLICY: NOTHING})
    answer = _words(200, "let in; the screen opens.")
    answer.headers["Refresh"] = f"0; url={path}"
    return answer


async def _set_headers(request: web.Request, response: web.StreamResponse) -> None:
    del request
    response.headers.update(ALWAYS)


class _TurnedAway(asyncio.Protocol):
    """Too many connections are open."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        transport.close()


@asynccontextmanager
async def listening(server: Server, bind: str, port: int) -> AsyncIterator[int]:
    """The port that is listened on, while the block runs; OSError when it is taken."""
    quiet = logging.Logger("specctl.web")
    quiet.addHandler(_Said(server.say))
    runner = web.AppRunner(
        server.application(),
        access_log=None,
        logger=quiet,
        keepalive_timeout=15,
        shutdown_timeout=5,
    )
    await runner.setup()
    made = runner.server
    if made is None:  # pragma: no cover
        raise RuntimeError
    loop = asyncio.get_running_loop()

    def accept() -> asyncio.Protocol:
        if len(made.connections) >= CONNECTIONS_MOST:
            return _TurnedAway()
        one = made()
        server.asking.add(one)
        loop.call_later(REQUEST_WITHIN_S, _give_up, server, one)
        return one

    try:
        listener = await loop.create_server(accept, bind, port, family=_family(bind))
        try:
            yield listener.sockets[0].getsockname()[1]
        finally:
            listener.close()
            await server.screens.close_all()
    finally:
        await runner.cleanup()


def _family(bind: str) -> int:
    """`localhost` may be both; one port is enough."""
    return sockets.AF_INET6 if ":" in bind else sockets.AF_INET


def _give_up(server: Server, protocol: web.RequestHandler) -> None:
    if protocol in server.asking:
        server.asking.discard(protocol)
        protocol.force_close()


class _Said(logging.Handler):
    """What aiohttp finds wrong, in one line."""

    def __init__(self, say: Callable[[str], None]) -> None:
        super().__init__(logging.WARNING)
        self._say = say

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        self._say(clean(f"a request failed: {type(error).__name__ if error else record.msg}"))
