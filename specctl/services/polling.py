"""Asking a running server what it does, by the cheapest path its version has."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from specctl.domain.errors import DeadlineError, ServerAnswerError, SpecctlError
from specctl.domain.missing import Missing, Why
from specctl.domain.sample import ServerSample
from specctl.facts.capabilities import has_ready, live_sources
from specctl.facts.loads import Loads, loads_sample, parse_loads
from specctl.facts.metrics import parse_metrics
from specctl.facts.metrics_sample import Scrape, read_metrics
from specctl.facts.server_info import parse_server_info

if TYPE_CHECKING:
    from specctl.adapters.clock import Clock
    from specctl.adapters.sglang import Answer, SglangClient
    from specctl.facts.log_meter import LogMeter
    from specctl.services.live_answers import LiveAnswers

METRICS_EVERY_S = 10.0
"""A /metrics text is up to 100 kB: asked rarely where something smaller tells the rates."""

SMALL = frozenset({"/v1/loads"})
"""Answers of a few hundred bytes, asked for every time."""

READY_EVERY_S = 10.0
"""A server that was ready is asked again so often whether it is; one that was not, every time."""

TIMEOUT_S = 4.0
LONGEST_PAUSE_S = 30.0
NOT_FOUND, UNAUTHORIZED = 404, 401


class ServerPoller:
    """One server's answers; one request at a time, and longer pauses after time-outs."""

    def __init__(
        self,
        client: SglangClient,
        clock: Clock,
        *,
        version: str | None,
        has_metrics: bool | None,
        is_speculating: bool | None,
        meter: LogMeter | None = None,
        live: LiveAnswers | None = None,
    ) -> None:
        """`live` is heard on the path that answered last, as long as it goes on to."""
        self._live = live
        self._steady: str | None = None
        self._client, self._clock, self._meter = client, clock, meter
        self._is_speculating, self._has_metrics = is_speculating, has_metrics
        self.learn(version)
        self._scrape: Scrape | None = None
        self._loads: Loads | None = None
        self._slow: ServerSample | None = None
        self._slow_at_s = float("-inf")
        self._ready_at_s = float("-inf")
        """When the server was last heard to be ready; long ago when it was not."""

        self.http: str | None = None
        """The last answer in a word: `200`, `401`, `503`, `refused`, `timed out`."""

        self.pause_s = 0.0
        """To be waited beyond the usual interval: a server that times out is left alone."""

    def learn(self, version: str | None) -> None:
        """Ask as this version wants to be asked."""
        self._version = version
        self._sources = list(live_sources(version, has_metrics=self._has_metrics))
        self._may_be_ready = has_ready(version) is not False

    @property
    def has_waited(self) -> bool:
        """The next answer comes when it is time for it: nothing needs to be waited before it."""
        return self._live is not None and self._steady is not None

    async def rest(self) -> None:
        """Have nothing asked until the next poll."""
        self._steady = None
        if self._live is not None:
            await self._live.close()

    async def poll(self) -> ServerSample:
        """What the server says now; None fields have their reason."""
        sample = await self._sample()
        is_due = self._clock.monotonic() - self._ready_at_s >= READY_EVERY_S
        if self._may_be_ready and is_due and self.http not in {"refused", "timed out"}:
            await self._ask_ready()
        return sample

    async def _ask_ready(self) -> None:
        """Other paths answer 200 while a server warms up; /ready does not."""
        try:
            answer = await self._client.get("/ready", timeout_s=TIMEOUT_S)
        except SpecctlError:  # it answered a moment ago: the next poll says what happened
            return
        if answer.status == NOT_FOUND:
            self._may_be_ready = False
        elif self.http != str(UNAUTHORIZED):
            self.http = str(answer.status)
            self._ready_at_s = self._clock.monotonic() if answer.is_ok else float("-inf")

    async def _sample(self) -> ServerSample:
        reason = Missing(Why.NOT_SUPPORTED, "this version offers no live numbers")
        for source in self._order():
            if source == "log":
                if self._meter is not None and self._meter.reports:
                    return self._meter.sample(self._clock.now())
                continue
            sample, why = await self._ask(source)
            if sample is not None:
                self._steady = source if source in SMALL else None
                return await self._with_slow(sample)
            if why is not None and why.why is not Why.NOT_ENABLED:
                reason = why
            if self.http in {"refused", "timed out"}:
                break
        return self._nothing(reason)

    def _order(self) -> list[str]:
        """Small answers first; the log costs nothing, but is old when idle."""
        small = [s for s in self._sources if s in SMALL]
        return [*small, *(s for s in self._sources if s not in small)]

    def _nothing(self, reason: Missing) -> ServerSample:
        fields = ("tokens_per_s", "accept_length", "running_requests", "queued_requests")
        return ServerSample(
            self._clock.now(), "none", missing=dict.fromkeys((*fields, "token_usage"), reason)
        )

    async def _with_slow(self, sample: ServerSample) -> ServerSample:
        """The counters and percentiles that only /metrics has, as of its last reading."""
        if sample.source == "/metrics" or "/metrics" not in self._sources:
            return sample
        if self._clock.monotonic() - self._slow_at_s >= METRICS_EVERY_S:
            self._slow_at_s = self._clock.monotonic()
            self._slow, _ = await self._ask("/metrics")
        if self._slow is None:
            return sample
        return replace(
            sample,
            generated_tokens=self._slow.generated_tokens,
            verify_steps=self._slow.verify_steps,
            ttft_p50_s=self._slow.ttft_p50_s,
            ttft_p95_s=self._slow.ttft_p95_s,
            missing={**self._slow.missing, **sample.missing},
        )

    async def _ask(self, source: str) -> tuple[ServerSample | None, Missing | None]:
        try:
            answer = await self._answer(source)
            if answer.status != NOT_FOUND:  # a path it has not says nothing of how it does
                self._heard(str(answer.status))
            if not answer.is_ok:
                return None, self._refused(source, answer.status)
            return self._read(source, answer), None
        except DeadlineError as error:
            self._heard("timed out")
            return None, Missing(Why.TIMED_OUT, error.message)
        except ServerAnswerError as error:
            if error.status is None:
                self._heard("refused")
                return None, Missing(Why.UNREACHABLE, error.message)
            return None, Missing(Why.MALFORMED, error.message)

    async def _answer(self, source: str) -> Answer:
        if self._live is None or source != self._steady:
            return await self._client.get(source, timeout_s=TIMEOUT_S)
        self._steady = None  # until it has answered
        return await self._live.get(source, timeout_s=TIMEOUT_S)

    def _heard(self, word: str) -> None:
        if word != "200":
            self._ready_at_s = float("-inf")
        self.http = word
        if word == "timed out":
            self.pause_s = min(LONGEST_PAUSE_S, max(2.0, self.pause_s * 2))
        else:
            self.pause_s = 0.0

    def _refused(self, source: str, status: int) -> Missing:
        if status == NOT_FOUND:
            self._sources.remove(source)
            words = "started without --enable-metrics" if source == "/metrics" else "not here"
            return Missing(Why.NOT_ENABLED, words)
        if status == UNAUTHORIZED:
            return Missing(Why.UNAUTHORIZED, f"{source} wants a key")
        return Missing(Why.ERROR, f"{source} answered {status}")

    def _read(self, source: str, answer: Answer) -> ServerSample:
        now_s = self._clock.now()
        if source == "/metrics":
            sample, self._scrape = read_metrics(
                parse_metrics(answer.text),
                self._scrape,
                time_s=now_s,
                is_speculating=self._is_speculating,
                version=self._version,
            )
            return sample
        if source in {"/v1/loads", "/get_load"}:
            loads, before = parse_loads(answer.text), self._loads
            self._loads = loads
            return loads_sample(loads, before, time_s=now_s, is_speculating=self._is_speculating)
        return _from_info(answer, source, now_s)


def _from_info(answer: Answer, source: str, now_s: float) -> ServerSample:
    """The lifetime accept length; the throughput there never decays, so it is not a live one."""
    info = parse_server_info(answer.text)
    missing = {
        **info.missing,
        "tokens_per_s": Missing(Why.STALE, f"{source} keeps the last report's rate for ever"),
        "running_requests": Missing(Why.NOT_SUPPORTED, f"not in {source}"),
        "queued_requests": Missing(Why.NOT_SUPPORTED, f"not in {source}"),
    }
    return ServerSample(
        now_s,
        source,
        accept_length=info.accept_length,
        accept_length_scope=None if info.accept_length is None else "lifetime",
        accept_length_range=info.accept_length_range,
        missing=missing,
    )
