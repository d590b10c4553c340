"""What two scrapes of /metrics say: rates from counters, and gauges only while something moves.

Gauges keep their last value for ever; in older versions (seen in 0.5.2 and 0.5.10) that holds for
the running requests too: an idle server goes on reporting those of its last batch.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from specctl.domain.missing import Missing, Why
from specctl.domain.sample import ServerSample
from specctl.domain.versions import is_at_least
from specctl.facts.accept_rate import mean_accept_length
from specctl.facts.log_meter import weighted_accept_length

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specctl.facts.metrics import Histogram, Metrics

SOURCE = "/metrics"
_TTFT = "time_to_first_token_seconds"
_GENERATED = "generation_tokens_total"
_VERIFIED = "spec_verify_calls_total"
_DECODED = "decoded"
_COUNTERS = (_GENERATED, _VERIFIED, "prompt_tokens_total", "num_requests_total")
_GAUGES = ("gen_throughput", "spec_accept_length")
RUNNING_IS_LIVE_SINCE = "0.5.23"
"""The first release seen to set the running requests back to 0 when it idles."""

_HOLD_S = 10.0
"""A gauge may stand still for so long while requests run: reports come every 40 decode steps."""

_ABSENT = Missing(Why.NOT_SUPPORTED, "not in /metrics")


@dataclass(frozen=True, slots=True)
class Scrape:
    """What is kept of a scrape for the next one to be compared with."""

    time_s: float
    counters: Mapping[str, float] = field(default_factory=dict)
    gauges: Mapping[str, float] = field(default_factory=dict)
    ttft: Histogram | None = None
    moved_at_s: float | None = None
    """When a counter or a gauge last moved; None before it was seen to."""


def read_metrics(
    metrics: Metrics,
    previous: Scrape | None,
    *,
    time_s: float,
    is_speculating: bool | None = None,
    version: str | None = None,
) -> tuple[ServerSample, Scrape]:
    """A sample of the server, and what the next call needs as `previous`.

    `is_speculating` comes from its arguments, where they are known: a gauge of 0 does not tell.
    `version` decides whether the running requests can be believed while nothing moves.
    """
    scrape = _scrape(metrics, time_s)
    window = _window(scrape, previous)
    scrape = replace(scrape, moved_at_s=_moved_at_s(window, scrape, previous))
    reading = _Reading(metrics, scrape, window, is_speculating, version)
    return reading.sample(), scrape


def _moved_at_s(window: _Window, scrape: Scrape, previous: Scrape | None) -> float | None:
    if window.has_moved:
        return scrape.time_s
    return previous.moved_at_s if previous is not None and not window.is_first else None


@dataclass(frozen=True, slots=True)
class _Window:
    """What moved between two scrapes; empty after the first, and after a restart."""

    span_s: float = 0.0
    moved: Mapping[str, float] = field(default_factory=dict)
    is_first: bool = True
    has_gauge_moved: bool = False
    ttft: Histogram | None = None

    @property
    def has_moved(self) -> bool:
        """The server did something in it."""
        return self.has_gauge_moved or any(value > 0 for value in self.moved.values())


def _scrape(metrics: Metrics, time_s: float) -> Scrape:
    counters = {name: metrics.total(name) for name in _COUNTERS}
    counters[_DECODED] = metrics.total("realtime_tokens_total", mode="decode")
    if counters[_DECODED] is None and metrics.series("realtime_tokens_total"):
        counters[_DECODED] = 0.0
    gauges = {name: _summed(metrics.per_group(name)) for name in _GAUGES}
    return Scrape(
        time_s,
        {name: value for name, value in counters.items() if value is not None},
        {name: value for name, value in gauges.items() if value is not None},
        metrics.histogram(_TTFT),
    )


def _window(scrape: Scrape, previous: Scrape | None) -> _Window:
    if previous is None or scrape.time_s <= previous.time_s:
        return _Window()
    shared = scrape.counters.keys() & previous.counters.keys()
    moved = {name: scrape.counters[name] - previous.counters[name] for name in shared}
    if any(value < 0 for value in moved.values()):
        return _Window()
    return _Window(
        scrape.time_s - previous.time_s,
        moved,
        is_first=False,
        has_gauge_moved=scrape.gauges != previous.gauges,
        ttft=scrape.ttft.since(previous.ttft) if scrape.ttft is not None else None,
    )


class _Reading:
    """One scrape being read; collects why a value is missing on the way."""

    def __init__(
        self,
        metrics: Metrics,
        scrape: Scrape,
        window: _Window,
        is_speculating: bool | None,  # noqa: FBT001
        version: str | None,
    ) -> None:
        self.metrics, self.scrape, self.window = metrics, scrape, window
        self.is_speculating = is_speculating
        self.running = _summed(metrics.per_group("num_running_reqs"))
        self.is_running_live = is_at_least(version, RUNNING_IS_LIVE_SINCE) is True
        self.is_idle = self._is_idle()
        self.missing: dict[str, Missing] = {}

    def sample(self) -> ServerSample:
        """The sample, its missing values with their reasons."""
        length, scope = self._accept_length()
        queued = _summed(self.metrics.per_group("num_queue_reqs"))
        return ServerSample(
            self.scrape.time_s,
            SOURCE,
            tokens_per_s=self._tokens_per_s(),
            accept_length=length,
            accept_length_scope=scope,
            running_requests=self._running(),
            queued_requests=self._count(queued, "queued_requests"),
            token_usage=self._usage(),
            generated_tokens=self._count(self.scrape.counters.get(_GENERATED), "generated_tokens"),
            verify_steps=self._count(self.scrape.counters.get(_VERIFIED), "verify_steps"),
            ttft_p50_s=self._ttft(0.5, "ttft_p50_s"),
            ttft_p95_s=self._ttft(0.95, "ttft_p95_s"),
            is_idle=self.is_idle,
            has_moved=None if self.window.is_first else self._is_alive,
            missing=self.missing,
        )

    def _is_idle(self) -> bool:
        if self.window.is_first or self.running == 0:
            return self.running == 0 and not self.window.has_moved
        return not self._is_alive and not self.is_running_live

    @property
    def _is_alive(self) -> bool:
        """Something moved lately: gauges are not old."""
        moved_at_s = self.scrape.moved_at_s
        return moved_at_s is not None and self.scrape.time_s - moved_at_s <= _HOLD_S

    def _running(self) -> int | None:
        if self.is_idle and self.running:
            words = f"nothing moved; num_running_reqs still says {self.running:.0f}"
            self.missing["running_requests"] = Missing(Why.STALE, words)
            return None
        return self._count(self.running, "running_requests")

    def _tokens_per_s(self) -> float | None:
        decoded = self.window.moved.get(_DECODED)
        if decoded and self.window.span_s > 0:
            return decoded / self.window.span_s
        if self.is_idle and not self.window.is_first and (decoded == 0 or self.running == 0):
            return 0.0
        gauge = self.scrape.gauges.get("gen_throughput")
        if gauge is None:
            self.missing["tokens_per_s"] = _ABSENT
        elif self.is_idle or not self._is_alive:
            words = f"nothing moved; gen_throughput still says {gauge:.1f}"
            self.missing["tokens_per_s"] = Missing(Why.STALE, words)
            gauge = None
        return gauge

    def _accept_length(self) -> tuple[float | None, str | None]:
        if self.is_speculating is False:
            self.missing["accept_length"] = Missing(Why.NOT_SPECULATING)
            return None, None
        moved = _ratio(self.window.moved)
        if moved is not None:
            return moved, "window"
        lifetime = _ratio(self.scrape.counters)
        if self.window.is_first and lifetime is not None:
            return lifetime, "lifetime"
        gauge = self._gauge_length()
        if gauge is not None and self._is_alive and not self.is_idle:
            return gauge, "interval"
        self.missing["accept_length"] = self._no_length(gauge)
        return None, None

    def _gauge_length(self) -> float | None:
        """Over data-parallel ranks, weighted by verify steps; a gauge of 0 was never set."""
        lengths = self.metrics.per_group("spec_accept_length")
        rates = self.metrics.per_group("gen_throughput")
        return weighted_accept_length(
            [(length, rates.get(group)) for group, length in lengths.items() if length >= 1]
        )

    def _no_length(self, gauge: float | None) -> Missing:
        if gauge is not None:
            return Missing(Why.STALE, f"nothing moved; the last report was {gauge:.2f}")
        if self.is_speculating:
            return Missing(Why.NO_WINDOW)
        return Missing(Why.NO_WINDOW, "no report since the start, or speculation is off")

    def _usage(self) -> float | None:
        """Of the fullest rank: it is the one that will have to retract."""
        for name in ("token_usage", "full_token_usage"):
            shares = self.metrics.per_group(name)
            if shares:
                return max(shares.values())
        self.missing["token_usage"] = _ABSENT
        return None

    def _count(self, value: float | None, name: str) -> int | None:
        if value is None:
            self.missing[name] = _ABSENT
            return None
        return int(value)

    def _ttft(self, share: float, name: str) -> float | None:
        value = self.window.ttft.quantile(share) if self.window.ttft is not None else None
        if value is None:
            words = "no request got its first token since the last look"
            self.missing[name] = Missing(Why.NO_WINDOW, words)
        return value


def _ratio(counters: Mapping[str, float]) -> float | None:
    """Tokens per verify step; both are counted when a request ends."""
    steps, tokens = counters.get(_VERIFIED, 0.0), counters.get(_GENERATED, 0.0)
    return mean_accept_length(tokens, steps) if 0 < steps <= tokens else None


def _summed(groups: Mapping[str, float]) -> float | None:
    return sum(groups.values()) if groups else None
