"""What the server does to its GPUs, written where the lab host's NVML library reads it."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from specctl.lab.activity import Activity, clear_activity, write_activity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specctl.lab.server.launch import Launch

_CONTEXT_BYTES = 600 << 20
"""A CUDA context with its libraries."""

_LINKS = {
    "pcie": ("pcie_rx_bytes_per_s", "pcie_tx_bytes_per_s"),
    "nvlink": ("nvlink_rx_bytes_per_s", "nvlink_tx_bytes_per_s"),
}
_HOLD_S = 2.0
_RENEW_S = 0.5


class GpuUse:
    """Memory and load of every scheduler on its GPU."""

    def __init__(self, launch: Launch, pids: Sequence[int]) -> None:
        self._launch = launch
        self._places = list(zip(pids, launch.gpus, strict=False))
        self._memory = 0
        self._position = launch.instance.position if launch.instance else None
        self._busy = 0.0
        self._traffic = 0.0
        self._renewed_s = 0.0

    def hold(
        self,
        *,
        weights: float = 0.0,
        draft: float = 0.0,
        cache: bool = False,
        graphs_bytes: int = 0,
    ) -> None:
        """Memory from now on; `weights` and `draft` are shares of what is loaded so far."""
        launch = self._launch
        self._memory = _CONTEXT_BYTES + graphs_bytes
        self._memory += int(launch.weight_bytes * weights + launch.draft_weight_bytes * draft)
        self._memory += launch.kv_bytes if cache else 0
        self._write()

    def work(self, busy: float, tokens_per_s: float, now_s: float) -> None:
        """A step runs: written when the load changes, and renewed twice a second while it lasts.

        `tokens_per_s` go through every layer: what the schedulers exchange follows from it.
        """
        is_same = abs(busy - self._busy) < 0.05  # noqa: PLR2004  what no display shows
        if is_same and now_s - self._renewed_s < _RENEW_S:
            return
        self._busy, self._renewed_s = busy, now_s
        self._traffic = tokens_per_s * self._launch.exchanged_bytes_per_token
        self._write()

    def rest(self) -> None:
        """Nothing runs."""
        if self._busy:
            self._busy = self._traffic = 0.0
            self._write()

    def release(self) -> None:
        """The processes are about to end."""
        for pid, _ in self._places:
            clear_activity(self._launch.lab_host, pid)

    def _links(self) -> dict[str, Any]:
        names = _LINKS.get(str(self._launch.lab_host.scenario.get("interconnect")), ())
        return dict.fromkeys(names, self._traffic)

    def _write(self) -> None:
        for pid, gpu in self._places:
            doing = Activity(
                gpu, self._memory, mig=self._position, busy=self._busy, **self._links()
            )
            with contextlib.suppress(ProcessLookupError):
                write_activity(self._launch.lab_host, pid, [doing], busy_for_s=_HOLD_S)
