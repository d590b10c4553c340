"""The scheduler's way to readiness: loading, KV cache, graphs, in the log lines of a release."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from specctl.lab.server.gpu_use import GpuUse
    from specctl.lab.server.launch import Launch
    from specctl.lab.server.log import Log

_GB = 1 << 30
_SHARDS = 62
_GRAPH_BYTES = 700 << 20
_TOO_LITTLE_BYTES = 1 << 30
"""At most so much is free when the memory of a GPU is said to have run out."""

_LOOK_S = 0.25
"""Memory grows on display so often."""

_BAR = (
    "Multi-thread loading shards: {percent:3d}% Completed | {done}/{total} [{spent}<{left}, {rate}]"
)
_OLD_BAR = "Loading safetensors checkpoint shards: {percent:3d}% Completed | {done}/{total} [{spent}<{left}, {rate}]"  # noqa: E501
_STEPS_SINCE_NEW_NAMES = (0, 5, 14)
_PARALLEL_SINCE = (0, 5, 23)
_BATCH_SIZES = (1, 2, 4, 8, 12, 16, 24, 32, 48)


class OutOfMemoryError(Exception):
    """CUDA has none left; shown as torch's own."""

    __module__ = "torch"


class EndedWithoutAWordError(Exception):
    """The process is to end as if something outside had killed it."""


