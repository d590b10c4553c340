"""Sends the prompts of a probe through the host's agent and reads what it measured."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from specctl.domain.errors import ConnectionLostError, UsageError
from specctl.domain.estimate import Progress
from specctl.domain.events import ProbeProgressed
from specctl.domain.fillers import Filled, mean_in_flight, span_of
from specctl.domain.training import trained_on_of
from specctl.domain.workload import chat_body, generate_body
from specctl.facts.probe_items import read_item

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specctl.adapters.agent_channel import AgentStream
    from specctl.adapters.clock import Clock
    from specctl.domain.open_loop import Arrivals
    from specctl.domain.probe import RequestResult
    from specctl.domain.state import Store
    from specctl.domain.training import TrainedOn
    from specctl.domain.workload import Rendered, Workload
    from specctl.facts.server_info import ServerInfo
    from specctl.services.measured_server import MeasuredServer

MAX_REQUEST_BYTES = 7 * 1024 * 1024
"""Of all requests of one pass together: they travel in one line."""

WARMING = "warming up"
TRAINING = "training"
MEASURING = "measuring"
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

    arrivals: Arrivals | None = None
    """An open loop: when requests are sent; `concurrency` says nothing then."""

    training: Workload | None = None
    """Sent after each flush, before what is measured; every prompt of it."""

    training_source: str = ""
    """As it was named, to read it again when a trial goes on."""

    @property
    def trained_on(self) -> TrainedOn | None:
        """What the training set is called; None: the server is measured cold."""
        found = self.training
        return None if found is None else trained_on_of(found)

    @property
    def places(self) -> int:
        """The most requests in flight."""
        return self.arrivals.most_in_flight if self.arrivals else self.concurrency


@dataclass(frozen=True, slots=True)
class Pass:
    """One loop over some prompts, and what sending it cost."""

    results: tuple[RequestResult, ...]
    """Of the measured requests."""

    began_at_s: float
    """By the host's clock."""

    wall_s: float
    """Of everything that was sent."""

    cpu_s: float
    lag_p99_s: float
    """How late the client woke up."""

    fillers: tuple[RequestResult, ...] = ()

    @property
    def sent(self) -> tuple[RequestResult, ...]:
        """All of them."""
        return (*self.results, *self.fillers)

    @property
    def good(self) -> tuple[RequestResult, ...]:
        """Those that succeeded."""
        return tuple(result for result in self.results if result.error is None)

    @property
    def cpu_percent(self) -> float | None:
        """Of a core, by the client."""
        return self.cpu_s / self.wall_s * 100 if self.wall_s > 0 else None

    @property
    def window_s(self) -> float:
        """From the first measured request to the end of the last."""
        if not self.fillers:
            return self.wall_s
        began_s, ended_s = span_of(self.results)
        return ended_s - began_s

    @property
    def mean_in_flight(self) -> float | None:
        """Requests in flight in the mean of that window."""
        return mean_in_flight(self.results, self.fillers)


class Sender:
    """Sends to one server as the settings say."""

    def __init__(
        self, measured: MeasuredServer, settings: Settings, store: Store, clock: Clock
    ) -> None:
        self._measured, self._settings = measured, settings
        self._store, self._clock = store, clock
        self._progress = Progress()

    def expect(self, *loops: Filled) -> None:
        """What is going to be sent from now on: time left is told from the first answer."""
        arrivals = self._settings.arrivals
        sizes = [one.prompt.max_tokens for loop in loops for one in loop.sequence]
        last_s = arrivals.due_s(len(sizes))[-1] if arrivals and sizes else None
        self._progress = Progress(sum(sizes), last_due_s=last_s, began_s=self._clock.monotonic())

    async def send(
        self,
        info: ServerInfo,
        loop: Filled,
        words: str,
        *,
        earlier: Sequence[Rendered] = (),
    ) -> Pass:
        """Send each prompt once; `earlier` are those the server has seen since its last flush."""
        prompts, first = loop.sequence, len(loop.before)
        self.say(words, 0, len(prompts))
        begun_s = self._clock.monotonic()
        requests = self._requests(info, prompts, words)
        _refuse_oversized(requests)
        results: dict[int, RequestResult] = {}
        try:
            async with self._stream(requests) as items:
                async for item in items:
                    place = int(item["index"])
                    result = _read(item, prompts[place], (*earlier, *prompts[:place]))
                    results[place] = replace(result, due_s=requests[place].get("due_s"))
                    self._count(words, prompts[place])
                    self.say(words, len(results), len(prompts))
                end = items.end or {}
        except ConnectionLostError as error:
            where = f"{self._clock.monotonic() - begun_s:.0f} s into {words}"
            count = f"{len(results)} of {len(prompts)} requests"
            raise ConnectionLostError(
                f"{error.message}; the probe is void: the link was lost {where}, after {count}",
                hint="The server goes on: probe it again once specctl status reaches the host.",
            ) from error
        measured = range(first, first + len(loop.measured))
        return Pass(
            results=tuple(results[place] for place in sorted(results) if place in measured),
            fillers=tuple(results[place] for place in sorted(results) if place not in measured),
            began_at_s=float(end["began_at"]),
            wall_s=float(end["wall_s"]),
            cpu_s=float(end["cpu_s"]),
            lag_p99_s=float(end["loop_lag_p99_ms"]) / 1000,
        )

    def _requests(
        self, info: ServerInfo, prompts: Sequence[Rendered], words: str
    ) -> list[dict[str, Any]]:
        arrivals = self._settings.arrivals if words == MEASURING else None
        is_streamed = words == STREAMING or arrivals is not None
        found = [
            self._request(info, place, rendered, stream=is_streamed)
            for place, rendered in enumerate(prompts)
        ]
        if arrivals is None:
            return found
        dues = arrivals.due_s(len(found))
        return [{**one, "due_s": due_s} for one, due_s in zip(found, dues, strict=True)]

    def _count(self, words: str, rendered: Rendered) -> None:
        if words in {TRAINING, MEASURING, STREAMING}:
            self._progress.count(rendered.prompt.max_tokens)

    def _stream(self, requests: list[dict[str, Any]]) -> AgentStream:
        return self._measured.connection.agent.stream(
            "probe",
            url=self._measured.url,
            headers=self._measured.keys.headers(),
            requests=requests,
            concurrency=self._settings.places,
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
                self._progress.remaining_s(self._clock.monotonic()),
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
