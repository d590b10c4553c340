"""Sends the prompts of a probe through the host's agent and reads what it measured."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from specctl.domain.errors import ConnectionLostError, UsageError
from specctl.domain.events import ProbeProgressed
from specctl.domain.workload import chat_body, generate_body
from specctl.facts.probe_items import read_item

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specctl.adapters.agent_channel import AgentStream
    from specctl.adapters.clock import Clock
    from specctl.domain.probe import RequestResult
    from specctl.domain.state import Store
    from specctl.domain.workload import Rendered, Workload
    from specctl.facts.server_info import ServerInfo
    from specctl.services.measured_server import MeasuredServer

MAX_REQUEST_BYTES = 7 * 1024 * 1024
"""Of all requests of one pass together: they travel in one line."""

STREAMING = "streaming"


@dataclass(frozen=True, slots=True)
class Settings:
    """How to measure."""

    workload: Workload
    concurrency: int = 1
    accepts_warm: bool = False
    """The cache may hold the prompts already; it is not flushed then."""

    most_prompts: int | None = None
    timeout_s: float = 600.0
    """Of one request."""


@dataclass(frozen=True, slots=True)
class Pass:
    """One closed loop over some prompts, and what sending it cost."""

    results: tuple[RequestResult, ...]
    began_at_s: float
    wall_s: float
    cpu_s: float
    lag_p99_s: float
    """How late the client woke up."""

    @property
    def good(self) -> tuple[RequestResult, ...]:
        """Those that succeeded."""
        return tuple(result for result in self.results if result.error is None)

    @property
    def cpu_percent(self) -> float | None:
        """Of a core, by the client."""
        return self.cpu_s / self.wall_s * 100 if self.wall_s > 0 else None


class Sender:
    """Sends to one server as the settings say."""

    def __init__(
        self, measured: MeasuredServer, settings: Settings, store: Store, clock: Clock
    ) -> None:
        self._measured, self._settings = measured, settings
        self._store, self._clock = store, clock

    async def send(
        self,
        info: ServerInfo,
        prompts: Sequence[Rendered],
        words: str,
        *,
        earlier: Sequence[Rendered] = (),
    ) -> Pass:
        """Send each prompt once; `earlier` are those the server has seen since its last flush."""
        self.say(words, 0, len(prompts))
        begun_s = self._clock.monotonic()
        requests = [
            self._request(info, place, rendered, stream=words == STREAMING)
            for place, rendered in enumerate(prompts)
        ]
        _refuse_oversized(requests)
        results: dict[int, RequestResult] = {}
        try:
            async with self._stream(requests) as items:
                async for item in items:
                    place = int(item["index"])
                    results[place] = _read(item, prompts[place], (*earlier, *prompts[:place]))
                    self.say(words, len(results), len(prompts))
                end = items.end or {}
        except ConnectionLostError as error:
            where = f"{self._clock.monotonic() - begun_s:.0f} s into {words}"
            count = f"{len(results)} of {len(prompts)} requests"
            raise ConnectionLostError(
                f"{error.message}; the probe is void: the link was lost {where}, after {count}",
                hint="The server goes on: probe it again once specctl status reaches the host.",
            ) from error
        return Pass(
            results=tuple(results[place] for place in sorted(results)),
            began_at_s=float(end["began_at"]),
            wall_s=float(end["wall_s"]),
            cpu_s=float(end["cpu_s"]),
            lag_p99_s=float(end["loop_lag_p99_ms"]) / 1000,
        )

    def _stream(self, requests: list[dict[str, Any]]) -> AgentStream:
        return self._measured.connection.agent.stream(
            "probe",
            url=self._measured.url,
            headers=self._measured.keys.headers(),
            requests=requests,
            concurrency=self._settings.concurrency,
            timeout_s=self._settings.timeout_s,
        )

    def _request(
        self, info: ServerInfo, place: int, rendered: Rendered, *, stream: bool
    ) -> dict[str, Any]:
        sampling = self._settings.workload.sampling
        if rendered.is_by_server:
            model = info.served_name or info.model or "default"
            body = {"model": model, **chat_body(rendered.prompt, sampling, stream=stream)}
            return {"index": place, "path": "/v1/chat/completions", "body": body, "stream": stream}
        body = generate_body(rendered, sampling, stream=stream)
        return {"index": place, "path": "/generate", "body": body, "stream": stream}

    def say(self, words: str, done: int, total: int) -> None:
        """Tell how far the probe is."""
        self._store.apply(
            ProbeProgressed(
                self._measured.connection.host.name,
                self._clock.now(),
                self._measured.server.name,
                words,
                done,
                total,
            )
        )


def _read(item: dict[str, Any], sent: Rendered, earlier: Sequence[Rendered]) -> RequestResult:
    """What a chat template puts before every prompt nobody here can know."""
    result = read_item(item, sent, index=sent.index, earlier=earlier)
    return replace(result, explained_cached_tokens=None) if sent.is_by_server else result


def _refuse_oversized(requests: Sequence[dict[str, Any]]) -> None:
    size = len(json.dumps(requests))
    if size > MAX_REQUEST_BYTES:
        raise UsageError(
            f"the prompts together are {size / 1024 / 1024:.0f} MiB, a probe may send 7 MiB",
            hint="Use fewer prompts with --prompts N.",
        )
