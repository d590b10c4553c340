"""A client of one SGLang server's HTTP, wherever its port is reached from.

It never asks `/health` or `/health_generate`: from 0.4.10 on both generate a token and may hold
a request in the scheduler after a time-out.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import httpx

from specctl.domain.errors import DeadlineError, ServerAnswerError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

MAX_ANSWER_BYTES = 16 * 1024 * 1024
"""A /metrics text of a large server is under 1 MiB, a /server_info under 100 KiB."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server answered."""

    status: int
    body: bytes
    path: str

    @property
    def text(self) -> str:
        """The body as text, undecodable bytes replaced."""
        return self.body.decode("utf-8", "replace")

    @property
    def is_ok(self) -> bool:
        """The status is 2xx."""
        return 200 <= self.status < 300  # noqa: PLR2004  HTTP's own range

    def json(self) -> Any:
        """The body as JSON; raises ServerAnswerError when it is not, or the status is not 2xx."""
        self.require_ok()
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError) as error:
            raise ServerAnswerError(
                f"{self.path} answered with something other than JSON ({error})", status=self.status
            ) from error

    def require_ok(self) -> None:
        """Raise ServerAnswerError unless the status is 2xx."""
        if self.is_ok:
            return
        if self.status == httpx.codes.UNAUTHORIZED:
            raise ServerAnswerError(
                f"{self.path} answered 401: the server wants a key",
                hint="Name the key under [secrets] in the profile, or in your secrets file.",
                status=self.status,
            )
        words = " ".join(self.text.split())[:200]
        raise ServerAnswerError(f"{self.path} answered {self.status}: {words}", status=self.status)


class SglangClient:
    """Requests to one server; every one has a deadline, and none is retried."""

    def __init__(
        self,
        transport: httpx.AsyncBaseTransport,
        port: int,
        *,
        address: str = "127.0.0.1",
        key: str | None = None,
        admin_key: str | None = None,
    ) -> None:
        self._key, self._admin_key = key, admin_key
        self._urls: dict[str, httpx.URL] = {}
        """By path: reading one takes longer than making the rest of a request."""

        netloc = f"[{address}]" if ":" in address else address
        self._client = httpx.AsyncClient(
            transport=transport, base_url=f"http://{netloc}:{port}", follow_redirects=False
        )

    async def __aenter__(self) -> Self:
        """The client itself."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the client; the transport's connection stays."""
        await self.aclose()

    async def aclose(self) -> None:
        """Close the client; the transport's connection stays."""
        await self._client.aclose()

    async def get(self, path: str, *, timeout_s: float = 5, admin: bool = False) -> Answer:
        """Ask for `path`; raises ServerAnswerError without a status, or DeadlineError."""
        return await self._send("GET", path, None, timeout_s, admin=admin)

    async def post(
        self,
        path: str,
        body: Mapping[str, Any] | None = None,
        *,
        timeout_s: float = 30,
        admin: bool = False,
    ) -> Answer:
        """Send `body` to `path`; raises as `get` does."""
        return await self._send("POST", path, body, timeout_s, admin=admin)

    async def _send(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None,
        timeout_s: float,
        *,
        admin: bool,
    ) -> Answer:
        key = self._admin_key if admin and self._admin_key else self._key
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        try:
            async with asyncio.timeout(timeout_s):
                return await self._read(method, path, body, headers)
        except (TimeoutError, httpx.TimeoutException) as error:
            raise DeadlineError(f"{path} did not answer within {timeout_s:g} s") from error
        except httpx.ConnectError as error:
            raise ServerAnswerError(
                f"nothing listens at {self._client.base_url}",
                hint="specctl status shows what runs on the host.",
            ) from error
        except httpx.HTTPError as error:
            raise ServerAnswerError(
                f"{path} broke off: {str(error) or type(error).__name__}"
            ) from error

    async def _read(
        self, method: str, path: str, body: Mapping[str, Any] | None, headers: Mapping[str, str]
    ) -> Answer:
        url = self._urls.get(path)
        if url is None:
            url = self._urls[path] = self._client.base_url.join(path)
        async with self._client.stream(
            method, url, json=body, headers=headers, timeout=None
        ) as response:
            parts, size = [], 0
            async for part in response.aiter_bytes():
                size += len(part)
                if size > MAX_ANSWER_BYTES:
                    raise ServerAnswerError(f"{path} answered with more than 16 MiB")
                parts.append(part)
            return Answer(response.status_code, b"".join(parts), path)
