"""HTTP requests that are noted in the command log."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx

if TYPE_CHECKING:
    from specctl.adapters.command_log import HostLog


class NotedTransport(httpx.AsyncBaseTransport):
    """Requests are noted when their answer begins."""

    def __init__(self, inner: httpx.AsyncBaseTransport, log: HostLog) -> None:
        self._inner, self._log = inner, log

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        url = str(request.url.copy_with(query=None, username="", password=""))
        with self._log.request(request.method, url, request.url.path) as end:
            response = await self._inner.handle_async_request(request)
            end(str(response.status_code))
            return response

    async def aclose(self) -> None:
        await self._inner.aclose()
