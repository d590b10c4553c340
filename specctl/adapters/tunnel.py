"""HTTP to a port on the host's side of a session, without a listening port on this side."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any

import httpcore
import httpx

from specctl.domain.errors import HostError

if TYPE_CHECKING:
    import ssl
    from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator

    from specctl.adapters.session import ByteStream, Session

_CONNECTIONS_MAX = 64

_ERRORS: tuple[tuple[type[Exception], type[httpx.TransportError]], ...] = (
    (httpcore.ConnectTimeout, httpx.ConnectTimeout),
    (httpcore.ReadTimeout, httpx.ReadTimeout),
    (httpcore.WriteTimeout, httpx.WriteTimeout),
    (httpcore.PoolTimeout, httpx.PoolTimeout),
    (httpcore.ConnectError, httpx.ConnectError),
    (httpcore.ReadError, httpx.ReadError),
    (httpcore.WriteError, httpx.WriteError),
    (httpcore.NetworkError, httpx.NetworkError),
    (httpcore.UnsupportedProtocol, httpx.UnsupportedProtocol),
    (httpcore.LocalProtocolError, httpx.LocalProtocolError),
    (httpcore.RemoteProtocolError, httpx.RemoteProtocolError),
    (httpcore.ProtocolError, httpx.ProtocolError),
    (httpcore.ConnectionNotAvailable, httpx.ConnectError),
)
"""httpcore's errors and their namesakes; the first that fits counts."""


@contextlib.contextmanager
def _httpx_errors() -> Iterator[None]:
    try:
        yield
    except Exception as error:
        for foreign, ours in _ERRORS:
            if isinstance(error, foreign):
                raise ours(str(error) or type(error).__name__) from error
        raise


class _Stream(httpcore.AsyncNetworkStream):
    def __init__(self, stream: ByteStream) -> None:
        self._stream = stream

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        try:
            async with asyncio.timeout(timeout):
                return await self._stream.read(max_bytes)
        except TimeoutError as error:
            raise httpcore.ReadTimeout(f"no data for {timeout:g} s") from error
        except HostError as error:
            raise httpcore.ReadError(error.message) from error

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        if not buffer:
            return
        try:
            async with asyncio.timeout(timeout):
                await self._stream.write(buffer)
        except TimeoutError as error:
            raise httpcore.WriteTimeout(f"not read for {timeout:g} s") from error
        except HostError as error:
            raise httpcore.WriteError(error.message) from error

    async def aclose(self) -> None:
        await self._stream.close()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.AsyncNetworkStream:
        raise httpcore.UnsupportedProtocol("https is not spoken through a session: it is encrypted")

    def get_extra_info(self, info: str) -> Any:
        """An idle connection that is readable has been closed by the server (httpcore's rule)."""
        return self._stream.at_eof if info == "is_readable" else None


class _Backend(httpcore.AsyncNetworkBackend):
    def __init__(self, session: Session) -> None:
        self._session = session

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        try:
            async with asyncio.timeout(timeout):
                return _Stream(await self._session.connect_tcp(host, port))
        except TimeoutError as error:
            raise httpcore.ConnectTimeout(f"no connection within {timeout:g} s") from error
        except HostError as error:
            raise httpcore.ConnectError(error.message) from error

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class _Body(httpx.AsyncByteStream):
    def __init__(self, stream: AsyncIterable[bytes], close: Any) -> None:
        self._stream, self._close = stream, close

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with _httpx_errors():
            async for part in self._stream:
                yield part

    async def aclose(self) -> None:
        await self._close()


class TunnelTransport(httpx.AsyncBaseTransport):
    """Sends requests through a session; the URL's host is resolved on the host's side."""

    def __init__(self, session: Session) -> None:
        self._pool = httpcore.AsyncConnectionPool(
            network_backend=_Backend(session), max_connections=_CONNECTIONS_MAX
        )

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        with _httpx_errors():
            response = await self._pool.handle_async_request(_translated(request))
        return httpx.Response(
            status_code=response.status,
            headers=response.headers,
            stream=_Body(response.stream, response.aclose),  # type: ignore[arg-type]
            extensions=response.extensions,
        )

    async def aclose(self) -> None:
        await self._pool.aclose()


def _translated(request: httpx.Request) -> httpcore.Request:
    return httpcore.Request(
        method=request.method,
        url=httpcore.URL(
            scheme=request.url.raw_scheme,
            host=request.url.raw_host,
            port=request.url.port,
            target=request.url.raw_path,
        ),
        headers=request.headers.raw,
        content=request.stream,
        extensions=request.extensions,
    )
