"""What one look at eight GPUs costs the operator's machine: streamed, and as people poll it."""

from __future__ import annotations

import asyncio
import os
import subprocess
import time
from contextlib import aclosing
from typing import TYPE_CHECKING

from specctl.agent.smi import QUERY
from specctl.domain.events import HostSampled
from specctl.facts.smi import read_gpus
from specctl.services.samples import samples
from tests.bench.arrivals import Arrivals
from tests.bench.lab import fleet_of, operator
from tests.bench.measure import Measured, Side

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from specctl.services.fleet import Fleet
    from tests.ssh.operator_side import OperatorSide

GOAL = 0.1
ROUNDS = 5
STEPS = {1: 10, 10: 4, 30: 3, 50: 3}
"""Hosts watched at once, and the seconds of a round with so many."""

PACE_S = 1.0
ROW = (
    "{0}, GPU-{0:08d}-0000-0000-0000-000000000000, NVIDIA H100 80GB HBM3, 570.124.06, 81559, 62464,"
    " 567, 93, 47, 64, 71, 640.12, 700.00, 1980, 1980, 2619, P0, Enabled, Disabled, 0, 0, 5, 5,"
    " 16, 16, 0x0000000000000004\n"
)
"""One GPU as `nvidia-smi --format=csv,noheader,nounits` prints the fields that specctl asks for."""


def sampling() -> list[Measured]:
    """Milliseconds of processor time per sample of a host, parsing and storing included."""
    return asyncio.run(_sampling())


async def _sampling() -> list[Measured]:
    names = [f"h{index:02d}" for index in range(max(STEPS))]
    rows: list[Measured] = []
    async with operator(names) as side, fleet_of(side) as fleet, asyncio.TaskGroup() as group:
        arrivals = Arrivals(fleet)
        streams: list[asyncio.Task[None]] = []
        poll = Polling(side, names[0])
        try:
            for hosts, seconds in STEPS.items():
                more = names[len(streams) : hosts]
                streams += [group.create_task(_stream(fleet, name)) for name in more]
                await arrivals.until_all(names[:hosts])
                await arrivals.window(2 * PACE_S)
                rows.append(await _compare(arrivals, poll, hosts, seconds))
        finally:
            poll.close()
            for stream in streams:
                stream.cancel()
    return rows


async def _compare(arrivals: Arrivals, poll: Polling, hosts: int, seconds: int) -> Measured:
    ours: list[float] = []
    theirs: list[float] = []
    for _ in range(ROUNDS):
        window = await arrivals.window(seconds * PACE_S)
        ours.append(window.cpu_s / len(window.late_ms) * 1000)
        theirs.append(await asyncio.to_thread(poll.cost_ms, hosts, seconds))
    return Measured(
        f"client CPU per host-sample of 8 GPUs, {hosts} {'host' if hosts == 1 else 'hosts'}",
        "ms",
        Side("streamed", tuple(ours)),
        Side("ssh + ControlMaster", tuple(theirs)),
        goal=GOAL,
        note=f"{ROUNDS} rounds of {seconds} s in turns, both sides once a second and host; ours: "
        "the whole process, stream, parse, store; theirs: starting ssh, ssh, reading nvidia-smi's "
        "text, every host over one master, whose own time is not counted",
    )


async def _stream(fleet: Fleet, name: str) -> None:
    """As a host is watched: stream, parse, store."""
    connection = await fleet.connect(name)
    async with aclosing(samples(connection.agent, interval_s=1.0, slow_every=5)) as found:
        async for sample in found:
            fleet.store.apply(HostSampled(name, fleet.clock.now(), sample))


class Polling:
    """`ssh HOST cat ROWS` over a master connection, once per sample."""

    def __init__(self, side: OperatorSide, name: str) -> None:
        rows = side.lab.folder / "rows.csv"
        rows.write_text("".join(ROW.format(index) for index in range(8)))
        self._ssh = ssh_argv(side.lab.config, side.lab.folder / "cm")
        subprocess.run([*self._ssh, "-fN", "-M", name], check=True)
        self._argv = [*self._ssh, name, f"cat {rows}"]
        self._one_s()

    def cost_ms(self, hosts: int, seconds: int) -> float:
        """Per sample: starting the ssh process, what it used itself, and parsing.

        All hosts one after another, then a pause until the second is over.
        """
        costs: list[float] = []
        for _ in range(seconds):
            due_s = time.monotonic() + PACE_S
            costs += [self._one_s() for _ in range(hosts)]
            time.sleep(max(0.0, due_s - time.monotonic()))
        return sum(costs) / len(costs) * 1000

    def _one_s(self) -> float:
        begun_s = time.thread_time()
        child = subprocess.Popen(self._argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        assert child.stdout is not None
        text = child.stdout.read().decode()
        child.stdout.close()
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        assert child.returncode == 0
        assert len(read_gpus(QUERY, text).gpus) == 8
        return time.thread_time() - begun_s + used.ru_utime + used.ru_stime

    def close(self) -> None:
        """End the master."""
        argv = [*self._ssh, "-O", "exit", self._argv[-2]]
        subprocess.run(argv, check=True, stderr=subprocess.DEVNULL)


def ssh_argv(config: Path, socket: Path) -> Sequence[str]:
    """The system's ssh with a master's socket, on that configuration alone."""
    return ["ssh", "-F", str(config), "-o", f"ControlPath={socket}", "-o", "LogLevel=ERROR"]
