"""A server's answers on one path as the host's own agent hears them, without a request for each."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from specctl.adapters.sglang import Answer
from specctl.domain.errors import AgentAnswerError, DeadlineError, ServerAnswerError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from specctl.adapters.agent_channel import AgentChannel, AgentStream


class LiveAnswers:
    """The agent asks at the instants of samples, so that an operator is woken for both at once."""

    def __init__(
        self, agent: AgentChannel, url: str, headers: Mapping[str, str], *, interval_s: float
    ) -> None:
        self._agent, self._url, self._headers = agent, url, dict(headers)
        self._interval_s = interval_s
        self._path: str | None = None
        self._stream: AgentStream | None = None

    async def get(self, path: str, *, timeout_s: float) -> Answer:
        """The next answer on `path`; raises as `SglangClient.get` does, and stops asking then."""
        try:
            async with asyncio.timeout(2 * self._interval_s + timeout_s):
                item = await self._next(path, timeout_s)
        except TimeoutError as error:
            await self.close()
            raise DeadlineError(f"{path} was not heard of for {timeout_s:g} s") from error
        except BaseException:
            await self.close()
            raise
        if "error" in item:
            await self.close()
            raise _error(path, item)
        return Answer(int(item["status"]), str(item["body"]).encode(), path)

    async def close(self) -> None:
        """Ask no more."""
        stream, self._stream, self._path = self._stream, None, None
        if stream is not None:
            await stream.aclose()

    async def _next(self, path: str, timeout_s: float) -> dict[str, Any]:
        if self._path != path:
            await self.close()
        if self._stream is None:
            self._path = path
            self._stream = self._agent.stream(
                "answers",
                url=self._url,
                path=path,
                headers=self._headers,
                interval_s=self._interval_s,
                timeout_s=timeout_s,
            )
        try:
            return await anext(self._stream)
        except StopAsyncIteration as ended:
            raise ServerAnswerError(f"{path}: the agent asks no more") from ended
        except AgentAnswerError as error:
            raise ServerAnswerError(f"{path}: {error.message}") from error


def _error(path: str, item: Mapping[str, Any]) -> ServerAnswerError | DeadlineError:
    word, detail = str(item["error"]), str(item.get("detail", ""))
    if word == "timed out":
        return DeadlineError(f"{path} did not answer in time")
    if word == "refused":
        return ServerAnswerError(f"nothing listens there ({detail})")
    return ServerAnswerError(f"{path} broke off: {detail}")
