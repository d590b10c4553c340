"""/metrics: every family of a release, with its labels; what is not simulated stays at zero."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from specctl.lab.dialects import read_dialect_data

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from specctl.lab.server.pending import Pending
    from specctl.lab.server.state import ServerState

Labels = tuple[tuple[str, str], ...]


class Meters:
    """Counters and histograms that the main process keeps."""

    def __init__(self, families: list[dict[str, Any]]) -> None:
        self._bounds = {
            family["name"]: [float(bound) for bound in family["le"]]
            for family in families
            if "le" in family
        }
        self.counts: dict[tuple[str, Labels], float] = {}
        self.sums: dict[tuple[str, Labels], float] = {}
        self.buckets: dict[tuple[str, Labels], list[int]] = {}
        self.active: dict[Labels, int] = {}
        """HTTP requests under way, by endpoint."""

    def count(self, name: str, labels: Mapping[str, str], amount: float = 1) -> None:
        """Add to a counter."""
        key = (f"sglang:{name}", tuple(sorted(labels.items())))
        self.counts[key] = self.counts.get(key, 0) + amount

    def observe(self, name: str, value: float, **labels: str) -> None:
        """Add a value to a histogram; unknown in this release: nothing happens."""
        full = f"sglang:{name}"
        bounds = self._bounds.get(full)
        if bounds is None:
            return
        key = (full, tuple(sorted(labels.items())))
        buckets = self.buckets.setdefault(key, [0] * len(bounds))
        for place, bound in enumerate(bounds):
            buckets[place] += value <= bound
        self.sums[key] = self.sums.get(key, 0.0) + value
        self.counts[key] = self.counts.get(key, 0) + 1

    def finish(self, pending: Pending, *, labels_streaming: bool) -> None:
        """A request has ended."""
        which = {"is_streaming": str(pending.is_streaming).lower()} if labels_streaming else {}
        account = pending.account or {}
        tokens = len(pending.tokens)
        self.count("prompt_tokens_total", which, pending.prompt_tokens)
        self.count("generation_tokens_total", which, tokens)
        self.count("num_requests_total", which)
        self.count("cached_tokens_total", {}, account.get("cached_tokens", 0))
        self.count("spec_verify_calls_total", {}, account.get("verify_steps", 0))
        end = pending.finished_s or time.time_ns() / 1e9
        first = pending.first_s or end
        self.observe("time_to_first_token_seconds", first - pending.received_s, **which)
        self.observe("e2e_request_latency_seconds", end - pending.received_s, **which)
        per_token = (end - first) / max(1, tokens - 1)
        self.observe("request_time_per_output_token_seconds", per_token, **which)
        for _ in range(max(0, tokens - 1) if pending.is_streaming else 0):
            self.observe("inter_token_latency_seconds", per_token)
        self.observe("prompt_tokens_histogram", pending.prompt_tokens)
        uncached = pending.prompt_tokens - account.get("cached_tokens", 0)
        self.observe("uncached_prompt_tokens_histogram", uncached)
        self.observe("generation_tokens_histogram", tokens)


_FROM_SNAPSHOT = {
    "num_running_reqs": "running",
    "num_queue_reqs": "waiting",
    "gen_throughput": "throughput",
    "cache_hit_rate": "hit_rate",
    "decode_sum_seq_lens": "sequence_tokens",
    "token_usage": "usage",
    "full_token_usage": "usage",
    "num_used_tokens": "used",
    "kv_used_tokens": "used",
    "spec_accept_length": "accept_length",
    "spec_accept_rate": "accept_rate",
    "num_retracted_reqs": "retracted",
}
_HELP = "SIMULATED by specctl's lab"


class MetricsPage:
    """Writes the exposition text."""

    def __init__(self, state: ServerState) -> None:
        self._state = state
        launch = state.launch
        self._families: list[dict[str, Any]] = read_dialect_data(launch.version, "metrics")
        self._fixed = {
            "engine_type": "unified",
            "model_name": str(launch.args.served_model_name),
            "tp_rank": "0",
            "pp_rank": "0",
            "moe_ep_rank": "0",
            "pid": "0",
        }
        self._stale: str | None = None

    def text(self) -> str:
        """The page; with `stale-metrics` in force, the one from before."""
        if self._state.launch.lab_host.fault("stale-metrics") is None:
            self._stale = None
            return self._render()
        self._stale = self._stale or self._render()
        return self._stale

    def _render(self) -> str:
        lines: list[str] = []
        for family in self._families:
            name = family["name"]
            lines += [f"# HELP {name} {_HELP}", f"# TYPE {name} {family['type']}"]
            lines += self._samples(family)
        return "\n".join(lines) + "\n"

    def _samples(self, family: dict[str, Any]) -> Iterator[str]:
        name = family["name"].removeprefix("sglang:")
        if family["type"] == "histogram":
            yield from self._histogram(family)
        elif name.startswith("http_requests_active"):
            for active, number in self._state.meters.active.items():
                yield _line(family["name"], dict(active), number)
        elif name in {"http_requests_total", "http_responses_total"}:
            yield from self._counted(family)
        else:
            for row in family.get("rows", [{}]):
                labels = self._labels(family, row)
                yield _line(family["name"], labels, self._value(family, name, row))

    def _labels(self, family: Mapping[str, Any], row: Mapping[str, str]) -> dict[str, str]:
        named = {name: row.get(name, self._fixed.get(name, "")) for name in family["labels"]}
        return {**named, **row}

    def _counted(self, family: Mapping[str, Any]) -> Iterator[str]:
        for (name, labels), number in self._state.meters.counts.items():
            if name == family["name"]:
                yield _line(name, dict(labels), number)

    def _histogram(self, family: Mapping[str, Any]) -> Iterator[str]:
        meters, name = self._state.meters, family["name"]
        for row in family.get("rows", [{}]):
            key = (name, tuple(sorted(row.items())))
            labels = self._labels(family, row)
            buckets = meters.buckets.get(key, [0] * len(family["le"]))
            yield _line(f"{name}_sum", labels, meters.sums.get(key, 0.0))
            for bound, number in zip(family["le"], buckets, strict=True):
                yield _line(f"{name}_bucket", {**labels, "le": bound}, number)
            yield _line(f"{name}_count", labels, meters.counts.get(key, 0))

    def _value(self, family: Mapping[str, Any], name: str, row: Mapping[str, str]) -> float:
        state = self._state
        kept = {k: v for k, v in row.items() if k != "cache_source"}
        counted = state.meters.counts.get((family["name"], tuple(sorted(kept.items()))))
        if counted is not None:
            return counted
        if name in _FROM_SNAPSHOT:
            return float(self._snapshot().get(_FROM_SNAPSHOT[name]) or 0.0)
        return float(self._settled(name, row))

    def _snapshot(self) -> Mapping[str, Any]:
        """Older releases renew their gauges at each report only, not when they fall idle."""
        link = self._state.link
        return link.snapshot if self._state.launch.numbers >= (0, 5, 23) else link.reported

    def _settled(self, name: str, row: Mapping[str, str]) -> float:
        state, launch = self._state, self._state.launch
        snapshot = state.link.snapshot
        mode = row.get("mode", "")
        totals = {
            "decode": "decoded_tokens", "prefill_compute": "prefill_tokens",
            "prefill_cache": "cached_tokens", "input": "prefill_tokens",
            "device_hit": "cached_tokens",
        }  # fmt: skip
        if mode in totals:
            return float(snapshot.get(totals[mode], 0))
        passes = {
            "prefill_none": "prefill_passes",
            "decode_full" if launch.has_graphs else "decode_none": "decode_passes",
        }
        if name == "cuda_graph_passes_total":
            return float(snapshot.get(passes.get(mode, ""), 0))
        free = launch.kv_tokens - int(snapshot.get("used", 0))
        fixed = {
            "max_total_num_tokens": launch.kv_tokens,
            "weight_memory_usage_gb": state.weight_gb,
            "kv_cache_memory_usage_gb": state.cache_gb,
            "page_size": launch.args.page_size,
            "num_pages": launch.kv_tokens // int(launch.args.page_size),
            "context_len": launch.context_length,
            "startup_available_gpu_memory_gb": state.started["free_gb"],
            "kv_available_tokens": free,
            "spec_num_steps": launch.args.speculative_num_steps or 0,
            "spec_num_draft_tokens": launch.args.speculative_num_draft_tokens or 0,
            "is_cuda_graph": float(launch.has_graphs),
            "startup_time_seconds": state.startup_times.get(row.get("phase", "")) or 0.0,
            "startup_cuda_graph_time_seconds": state.startup_times["cuda_graph"].get(
                row.get("phase", ""), 0.0
            ),
        }
        return float(fixed.get(name, 0.0))


def _line(name: str, labels: Mapping[str, str], value: float) -> str:
    pairs = ",".join(f'{key}="{_escaped(labels[key])}"' for key in sorted(labels))
    return f"{name}{{{pairs}}} {float(value)}" if pairs else f"{name} {float(value)}"


def _escaped(text: str) -> str:
    return str(text).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
