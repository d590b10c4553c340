"""The scheduler's counters, its decode and prefill lines, and the snapshots it publishes."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from specctl.lab.outcomes import StepKind

if TYPE_CHECKING:
    from specctl.lab.outcomes import StepOutcome
    from specctl.lab.server.launch import Launch
    from specctl.lab.server.log import Log


_MOST_STEPS = 1000


@dataclass
class Totals:
    """Since the start of the process."""

    prefill_tokens: int = 0
    cached_tokens: int = 0
    decoded_tokens: int = 0
    prefill_passes: int = 0
    decode_passes: int = 0
    retracted: int = 0


@dataclass
class _Window:
    """Since the last decode report."""

    began_s: float
    steps: int = 0
    tokens: int = 0
    verifies: int = 0
    correct: int = 0
    proposed: int = 0


@dataclass
class Lifetime:
    """What the average accept length is taken over: whole windows since start or flush."""

    tokens: int = 0
    verifies: int = 0

    @property
    def accept_length(self) -> float | None:
        """None before the first report, and without speculation."""
        return self.tokens / self.verifies if self.verifies else None


@dataclass
class Gauges:
    """Hold the last report."""

    gen_throughput: float = 0.0
    last_throughput: float = 0.0
    accept_length: float = 0.0
    accept_rate: float = 0.0
    cache_hit_rate: float = 0.0
    sequence_tokens: int = 0


class Reporter:
    """Takes every step in, writes the lines that are due, and says what is known now."""

    def __init__(self, launch: Launch, log: Log, capacity: int) -> None:
        self._launch, self._log, self._capacity = launch, log, capacity
        self._interval = int(launch.args.decode_log_interval or 40)
        self._kind = "cuda" if launch.gpus else "cpu"
        self._window = _Window(time.monotonic())
        self._last_prefill_s = time.monotonic()
        self.totals, self.lifetime, self.gauges = Totals(), Lifetime(), Gauges()
        self.reports = 0
        """Decode reports written."""

        self._records_steps = launch.environment.get("SGLANG_RECORD_STEP_TIME") in {"1", "true"}
        self._steps: dict[int, list[float]] = {}

    def take(self, outcome: StepOutcome) -> None:
        """Count a step that has just ended."""
        self.totals.retracted += len(outcome.retracted)
        if outcome.retracted:
            self._log.say(
                "KV cache pool is full. Retract requests. "
                f"#retracted_reqs: {len(outcome.retracted)}, #new_token_ratio: 0.7000 -> 1.0000"
            )
        if outcome.kind is StepKind.PREFILL:
            self._take_prefill(outcome)
        elif outcome.kind is StepKind.DECODE:
            self._take_decode(outcome)

    def _take_prefill(self, outcome: StepOutcome) -> None:
        batch = outcome.prefill
        if batch is None:
            return
        totals, now = self.totals, time.monotonic()
        totals.prefill_passes += 1
        totals.prefill_tokens += batch.new_tokens
        totals.cached_tokens += batch.cached_tokens
        self.gauges.cache_hit_rate = batch.cached_tokens / max(
            1, batch.cached_tokens + batch.new_tokens
        )
        rate = batch.new_tokens / max(now - self._last_prefill_s, 1e-6)
        self._last_prefill_s = now
        self._log.say(self._prefill_words(outcome, rate))

    def _prefill_words(self, outcome: StepOutcome, rate: float) -> str:
        batch = outcome.prefill
        if batch is None:
            raise ValueError("a prefill step has a prefill batch")
        running = max(0, outcome.running - batch.new_sequences)
        words = (
            f"#new-seq: {batch.new_sequences}, #new-token: {batch.new_tokens}, "
            f"#cached-token: {batch.cached_tokens}, token usage: {self.usage(outcome):.2f}, "
            f"#running-req: {running}, #queue-req: {outcome.waiting}, "
        )
        numbers = self._launch.numbers
        if numbers <= (0, 5, 2):
            return f"Prefill batch. {words}"
        pending = f"#pending-token: {batch.pending_tokens}, " if numbers >= (0, 5, 12) else ""
        graph = f"{self._kind} graph: False, " if numbers >= (0, 5, 10) else ""
        return f"Prefill batch, {words}{pending}{graph}input throughput (token/s): {rate:.2f}"

    def usage(self, outcome: StepOutcome) -> float:
        """The share of the KV cache in use."""
        return outcome.used_tokens / self._capacity

    def _take_decode(self, outcome: StepOutcome) -> None:
        window = self._window
        self.totals.decode_passes += 1
        self.totals.decoded_tokens += outcome.decoded_tokens
        self.gauges.sequence_tokens = outcome.sequence_tokens
        if self._records_steps:
            times = self._steps.setdefault(outcome.batch_size, [])
            times.append(outcome.duration_s)
            del times[:-_MOST_STEPS]
        window.steps += 1
        window.tokens += outcome.decoded_tokens
        if outcome.verify is not None:
            window.verifies += outcome.verify.requests
            window.correct += outcome.verify.correct_drafts
            window.proposed += outcome.verify.proposed_drafts
        if window.steps >= self._interval:
            self._report(outcome)

    def _report(self, outcome: StepOutcome) -> None:
        window, gauges, now = self._window, self.gauges, time.monotonic()
        rate = window.tokens / max(now - window.began_s, 1e-6)
        gauges.gen_throughput = gauges.last_throughput = rate
        if window.verifies:
            gauges.accept_length = 1 + window.correct / window.verifies
            gauges.accept_rate = window.correct / max(1, window.proposed)
            self.lifetime.tokens += window.verifies + window.correct
            self.lifetime.verifies += window.verifies
        self.reports += 1
        self._log.say(self._decode_words(outcome, rate))
        self._window = _Window(now)

    def _decode_words(self, outcome: StepOutcome, rate: float) -> str:
        numbers = self._launch.numbers
        is_old = numbers <= (0, 5, 2)
        words = (
            f"#running-req: {outcome.running}, #token: {outcome.used_tokens}, "
            f"token usage: {self.usage(outcome):.2f}, "
        )
        if self._launch.algorithm and self._window.verifies:
            words += f"accept len: {self.gauges.accept_length:.2f}, "
            if not is_old:
                words += f"accept rate: {self.shown_rate():.2f}, "
        words += f"{self._kind} graph: {self._launch.has_graphs}, "
        words += f"gen throughput (token/s): {rate:.2f}, #queue-req: {outcome.waiting}"
        return f"Decode batch. {words}, " if is_old else f"Decode batch, {words}"

    def shown_rate(self) -> float:
        """The accept rate by the release's own definition."""
        if self._launch.numbers >= (0, 5, 11):
            return self.gauges.accept_rate
        tokens = int(self._launch.args.speculative_num_draft_tokens or 1)
        return self.gauges.accept_length / tokens

    def step_times(self) -> dict[int, list[float]] | None:
        """Seconds by batch size, where they are recorded."""
        return self._steps if self._records_steps else None

    def flush(self) -> None:
        """The average starts anew."""
        self.lifetime = Lifetime()

    def snapshot(
        self, outcome: StepOutcome | None, *, running: int, waiting: int
    ) -> dict[str, Any]:
        """What the scheduler publishes: read by /metrics, /v1/loads and /server_info."""
        gauges, totals = self.gauges, self.totals
        used = outcome.used_tokens if outcome is not None and running else 0
        return {
            "time": time.time_ns() / 1e9,
            "running": running,
            "waiting": waiting,
            "used": used,
            "sequence_tokens": gauges.sequence_tokens if running else 0,
            "usage": used / self._capacity,
            "throughput": gauges.gen_throughput if running else 0.0,
            "last_throughput": gauges.last_throughput,
            "accept_length": gauges.accept_length,
            "accept_rate": self.shown_rate() if gauges.accept_length else 0.0,
            "average_accept_length": self.lifetime.accept_length,
            "hit_rate": gauges.cache_hit_rate,
            "prefill_tokens": totals.prefill_tokens,
            "cached_tokens": totals.cached_tokens,
            "decoded_tokens": totals.decoded_tokens,
            "prefill_passes": totals.prefill_passes,
            "decode_passes": totals.decode_passes,
            "retracted": totals.retracted,
        }
