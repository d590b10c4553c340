"""What every endpoint of the main process shares."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from specctl.lab.dialects import read_dialect_data

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specctl.lab.server.launch import Launch
    from specctl.lab.server.log import Log
    from specctl.lab.server.metrics import Meters
    from specctl.lab.server.pending import SchedulerLink
    from specctl.lab.tokenizer import Tokenizer


class Phase(StrEnum):
    """Of the main process."""

    STARTING = "starting"
    READY = "ready"
    UNHEALTHY = "unhealthy"
    DRAINING = "draining"


@dataclass
class ServerState:
    """The main process of one server."""

    launch: Launch
    log: Log
    link: SchedulerLink
    tokenizer: Tokenizer
    meters: Meters
    started: Mapping[str, Any]
    """What the scheduler said when it had started: timings, memory."""

    tokenizer_s: float = 0.0
    """How long the main process took to start."""

    phase: Phase = Phase.STARTING
    thresholds: dict[str, float] = field(default_factory=dict)
    leaked: list[str] = field(default_factory=list)
    """Requests that a release goes on counting for ever."""

    def leak(self) -> None:
        """A refused over-long request: 0.5.10 waits for it when it is told to end."""
        if self.launch.numbers == (0, 5, 10):
            import uuid

            self.leaked.append(uuid.uuid4().hex)

    @property
    def shapes(self) -> Mapping[str, Any]:
        """Templates of the release's JSON."""
        found: Mapping[str, Any] = read_dialect_data(self.launch.version, "shapes")
        return found

    @property
    def startup_times(self) -> dict[str, Any]:
        """As /server_info shows them since 0.5.17, without the main process's own."""
        timings = self.started["timings"]
        phases = ("prefill", "decode", "target_verify", "draft_prefill", "draft_decode",
                  "draft_extend")  # fmt: skip
        graphs = {phase: timings.get("cuda_graph", {}).get(phase, 0.0) for phase in phases}
        names = ("load_weight", "kv_cache_allocation", "scheduler_e2e")
        return {**{name: timings.get(name, 0.0) for name in names}, "cuda_graph": graphs}

    @property
    def weight_gb(self) -> float:
        """On each GPU, drafter included."""
        return (self.launch.weight_bytes + self.launch.draft_weight_bytes) / (1 << 30)

    @property
    def cache_gb(self) -> float:
        """Of the KV cache on each GPU."""
        return self.launch.kv_bytes / (1 << 30)

    @property
    def graph_gb(self) -> float:
        """Of the CUDA graphs on each GPU."""
        return float(self.started["graph_bytes"]) / (1 << 30)
