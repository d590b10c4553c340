"""The recent past of measurements: series in rings of fixed size, with their gaps kept as gaps."""

from __future__ import annotations

import math
from array import array
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

from specctl.domain.events import HostSampled, ServerSampled, ServersSeen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specctl.domain.events import Event

GPU_FIELDS = ("utilization_percent", "sm_clock_mhz", "power_w")
HOST_FIELDS = ("cpu_percent",)
SERVER_FIELDS = ("tokens_per_s", "accept_length")

HOST_HOLD_S = 3.0
"""Three periods of the agent: after that a missing sample is a gap."""

SERVER_HOLD_S = 6.0
"""Servers are asked less often than agents; shorter silences are that rhythm, not a gap."""

SERIES_PER_HOST = 256


class Span(IntEnum):
    """How far back a plot looks, in seconds."""

    MINUTE = 60
    MINUTES_5 = 300
    MINUTES_30 = 1800

    @property
    def minutes(self) -> int:
        """The span in minutes."""
        return self.value // 60

    @property
    def next(self) -> Span:
        """The one that follows, round and round."""
        members = tuple(Span)
        return members[(members.index(self) + 1) % len(members)]


class Key(NamedTuple):
    """What a series is of: `Key("pro6k-01", "gpu 5", "sm_clock_mhz")`."""

    host: str
    subject: str
    field: str


def gpu_key(host: str, index: int, field: str) -> Key:
    """The series of one GPU's `field`."""
    return Key(host, f"gpu {index}", field)


def host_key(host: str, field: str) -> Key:
    """The series of the host's own `field`."""
    return Key(host, "host", field)


def server_key(host: str, server: str, field: str) -> Key:
    """The series of one server's `field`."""
    return Key(host, f"server {server}", field)


@dataclass(slots=True)
class _Ring:
    """Means over buckets of `step_s`, the newest overwriting the oldest."""

    step_s: float
    means: array[float]
    counts: array[int]
    newest: int = -1
    """Number of the newest bucket, counted from the epoch; -1 before the first value."""

    def add(self, time_s: float, value: float) -> None:
        """Take a value into its bucket; one older than the ring is dropped."""
        number = int(time_s / self.step_s)
        size = len(self.means)
        if self.newest < 0:
            self.newest = number
        if number <= self.newest - size:
            return
        for stale in range(max(self.newest, number - size) + 1, number + 1):
            self.counts[stale % size] = 0
        self.newest = max(self.newest, number)
        slot = number % size
        if self.counts[slot] == 0:
            self.means[slot] = 0.0
        self.counts[slot] += 1
        self.means[slot] += (value - self.means[slot]) / self.counts[slot]

    @property
    def oldest_s(self) -> float:
        """What lies before this was overwritten."""
        return (self.newest - len(self.means) + 1) * self.step_s

    def means_between(self, first: int, cells: int, cell_s: float) -> list[float | None]:
        """A mean for each of `cells` pieces of `cell_s`, the first of them number `first`."""
        step_s, size, means, counts = self.step_s, len(self.means), self.means, self.counts
        oldest = max(0, self.newest - size + 1)
        found: list[float | None] = []
        for n in range(first, first + cells):
            begin = math.floor(n * cell_s / step_s)
            end = max(begin + 1, math.ceil((n + 1) * cell_s / step_s))
            total, known = 0.0, 0
            for number in range(max(begin, oldest), min(end, self.newest + 1)):
                slot = number % size
                if counts[slot]:
                    total += means[slot]
                    known += 1
            found.append(total / known if known else None)
        return found

    def copy(self) -> _Ring:
        return _Ring(self.step_s, self.means[:], self.counts[:], self.newest)


def _ring(span: Span, step_s: float) -> _Ring:
    size = math.ceil(span / step_s) + 2
    return _Ring(step_s, array("f", bytes(4 * size)), array("H", bytes(2 * size)))


STEPS_S = {Span.MINUTE: 0.5, Span.MINUTES_5: 2.0, Span.MINUTES_30: 10.0}


@dataclass(slots=True)
class _Drawn:
    """The cells that were last asked for, and from when on they are no longer so."""

    last: int
    found: list[float | None]
    values: list[float | None]
    changed_s: float = math.inf


DRAWN_MAX = 4
"""Widths and spans of which a series keeps what was last asked for."""


