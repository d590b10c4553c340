"""A host's processor, memory, disk and network: through psutil if it is there, else from /proc."""

from __future__ import annotations

import os
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

from . import proc
from .files import file_system
from .single_flight import SingleFlight

DISK_WAIT_S = 0.05
"""A local statvfs takes microseconds; one on a dead network share never returns."""


class Memory(NamedTuple):
    """Bytes of the host's memory."""

    total: int
    available: int
    swap_used: int


class ProcSource:
    """The readings from /proc alone."""

    def cpu(self) -> Tuple[float, float]:
        """(busy, total) processor time since boot, in one unit (proc(5), `cpu` line)."""
        fields = [float(field) for field in _line("stat", "cpu ").split()[1:9]]
        return sum(fields) - fields[3] - fields[4], sum(fields)

    def memory(self) -> Memory:
        """From /proc/meminfo, which counts in KiB."""
        rows = dict(line.split(":", 1) for line in _text("meminfo").splitlines() if ":" in line)
        total, available, swap, free = (
            int(rows[name].split()[0]) << 10
            for name in ("MemTotal", "MemAvailable", "SwapTotal", "SwapFree")
        )
        return Memory(total, available, swap - free)

    def network(self) -> Dict[str, Tuple[int, int]]:
        """Interface to (received, sent) bytes."""
        found = {}
        for line in _text("net/dev").splitlines()[2:]:
            name, _, numbers = line.partition(":")
            fields = numbers.split()
            found[name.strip()] = (int(fields[0]), int(fields[8]))
        return found


class PsutilSource:
    """The readings through psutil, which knows more systems than Linux."""

    def __init__(self, psutil: Any) -> None:
        self._psutil = psutil

    def cpu(self) -> Tuple[float, float]:
        """(busy, total) processor time since boot, in one unit."""
        times = self._psutil.cpu_times()
        names = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
        total = sum(getattr(times, name, 0.0) for name in names)
        return total - times.idle - getattr(times, "iowait", 0.0), total

    def memory(self) -> Memory:
        """Total, available, swap used."""
        memory = self._psutil.virtual_memory()
        return Memory(memory.total, memory.available, self._psutil.swap_memory().used)

    def network(self) -> Dict[str, Tuple[int, int]]:
        """Interface to (received, sent) bytes."""
        rows = self._psutil.net_io_counters(pernic=True)
        return {name: (row.bytes_recv, row.bytes_sent) for name, row in rows.items()}


def best_source() -> Any:
    """Psutil where it can be imported and works, else /proc."""
    try:
        import psutil

        source = PsutilSource(psutil)
        source.memory()
    except Exception:
        return ProcSource()
    return source


class HostReader:
    """Reads a host, remembering what rates need."""

    def __init__(self, state_dir: Optional[str], source: Any = None) -> None:
        self._source = source or best_source()
        self._cpu: Optional[Tuple[float, float]] = None
        path = os.path.expanduser(state_dir or "~")
        self._disk = SingleFlight("disk", lambda: (file_system(path), file_system("/dev/shm")))

    def read(self) -> Dict[str, Any]:
        """The fields of one sample, each None one with its reason in `missing`."""
        values: Dict[str, Any] = {}
        missing: Dict[str, List[str]] = {}
        for names, reading in self._readings():
            try:
                values.update(zip(names, reading()))  # noqa: B905  Python 3.8 has no strict
            except Exception as error:
                words = "%s: %s" % (type(error).__name__, error)
                values.update((name, None) for name in names)
                missing.update((name, ["error", words]) for name in names)
        if values["cpu_percent"] is None:
            missing.setdefault("cpu_percent", ["not yet read", "needs two readings"])
        if values["disk_total_bytes"] is None:
            missing.update((name, ["timed out", "the file system hangs"]) for name in DISK)
        return {**values, "missing": missing}

    def _readings(self) -> Tuple[Tuple[Tuple[str, ...], Callable[[], Any]], ...]:
        return (
            (("cpu_percent", "cpu_count"), lambda: (self._cpu_percent(), os.cpu_count())),
            (("load_1min",), lambda: os.getloadavg()[:1]),
            (MEMORY, lambda: self._source.memory()),
            (NETWORK, lambda: total_traffic(self._source.network())),
            (("uptime_s",), lambda: (proc.uptime_s(),)),
            (DISK, self._disks),
        )

    def _cpu_percent(self) -> Optional[float]:
        before, self._cpu = self._cpu, self._source.cpu()
        if before is None or self._cpu[1] <= before[1]:
            return None
        share = (self._cpu[0] - before[0]) / (self._cpu[1] - before[1])
        return round(100 * min(max(share, 0.0), 1.0), 1)

    def _disks(self) -> Tuple[Optional[int], ...]:
        outcome = self._disk.ask(DISK_WAIT_S)
        if outcome is None:
            return (None, None, None, None)
        if outcome.error is not None:
            raise outcome.error
        (total, free), (shm_total, shm_free) = outcome.value
        return (total, free, shm_total, shm_free)


MEMORY = ("memory_total_bytes", "memory_available_bytes", "swap_used_bytes")
NETWORK = ("network_rx_bytes", "network_tx_bytes")
DISK = ("disk_total_bytes", "disk_free_bytes", "shm_total_bytes", "shm_free_bytes")


def total_traffic(rows: Dict[str, Tuple[int, int]]) -> Tuple[int, int]:
    """The sum over real interfaces: bridges, bonds and veths would count the same bytes twice.

    A container may see only virtual ones; then all but the loopback count.
    """
    real = [name for name in rows if os.path.exists("/sys/class/net/%s/device" % name)]
    names = real or [name for name in rows if name != "lo"]
    return sum(rows[name][0] for name in names), sum(rows[name][1] for name in names)


def _text(name: str) -> str:
    return proc.read_text(proc.PROC + "/" + name)


def _line(name: str, start: str) -> str:
    return next(line for line in _text(name).splitlines() if line.startswith(start))