class Startup:
    """Says and does what comes between the processes' birth and readiness; takes its time."""

    def __init__(self, launch: Launch, log: Log, use: GpuUse) -> None:
        self._launch, self._log, self._use = launch, log, use
        self._free = float(launch.gpu_memory_bytes) * 0.985
        self.timings: dict[str, Any] = {}
        """Seconds by phase, as the release reports them."""

        self.graph_bytes = 0
        self._began_s = time.monotonic()

    def run(self) -> None:
        """Raises OutOfMemoryError without room for graphs; that, or a silent end, by a fault."""
        self._distribute()
        self._load(draft=False)
        if self._launch.draft_name:
            self._load(draft=True)
        self._allocate()
        self._check_draft()
        self._capture()
        self._summarise()

    def _say(self, text: str) -> None:
        """The same line of every rank."""
        for rank in range(self._launch.ranks):
            self._log.say(text, self._launch.tag(rank))

    def _say_first(self, text: str) -> None:
        self._log.say(text, self._launch.tag(0))

    def _avail(self) -> str:
        return f"avail mem={max(0.0, self._free) / _GB:.2f} GB"

    def _pause(self, name: str) -> float:
        seconds = self._launch.duration_s(name)
        time.sleep(seconds)
        return seconds

    def _distribute(self) -> None:
        what = "parallel" if self._launch.numbers >= _PARALLEL_SINCE else "torch distributed"
        self._say(f"Init {what} begin.")
        seconds = self._pause("distributed")
        ends = f"elapsed={seconds:.2f} s" if self._launch.numbers > (0, 5, 2) else ""
        if what == "parallel":
            self._say(f"Init {what} ends. {ends}")
            self._say("Memory baseline taken. mem usage=0.00 GB")
            return
        usage = ", ".join(part for part in (ends, "mem usage=0.00 GB") if part)
        self._say(f"Init {what} ends. {usage}")

    def _load(self, *, draft: bool) -> None:
        name = "draft_weights" if draft else "weights"
        size = self._launch.draft_weight_bytes if draft else self._launch.weight_bytes
        self._say(f"Load weight begin. {self._avail()}")
        began = time.monotonic()
        seconds = self._launch.duration_s(name)
        looked = began
        for done in self._bars(seconds, 1 if draft else _SHARDS):
            if done == 1 or time.monotonic() - looked > _LOOK_S:
                looked = time.monotonic()
                self._use.hold(weights=1.0 if draft else done, draft=done if draft else 0.0)
        self._free -= size
        elapsed = time.monotonic() - began
        self.timings["load_weight"] = self.timings.get("load_weight", 0.0) + elapsed
        self._say(self._loaded(draft=draft, elapsed=elapsed, size=size))

    def _loaded(self, *, draft: bool, elapsed: float, size: int) -> str:
        config = (self._launch.resolved.draft if draft else self._launch.resolved.target) or {}
        kind = (config.get("architectures") or ["LlamaForCausalLM"])[0]
        usage = f"{self._avail()}, mem usage={size / _GB:.2f} GB."
        if self._launch.numbers <= (0, 5, 2):
            return f"Load weight end. type={kind}, dtype=torch.bfloat16, {usage}"
        return f"Load weight end. elapsed={elapsed:.2f} s, type={kind}, {usage}"

    def _bars(self, seconds: float, total: int) -> Iterator[float]:
        """Shares read, with a bar for each; `slow-weights` stretches them while it is in force."""
        self._bar(0, total, 0.0)
        began = due = time.monotonic()
        for done in range(1, total + 1):
            slow = self._launch.lab_host.fault("slow-weights")
            due += (float(slow["seconds"]) if slow else seconds) / total
            time.sleep(max(0.0, due - time.monotonic()))
            self._bar(done, total, time.monotonic() - began)
            yield done / total
        self._log.raw(b"\n")

    def _bar(self, done: int, total: int, spent: float) -> None:
        rate = f"{done / spent:.2f}it/s" if spent else "?it/s"
        left = _clock((total - done) * spent / done) if done else "?"
        shape = _BAR if self._launch.numbers > (0, 5, 2) else _OLD_BAR
        text = shape.format(percent=100 * done // total, done=done, total=total,
                            spent=_clock(spent), left=left, rate=rate)  # fmt: skip
        self._log.raw(b"\r" + text.encode())

    def _allocate(self) -> None:
        launch = self._launch
        self.timings["kv_cache_allocation"] = self._pause("memory_pool")
        self._use.hold(weights=1.0, draft=1.0, cache=True)
        half = launch.kv_bytes / 2 / _GB
        kind = "dtype: torch.bfloat16, " if launch.numbers >= _PARALLEL_SINCE else ""
        self._free -= launch.kv_bytes
        self._say(
            f"KV Cache is allocated. {kind}#tokens: {launch.kv_tokens}, "
            f"K size: {half:.2f} GB, V size: {half:.2f} GB"
        )
        self._say(f"Memory pool end. {self._avail()}")

    def _check_draft(self) -> None:
        """What a drafter that cannot work ends a start with, this late."""
        launch = self._launch
        if launch.algorithm not in {None, "EAGLE", "EAGLE3", "STANDALONE", "NGRAM"}:
            raise NotImplementedError(f"SIMULATED: the lab has no {launch.algorithm} worker")
        if launch.algorithm in {"EAGLE", "EAGLE3"} and not launch.draft_name:
            raise AttributeError("'VocabParallelEmbedding' object has no attribute 'weight'")
        kind = (launch.resolved.draft or {}).get("architectures") or [""]
        is_plain = kind[0] == "LlamaForCausalLM"
        if is_plain and launch.algorithm == "EAGLE":
            raise AttributeError("'VocabParallelEmbedding' object has no attribute 'weight'")
        if is_plain and launch.algorithm == "EAGLE3":
            raise AttributeError("'LlamaForCausalLM' object has no attribute 'hot_token_id'")
        if launch.has_graphs and launch.algorithm in {"EAGLE", "EAGLE3", "STANDALONE"}:
            self._check_tree()

    def _check_tree(self) -> None:
        args = self._launch.args
        topk, steps = args.speculative_eagle_topk, args.speculative_num_steps
        if args.speculative_num_draft_tokens - 1 > topk + (steps - 1) * topk * topk:
            raise RuntimeError("selected index k out of range")

    def _capture(self) -> None:
        crash = self._launch.lab_host.fault("crash-at-capture")
        if not self._launch.has_graphs:
            if crash:
                self._crash(str(crash["how"]))
            return
        if self._free < _GRAPH_BYTES:
            crash = {"how": "oom"}
        begin, end = self._capture_words(draft="")
        self._say(begin)
        self._bars_of_sizes(self._launch.duration_s("capture"), crash)
        self._finish_capture("capture", end)
        if self._launch.draft_name:
            for stage in ("draft decode", "draft extend"):
                begin, end = self._capture_words(draft=stage)
                self._say(begin)
                self._bars_of_sizes(self._launch.duration_s("draft_capture"), None)
                self._finish_capture("draft_capture", end)

    def _finish_capture(self, name: str, end: str) -> None:
        self.graph_bytes += _GRAPH_BYTES
        self._free -= _GRAPH_BYTES
        seconds = self._launch.duration_s(name)
        phase = "target_verify" if self._launch.algorithm else "decode"
        graphs = self.timings.setdefault("cuda_graph", {})
        key = phase if name == "capture" else "draft_decode"
        graphs[key] = graphs.get(key, 0.0) + seconds
        self._use.hold(weights=1.0, draft=1.0, cache=True, graphs_bytes=self.graph_bytes)
        self._say(
            end.format(seconds=seconds, usage=_GRAPH_BYTES / _GB, free=max(0.0, self._free) / _GB)
        )

    def _capture_words(self, *, draft: str) -> tuple[str, str]:
        if self._launch.numbers >= _STEPS_SINCE_NEW_NAMES:
            what = draft or ("target verify" if self._launch.algorithm else "decode")
            tokens = self._launch.args.speculative_num_draft_tokens if self._launch.algorithm else 1
            sizes = f"bs={list(_BATCH_SIZES)}, " if draft else ""
            return (
                f"Capture {what} CUDA graph begin. backend=full, num_tokens_per_req={tokens}, "
                f"{sizes}{self._avail()}",
                f"Capture {what} CUDA graph end. "
                + ("" if draft else f"bs={list(_BATCH_SIZES)}, ")
                + "elapsed={seconds:.2f} s, mem usage={usage:.2f} GB, avail mem={free:.2f} GB.",
            )
        what = {"": "", "draft decode": "draft "}.get(draft, f"{draft} ")
        return (
            f"Capture {what}cuda graph begin. This can take up to several minutes. {self._avail()}",
            f"Capture {what}cuda graph end. Time elapsed: {{seconds:.2f}} s. "
            "mem usage={usage:.2f} GB. avail mem={free:.2f} GB.",
        )

    def _bars_of_sizes(self, seconds: float, crash: Any) -> None:
        """One drawing per batch size, largest first; a crash comes half way."""
        total = len(_BATCH_SIZES)
        for done, size in enumerate(reversed(_BATCH_SIZES)):
            text = f"Capturing batches (bs={size} avail_mem={self._free / _GB:.2f} GB): "
            text += f"{100 * done // total:3d}%|{'█' * done:<{total}}| {done}/{total} "
            text += f"[{_clock(seconds * done / total)}<?, ?it/s]"
            self._log.raw(b"\r" + text.encode())
            time.sleep(seconds / total)
            if crash and done == total // 2:
                self._log.raw(b"\n")
                self._crash(str(crash["how"]))
        self._log.raw(b"\n")

    def _crash(self, how: str) -> None:
        if how == "exit-137":
            raise EndedWithoutAWordError(how)
        free = min(max(0.0, self._free), _TOO_LITTLE_BYTES) / _GB
        total = self._launch.gpu_memory_bytes / _GB
        gpu = self._launch.gpus[0] if self._launch.gpus else 0
        raise OutOfMemoryError(
            f"CUDA out of memory. Tried to allocate 2.00 GiB. GPU {gpu} has a total capacity of "
            f"{total:.2f} GiB of which {free:.2f} GiB is free."
        )

    def _summarise(self) -> None:
        launch, args = self._launch, self._launch.args
        self.timings["scheduler_e2e"] = time.monotonic() - self._began_s
        where = "available_gpu_mem" if launch.gpus else "available_cpu_mem"
        self._say_first(
            f"max_total_num_tokens={launch.kv_tokens}, "
            f"chunked_prefill_size={args.chunked_prefill_size}, "
            f"max_prefill_tokens={args.max_prefill_tokens}, "
            f"max_running_requests={launch.max_running}, "
            f"context_len={launch.context_length}, "
            f"{where}={max(0.0, self._free) / _GB:.2f} GB"
        )

    @property
    def free_gb(self) -> float:
        """GPU memory left."""
        return max(0.0, self._free) / _GB


def _clock(seconds: float) -> str:
    return f"{int(seconds) // 60:02d}:{int(seconds) % 60:02d}"
