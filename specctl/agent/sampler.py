"""The `sample` stream: one item per tick, whatever hangs; whole, or as `changes` sends them."""

from __future__ import annotations

import math
import time
from typing import Any, Dict, Iterator, List, Optional, Tuple

from . import asked
from .changes import Changes
from .host_sample import HostReader
from .nvml import NotReadyError, Nvml, explain
from .nvml_device import FAST, SLOW
from .smi import NOT_YET, Smi

GPU_WAIT_SHARE = 0.8
"""Of a tick that may be spent waiting for the GPUs."""


def sample(params: Dict[str, Any], cancelled: Any) -> Iterator[Dict[str, Any]]:
    """An item every `interval_s`; the dearer readings every `slow_every` items.

    All but the first are taken when the host's clock is at a multiple of the interval: hosts whose
    clocks agree are read at the same instants, and an operator of many is woken once for all.
    """
    interval_s = asked.seconds(params, "interval_s", 1.0, 0.05)
    sampler = Sampler(
        state_dir=asked.optional_text(params, "state_dir"),
        slow_every=max(1, asked.integer(params, "slow_every", 5)),
        wait_s=interval_s * GPU_WAIT_SHARE,
    )
    changes = Changes() if asked.switch(params, "changes") else None
    while True:
        due = time.monotonic() + to_next_s(time.time(), interval_s)
        item = sampler.tick()
        yield changes.of(item) if changes else item
        if cancelled.wait(max(0.0, due - time.monotonic())):
            return


def to_next_s(now_s: float, interval_s: float) -> float:
    """From a tick begun now to the next: between half an interval and one and a half."""
    return (math.floor(now_s / interval_s + 0.5) + 1) * interval_s - now_s


class Gpus:
    """What all streams of this agent share: the driver is asked once however many listen."""

    def __init__(self) -> None:
        self.nvml = Nvml()
        self.smi = Smi()


SHARED = Gpus()


class Sampler:
    """Makes the items of one stream."""

    def __init__(
        self,
        state_dir: Optional[str],
        slow_every: int,
        wait_s: float,
        gpus: Optional[Gpus] = None,
    ) -> None:
        self._host = HostReader(state_dir)
        self._slow_every = slow_every
        self._wait_s = wait_s
        self._gpus = gpus or SHARED
        self._count = 0
        self._smi_answer: Optional[Dict[str, Any]] = None

    def tick(self) -> Dict[str, Any]:
        """One item."""
        tier = FAST if self._count % self._slow_every else SLOW
        if self._count == 0:
            self._gpus.nvml.open(self._wait_s)
        self._count += 1
        cpu = time.thread_time()
        now, mono = round(time.time(), 3), round(time.monotonic(), 6)
        item: Dict[str, Any] = {"t": now, "mono": mono}
        item["host"] = self._host.read()
        gpu, gpu_cost_s = self._read_gpus(tier)
        item.update(gpu)
        item["driver_ms"] = sum(row.get("latency_us", 0) for row in item["gpus"]) / 1e3
        item["cost_ms"] = round((time.thread_time() - cpu + gpu_cost_s) * 1e3, 3)
        return item

    def _read_gpus(self, tier: str) -> Tuple[Dict[str, Any], float]:
        nvml = self._gpus.nvml
        try:
            rows, cost_s = nvml.read(tier, self._wait_s)
        except NotReadyError as error:
            return self._without_nvml(error, tier), 0.0
        return _gpu_part("nvml", rows, None, nvml.driver), cost_s

    def _without_nvml(self, error: NotReadyError, tier: str) -> Dict[str, Any]:
        part = _gpu_part(None, [], error.why, None)
        if error.why[0] != "not installed":
            part["gpu_error"] = explain(error.code)
            return part
        if self._smi_answer is None:
            self._smi_answer = self._gpus.smi.read(self._wait_s)
        elif tier == SLOW or self._smi_answer["missing"] == NOT_YET:
            self._smi_answer = self._gpus.smi.read()
        has_text = self._smi_answer.get("text") is not None
        part["gpu_source"] = "nvidia-smi" if has_text else None
        part["smi"] = self._smi_answer
        return part


def _gpu_part(
    source: Optional[str],
    rows: List[Dict[str, Any]],
    why: Optional[List[str]],
    driver: Optional[str],
) -> Dict[str, Any]:
    return {"gpu_source": source, "gpus": rows, "gpu_missing": why, "driver": driver}
