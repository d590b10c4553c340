"""HTTP requests that are noted in the command log."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import httpx

if TYPE_CHECKING:
    from specctl.adapters.command_log import HostLog


@lru_cache(maxsize=256)
def _shown(url: httpx.URL) -> tuple[str, str]:
    """The URL without what is asked of its path or who asks, and the path: the same few again."""
    return str(url.copy_with(query=None, username="", password="")), url.path


class NotedTransport(httpx.AsyncBaseTransport):
    """Requests are noted when their answer begins."""

    def __init__(self, inner: httpx.AsyncBaseTransport, log: HostLog) -> None:
        self._inner, self._log = inner, log

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        with self._log.request(request.method, *_shown(request.url)) as end:
            response = await self._inner.handle_async_request(request)
            end(str(response.status_code))
            return response

    async def aclose(self) -> None:
        await self._inner.aclose()
