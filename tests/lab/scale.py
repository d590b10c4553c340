"""`python -m tests.lab.scale`: many practice hosts at once, and what they cost this machine.

Brings up HOSTS hosts in a folder of its own, starts servers on some, samples all once a second from
one specctl, prints what it found, and fails where a promise is not kept.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from specctl.domain.events import HostSampled
from specctl.lab.processes import processes_of
from specctl.lab.up import take_down
from specctl.services.monitor import Monitor
from tests.lab.practice import Practice
from tests.ssh.sshd import free_port

HOSTS, SERVERS = 64, 8
PSS_MAX_BYTES = 3e9
IDLE_MAX_CORES = 0.5
WINDOW_S = 10.0
CONNECT_S = 120.0
LEAST_SHARE = 0.9
"""Of the samples that a host should have sent."""


@dataclass(frozen=True)
class Scale:
    """What a lab of that size came to."""

    hosts: int
    servers: int
    up_s: float
    connect_s: float
    idle_cores: float
    """The lab and its servers, nobody connected."""

    sampled_cores: float
    """The lab, its servers and all agents, sampled once a second."""

    operator_cores: float
    pss_bytes: int
    """The lab, its servers and all agents."""

    least_samples: int
    """Of any host, in the window."""

    window_s: float

    def broken(self) -> list[str]:
        """The promises that are not kept."""
        rows = (
            (self.pss_bytes <= PSS_MAX_BYTES, f"PSS is {self.pss_bytes / 1e9:.2f} GB"),
            (self.idle_cores <= IDLE_MAX_CORES, f"idle takes {self.idle_cores:.2f} cores"),
            (
                self.least_samples >= LEAST_SHARE * self.window_s,
                f"a host sent {self.least_samples} samples in {self.window_s:g} s",
            ),
        )
        return [words for is_kept, words in rows if not is_kept]

    def lines(self) -> list[str]:
        """For people."""
        return [
            f"{self.hosts} SIMULATED hosts up in {self.up_s:.1f} s, {self.servers} servers",
            f"all connected in {self.connect_s:.1f} s",
            f"idle {self.idle_cores:.2f} cores; sampled at 1 Hz {self.sampled_cores:.2f} cores",
            f"the operator's specctl {self.operator_cores:.2f} cores",
            f"PSS {self.pss_bytes / 1e9:.2f} GB, agents and servers included",
            f"at least {self.least_samples} samples of every host in {self.window_s:g} s",
        ]


def measure(practice: Practice, hosts: int, servers: int, window_s: float = WINDOW_S) -> Scale:
    """Bring up, start, watch; the lab stays up."""
    begun = time.monotonic()
    practice.up("--hosts", str(hosts))
    up_s = time.monotonic() - begun
    start_servers(practice, servers)
    used = _ticks(practice)
    time.sleep(window_s)
    idle_cores = _cores(practice, used, window_s)
    return asyncio.run(_sample(practice, hosts, servers, window_s, up_s, idle_cores))


def start_servers(practice: Practice, count: int) -> None:
    """Start one on each of the first hosts, side by side."""
    argv = [sys.executable, "-m", "specctl", "start"]
    running = [
        subprocess.Popen(
            [*argv, f"lab-{number}", "lab-baseline", "--yes", "--port", str(free_port())],
            env=practice.environment,
            cwd=practice.home,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        for number in range(1, count + 1)
    ]
    for process in running:
        said, _ = process.communicate()
        assert process.returncode == 0, said.decode()


async def _sample(
    practice: Practice, hosts: int, servers: int, window_s: float, up_s: float, idle_cores: float
) -> Scale:
    names = [f"lab-{number}" for number in range(1, hosts + 1)]
    counts: Counter[str] = Counter()
    async with practice.fleet() as fleet, asyncio.TaskGroup() as group:
        fleet.store.subscribe(
            lambda event, _state: counts.update([event.host] * isinstance(event, HostSampled))
        )
        begun = time.monotonic()
        watching = group.create_task(Monitor(fleet, interval_s=1.0).watch(names))
        async with asyncio.timeout(CONNECT_S):
            while len([name for name in names if counts[name] > 1]) < hosts:
                await asyncio.sleep(0.1)
        connect_s = time.monotonic() - begun
        counts.clear()
        used, own = _ticks(practice), time.process_time()
        await asyncio.sleep(window_s)
        least = min(counts[name] for name in names)
        sampled_cores = _cores(practice, used, window_s)
        operator_cores = (time.process_time() - own) / window_s
        pss = sum(_pss_bytes(pid) for pid in _pids(practice))
        watching.cancel()
    return Scale(
        hosts, servers, up_s, connect_s, idle_cores, sampled_cores, operator_cores, pss, least,
        window_s,
    )  # fmt: skip


def _pids(practice: Practice) -> list[int]:
    record = practice.lab.record()
    assert record is not None
    return [record.pid, *processes_of(practice.lab.root / "hosts")]


def _ticks(practice: Practice) -> dict[int, int]:
    found = {}
    for pid in _pids(practice):
        try:
            words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        found[pid] = int(words[11]) + int(words[12])
    return found


def _cores(practice: Practice, before: dict[int, int], window_s: float) -> float:
    after = _ticks(practice)
    ticks = sum(used - before.get(pid, 0) for pid, used in after.items())
    return ticks / os.sysconf("SC_CLK_TCK") / window_s


def _pss_bytes(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith("Pss:"))


def main() -> int:
    """Measure, print, judge."""
    parser = argparse.ArgumentParser(description="Many practice hosts, and what they cost.")
    parser.add_argument("--hosts", type=int, default=HOSTS)
    parser.add_argument("--servers", type=int, default=SERVERS)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="lab-scale-") as folder:
        practice = Practice(Path(folder))
        try:
            found = measure(practice, asked.hosts, asked.servers)
        finally:
            take_down(practice.lab)
    for line in found.lines():
        print(line)
    broken = found.broken()
    for words in broken:
        print(f"too much: {words}", file=sys.stderr)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
