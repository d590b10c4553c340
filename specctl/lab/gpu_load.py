"""What a lab host's GPUs show at this moment, for its nvidia-smi; nvml/activity.c does the same.

Without a past: temperature is where it would settle, counters of energy and traffic are not there.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from specctl.lab.activity import start_ticks
from specctl.lab.scenarios import to_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from specctl.lab.place import LabHost

THROTTLE_IDLE, THROTTLE_POWER = 0x1, 0x4


@dataclass(frozen=True, slots=True)
class Use:
    """What one process does to one GPU."""

    pid: int
    gpu: int
    memory_bytes: int = 0
    busy: float = 0.0
    memory_busy: float | None = None
    watts: float | None = None


@dataclass(frozen=True, slots=True)
class GpuLoad:
    """One GPU: the scenario's values, and what processes add to them."""

    index: int
    values: Mapping[str, str]
    uses: tuple[Use, ...] = ()
    busy: float = field(init=False)

    def __post_init__(self) -> None:
        busy = min(1.0, sum(use.busy for use in self.uses))
        object.__setattr__(self, "busy", busy)

    def number(self, key: str) -> float | None:
        """A value of the scenario at rest, or at full load where `busy.KEY` says it."""
        busy = self.values.get(f"busy.{key}") if self.busy > 0 else None
        text = busy or self.values.get(key)
        return None if text is None else float(int(text, 0) if text.startswith("0x") else text)

    @property
    def is_lost(self) -> bool:
        """It fell off the bus."""
        return "error.*" in self.values

    @property
    def memory_total_bytes(self) -> int | None:
        """None where it has none of its own."""
        return to_bytes(self.values.get("mem.total"))

    @property
    def memory_used_bytes(self) -> int:
        """By processes; what the driver reserves is not in it."""
        return (to_bytes(self.values.get("mem.used")) or 0) + sum(u.memory_bytes for u in self.uses)

    @property
    def memory_busy(self) -> float:
        """The share of time in which memory is read or written."""
        shares = (u.busy / 2 if u.memory_busy is None else u.memory_busy for u in self.uses)
        return min(1.0, sum(shares))

    @property
    def watts(self) -> float:
        """Drawn now, at most the limit."""
        wanted, limit = self._wanted_watts(), self.number("power.limit_mw")
        return wanted if limit is None else min(wanted, limit / 1000)

    def _wanted_watts(self) -> float:
        idle = float(self.values["power.usage_mw"]) / 1000
        told = [use.watts for use in self.uses if use.watts is not None]
        if told:
            return idle + sum(told)
        full = float(self.values.get("busy.power_mw", self.values["power.usage_mw"])) / 1000
        return idle + self.busy * (full - idle)

    @property
    def celsius(self) -> float:
        """Where its temperature settles."""
        idle, full = (float(self.values[k]) for k in ("power.usage_mw", "busy.power_mw"))
        cool, hot = float(self.values["temp.gpu"]), float(self.values["busy.temp"])
        return cool + (self.watts * 1000 - idle) / (full - idle) * (hot - cool)

    @property
    def throttle(self) -> int:
        """The bits of `nvmlClocksEventReasons`."""
        limit = self.number("power.limit_mw")
        is_over = limit is not None and self._wanted_watts() * 1000 > limit
        return THROTTLE_IDLE * (self.busy <= 0) | THROTTLE_POWER * is_over


def read_ini(path: Path) -> tuple[dict[str, str], list[dict[str, str]]]:
    """The keys of the system, and of each GPU, of the file that the NVML stand-in reads."""
    system: dict[str, str] = {}
    shared: dict[str, str] = {}
    own: dict[int, dict[str, str]] = {}
    section = system
    for line in path.read_text().splitlines():
        if line == "[gpu]":
            section = shared
        elif line.startswith("[gpu "):
            section = own.setdefault(int(line[5:-1]), {})
        else:
            key, _, value = line.partition(" = ")
            section[key] = value
    return system, [{**shared, **own.get(index, {})} for index in range(int(system["gpus"]))]


def read_gpus(host: LabHost) -> list[GpuLoad]:
    """All GPUs of a host with what its living processes do to them."""
    uses = list(_uses(host))
    _, gpus = read_ini(host.folder / "gpus.ini")
    return [
        GpuLoad(index, values, tuple(use for use in uses if use.gpu == index))
        for index, values in enumerate(gpus)
    ]


def _uses(host: LabHost) -> Iterator[Use]:
    for file in host.activity_folder.glob("[0-9]*"):
        try:
            lines = file.read_text().splitlines()
            ticks = start_ticks(int(file.name))
        except (FileNotFoundError, ProcessLookupError):
            continue
        if lines and lines[0] == f"start {ticks}":
            yield from _read_uses(int(file.name), lines[1:])


def _read_uses(pid: int, lines: list[str]) -> Iterator[Use]:
    until = math.inf
    for line in lines:
        word, _, rest = line.partition(" ")
        if word == "busy_until":
            until = float(rest)
        elif word == "gpu":
            index, *pairs = rest.split()
            values = {key: float(value) for key, _, value in (p.partition("=") for p in pairs)}
            is_over = time.monotonic() > until
            yield Use(
                pid,
                int(index),
                int(values["memory_bytes"]),
                0.0 if is_over else values["busy"],
                None if is_over else values.get("memory_busy"),
                None if is_over else values.get("watts"),
            )