class Series:
    """One quantity over the last 30 minutes, in about 3 kB whatever its rate."""

    __slots__ = ("_drawn", "_rings", "hold_s", "last_s")

    def __init__(self, hold_s: float) -> None:
        self.hold_s = hold_s
        self.last_s = -math.inf
        self._rings = {span: _ring(span, step_s) for span, step_s in STEPS_S.items()}
        self._drawn: dict[tuple[Span, int], _Drawn] = {}

    def add(self, time_s: float, value: float | None) -> None:
        """Take a measurement; None and what is not a finite number leave a gap."""
        if value is None or not math.isfinite(value):
            return
        self.last_s = max(self.last_s, time_s)
        for ring in self._rings.values():
            ring.add(time_s, value)
        for drawn in self._drawn.values():
            drawn.changed_s = min(drawn.changed_s, time_s)

    def values(self, span: Span, now_s: float, cells: int) -> Sequence[float | None]:
        """`cells` means, oldest first, ending now; None where nothing was measured.

        Cells are aligned to multiples of their width in time, so that a plot moves by whole cells.
        A silence of up to `hold_s` repeats the value before it: a rhythm, not a gap.
        """
        if cells <= 0:
            return []
        cell_s, ring = span / cells, self._rings[span]
        last = math.floor(now_s / cell_s)
        before = self._drawn.get((span, cells))
        if before is not None and before.last == last and before.changed_s == math.inf:
            return before.values
        kept = _kept(before, ring, last, cells, cell_s)
        first = last - cells + 1 + len(kept)
        found = kept + ring.means_between(first, cells - len(kept), cell_s)
        values = _held(found, max(1, int(self.hold_s / cell_s)))
        if before is None and len(self._drawn) >= DRAWN_MAX:
            self._drawn.clear()
        self._drawn[span, cells] = _Drawn(last, found, values)
        return values

    def copy(self) -> Series:
        """The series as it is now."""
        twin = Series(self.hold_s)
        twin.last_s = self.last_s
        twin._rings = {span: ring.copy() for span, ring in self._rings.items()}
        return twin


def _kept(
    before: _Drawn | None, ring: _Ring, last: int, cells: int, cell_s: float
) -> list[float | None]:
    """The first of the cells that end with number `last`, as far as they are what they were."""
    first = last - cells + 1
    if before is None or before.last > last or first * cell_s < ring.oldest_s:
        return []
    end = before.last + 1
    if before.changed_s < math.inf:
        bucket = int(before.changed_s / ring.step_s)
        # one cell more, for what rounding does where a bucket and a cell begin together
        end = min(end, math.floor(bucket * ring.step_s / cell_s) - 1)
    shift = last - before.last
    return before.found[shift : max(shift, shift + end - first)] if end > first else []


def _held(values: list[float | None], longest: int) -> list[float | None]:
    """Repeat a value over the next `longest` cells at most."""
    out: list[float | None] = []
    held, age = None, 0
    for value in values:
        if value is not None:
            held, age = value, 0
        else:
            age += 1
        out.append(held if age <= longest else None)
    return out


class History:
    """The series of everything that was sampled; fed with events, read by panels."""

    def __init__(self) -> None:
        self._series: dict[str, dict[Key, Series]] = {}

    def record(self, event: Event) -> None:
        """Take what `event` measured; other events leave it as it is."""
        match event:
            case HostSampled():
                self._record_host(event)
            case ServerSampled():
                self._record_server(event)
            case ServersSeen():
                self._forget_gone(event)
            case _:
                pass

    def values(self, key: Key, span: Span, now_s: float, cells: int) -> Sequence[float | None]:
        """The last `span` of a series as `cells` values; all None for one never measured."""
        series = self._series.get(key.host, {}).get(key)
        return series.values(span, now_s, cells) if series else [None] * max(0, cells)

    def copy(self) -> History:
        """The history as it is now, untouched by what is recorded later."""
        twin = History()
        twin._series = {
            host: {key: series.copy() for key, series in mine.items()}
            for host, mine in self._series.items()
        }
        return twin

    def _record_host(self, event: HostSampled) -> None:
        sample = event.sample
        for name in HOST_FIELDS:
            value = getattr(sample.host, name)
            self._add(host_key(event.host, name), event.time_s, value, HOST_HOLD_S)
        for gpu in sample.gpus:
            for name in GPU_FIELDS:
                value = None if gpu.lost else getattr(gpu, name)
                self._add(gpu_key(event.host, gpu.index, name), event.time_s, value, HOST_HOLD_S)

    def _record_server(self, event: ServerSampled) -> None:
        sample = event.sample
        tokens = 0.0 if sample.is_idle else sample.tokens_per_s
        accept = None if sample.is_idle else sample.accept_length
        for name, value in zip(SERVER_FIELDS, (tokens, accept), strict=True):
            key = server_key(event.host, event.server, name)
            self._add(key, event.time_s, value, SERVER_HOLD_S)

    def _add(self, key: Key, time_s: float, value: float | None, hold_s: float) -> None:
        mine = self._series.setdefault(key.host, {})
        series = mine.get(key)
        if series is None:
            if len(mine) >= SERIES_PER_HOST:
                del mine[min(mine, key=lambda k: mine[k].last_s)]
            series = mine[key] = Series(hold_s)
        series.add(time_s, value)

    def _forget_gone(self, event: ServersSeen) -> None:
        """Drop the series of servers that are gone and whose last value left every span."""
        mine = self._series.get(event.host, {})
        living = {f"server {server.name}" for server in event.servers}
        for key in [k for k in mine if k.subject.startswith("server ") and k.subject not in living]:
            if event.time_s - mine[key].last_s > Span.MINUTES_30:
                del mine[key]
