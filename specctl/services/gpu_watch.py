"""Watches a server's GPUs and processes while it is measured."""

from __future__ import annotations

import asyncio
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING, Any

from specctl.domain.energy import Energy, measure_energy
from specctl.domain.errors import SpecctlError
from specctl.domain.missing import Missing, Why
from specctl.domain.validity import find_disturbed_gpus
from specctl.services.samples import samples

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from specctl.adapters.agent_channel import AgentChannel
    from specctl.domain.probe import Void
    from specctl.domain.sample import Sample
    from specctl.domain.server import Server

INTERVAL_S = 1.0
OTHER_NAMESPACE = "whose processes use the GPUs could not be told (other pid namespace)"
NOT_WATCHED = "the GPUs were not watched"
PAST_THE_END_S = 4 * INTERVAL_S
"""To wait for the sample after a window."""


class GpuWatch:
    """The samples of one window, and what they say of it."""

    def __init__(self, agent: AgentChannel, server: Server) -> None:
        self._agent, self._server = agent, server
        self._samples: list[Sample] = []
        self._failure = ""
        self._pids: frozenset[int] = frozenset()
        self._news = asyncio.Event()

    async def run(self) -> None:
        """Collect samples until cancelled; a server on the CPU needs none."""
        if self._server.gpus == ():
            return
        try:
            async with aclosing(samples(self._agent, interval_s=INTERVAL_S)) as found:
                async for sample in found:
                    if sample.gpus:
                        self._take(sample)
                    elif sample.gpu_missing is not None:
                        self._failure = str(sample.gpu_missing)
        except SpecctlError as error:
            self._failure = error.message

    def _take(self, sample: Sample) -> None:
        self._samples.append(sample)
        self._news.set()

    async def identify(self) -> tuple[tuple[str, str], ...]:
        """The server's process now: what must be the same after the window."""
        identity = self._server.identity
        if identity is None:
            return ()
        answer = await self._agent.call("processes", pids=[identity.pid], patterns=[])
        rows = answer.get("processes") or []
        self._pids |= descendants(rows, identity.pid)
        main = next((row for row in rows if row.get("pid") == identity.pid), None)
        words = "ended" if main is None else f"pid {identity.pid}, started {main['start_ticks']}"
        return (("boot", str(answer.get("boot_id"))), ("process", words))

    async def begin(self) -> None:
        """Wait for a first sample, so that a window has one before it."""
        if self._server.gpus and not self._samples:
            await self._wait_past(0.0)

    async def energy(self, from_s: float, to_s: float) -> Energy:
        """What the server's GPUs took between two times of the host's clock."""
        if self._server.gpus and self._samples:
            await self._wait_past(to_s)
        if self._failure and not self._samples:
            return Energy(missing=Missing(Why.ERROR, f"{NOT_WATCHED}: {self._failure}"))
        return measure_energy(self._samples, self._server.gpus, from_s, to_s)

    async def _wait_past(self, time_s: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(PAST_THE_END_S):
                while not self._samples or self._samples[-1].time_s < time_s:
                    self._news.clear()
                    await self._news.wait()

    def findings(self) -> tuple[tuple[Void, ...], tuple[str, ...]]:
        """(why the window is void, what could not be told)."""
        if not self._samples:
            return (), (f"{NOT_WATCHED}: {self._failure}",) if self._failure else ()
        ours = self._pids if self._are_pids_ours() else None
        void = find_disturbed_gpus(self._samples, gpus=self._server.gpus, own_pids=ours)
        return void, (OTHER_NAMESPACE,) if ours is None else ()

    def _are_pids_ours(self) -> bool:
        """The driver names pids of our namespace: one of the server's own is among them."""
        return any(
            process.pid in self._pids
            for sample in self._samples
            for gpu in sample.gpus
            for process in gpu.processes or ()
        )


def descendants(rows: Sequence[Mapping[str, Any]], pid: int) -> frozenset[int]:
    """`pid` and everything below it."""
    children: dict[int, list[int]] = {}
    for row in rows:
        children.setdefault(int(row["ppid"]), []).append(int(row["pid"]))
    found, waiting = {pid}, [pid]
    while waiting:
        for child in children.get(waiting.pop(), ()):
            if child not in found:
                found.add(child)
                waiting.append(child)
    return frozenset(found)
