"""The columns of the table of hosts: what each shows, and what it orders by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from specctl.domain import figures
from specctl.domain.server import ServerState
from specctl.tui.render import numbers
from specctl.tui.render.glyphs import ORDER
from specctl.tui.render.lines import UNKNOWN, Line, middle
from specctl.tui.render.plots import spark
from specctl.tui.render.standing import (
    Standing,
    gpu_words,
    host_standing,
    memory_share,
    worst,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from specctl.domain.sample import GpuSample, ServerSample
    from specctl.domain.server import Server
    from specctl.domain.state import HostState
    from specctl.tui.scene import Scene

IDLE_PERCENT = 5
UTIL_CELLS = 8
SHORTEST_REST = 3


@dataclass(frozen=True, slots=True)
class HostRow:
    """What a row of the table is drawn from."""

    name: str
    host: HostState
    standing: Standing
    server: Server | None
    sample: ServerSample | None
    even: float | None
    warnings: int
    errors: int
    age_s: float | None

    @property
    def is_stale(self) -> bool:
        """Its values are old."""
        return self.standing.state == "stale" and self.host.sample is not None


@dataclass(frozen=True, slots=True)
class Column:
    """One column: how wide, and how early it goes when there is no room."""

    head: str
    cells: int
    wide_cells: int
    align: str
    goes: int
    """0 stays; the highest number goes first."""

    draw: Callable[[HostRow, int], Line]
    letter: str
    """Chooses it as the order."""

    key: Callable[[HostRow], float | str | None]
    """What rows are ordered by; None is not known, and last either way."""

    falls: bool = False
    """The highest first, unless it is turned round."""


def _host(r: HostRow, cells: int) -> Line:
    glyph, token = r.standing.glyph
    return [(glyph + " ", token), (middle(r.name, cells - 2), "title")]


def _gpus(r: HostRow, cells: int) -> Line:
    words = gpu_words(r.host.sample)
    return [(middle(words, cells), "dim")] if words else [UNKNOWN]


def mini(gpus: Sequence[GpuSample], *, stale: bool = False) -> Line:
    """One cell a GPU, its height the utilisation; above eight, two GPUs to a cell."""
    if not gpus:
        return [UNKNOWN]
    size = 1 if len(gpus) <= UTIL_CELLS else -(-len(gpus) // UTIL_CELLS)
    groups = [gpus[i : i + size] for i in range(0, len(gpus), size)]
    return [_mini_cell(group, stale=stale) for group in groups]


def _mini_cell(group: Sequence[GpuSample], *, stale: bool) -> tuple[str, str]:
    if any(gpu.lost for gpu in group):
        return ("✗", "bad")
    levels = [v for gpu in group if (v := figures.known(gpu.utilization_percent)) is not None]
    if not levels:
        return UNKNOWN
    highest = max(levels)
    busy = "stale" if stale else "data"
    return (spark(highest, 0, 100), "track" if highest < IDLE_PERCENT else busy)


def _util(r: HostRow, cells: int) -> Line:
    sample = r.host.sample
    if sample is None:
        return [UNKNOWN]
    if not sample.gpus and (cpu := figures.known(sample.host.cpu_percent)) is not None:
        return [(f"CPU {cpu:.0f}%"[:cells], "stale" if r.is_stale else "dim")]
    return mini(sample.gpus, stale=r.is_stale)


def _mem(r: HostRow, cells: int) -> Line:
    del cells
    used = memory_share(r.host.sample.gpus) if r.host.sample else None
    return _value(r, figures.percent(used))


def _value(r: HostRow, text: str, tone: str = "text") -> Line:
    if text == UNKNOWN[0]:
        return [UNKNOWN]
    return [(text, "stale" if r.is_stale else tone)]


def _server(r: HostRow, cells: int) -> Line:
    out: Line = [(r.standing.word, r.standing.token)]
    if r.host.simulated:
        return [*out, (" ", ""), ("SIMULATED", "badge")]
    room = cells - len(r.standing.word) - 1
    return (
        [*out, (" " + _short(r.standing.rest, room), "dim")]
        if r.standing.rest and room > SHORTEST_REST
        else out
    )


def _short(text: str, cells: int) -> str:
    """The first words that fit; a cause is told in full elsewhere."""
    if len(text) <= cells:
        return text
    cut = text[:cells].rsplit(" ", 1)[0]
    return cut if len(cut) > cells // 2 else text[: cells - 1] + "…"


def _profile(r: HostRow, cells: int) -> Line:
    name = r.server.profile if r.server else None
    return [(middle(name, cells), "dim")] if name else [UNKNOWN]


def _rate(r: HostRow, cells: int) -> Line:
    del cells
    if r.sample is not None and r.sample.is_idle:
        return [("▁", "track")]
    return _value(r, figures.rate(r.sample.tokens_per_s if r.sample else None), "strong")


def _accept(r: HostRow, cells: int) -> Line:
    del cells
    running = r.server is not None and r.server.state in {ServerState.READY, ServerState.BUSY}
    if running and r.server is not None and r.server.algorithm is None:
        return [("off", "dim")]
    if r.sample is None or r.sample.is_idle:
        return [UNKNOWN]
    line = numbers.accept(r.sample.accept_length, r.even)
    return [(text, "stale") for text, _ in line] if r.is_stale and line[0] != UNKNOWN else line


def _alerts(r: HostRow, cells: int) -> Line:
    del cells
    if r.errors:
        return [(f"✗{r.errors}", "bad")]
    return [(f"▲{r.warnings}", "warn")] if r.warnings else []


def _age(r: HostRow, cells: int) -> Line:
    del cells
    if r.age_s is None:
        return [UNKNOWN]
    return [(figures.age(r.age_s), "warn" if r.is_stale else "faint")]


def _power(r: HostRow, cells: int) -> Line:
    del cells
    gpus = r.host.sample.gpus if r.host.sample else ()
    if not gpus or any(gpu.power_w is None for gpu in gpus if not gpu.lost):
        return [UNKNOWN]
    text, unit = figures.watts(sum(gpu.power_w or 0 for gpu in gpus))
    return _value(r, f"{text}{unit}")


def _ttft(r: HostRow, cells: int) -> Line:
    del cells
    line = numbers.milliseconds(r.sample.ttft_p50_s if r.sample else None)
    return _value(r, "".join(text for text, _ in line))


def _queue(r: HostRow, cells: int) -> Line:
    del cells
    return _value(r, figures.fixed(r.sample.queued_requests if r.sample else None))


def _model(r: HostRow, cells: int) -> Line:
    model = r.server.model if r.server else None
    return [(middle(model, cells), "dim")] if model else [UNKNOWN]


def _labels(r: HostRow, cells: int) -> Line:
    words = " ".join(f"{k}={v}" for k, v in sorted(r.host.labels.items()) if k != "group")
    return [(middle(words, cells), "faint")]


def host_row(scene: Scene, name: str) -> HostRow:
    """Everything the row of `name` shows."""
    host = scene.state.host(name)
    server = worst(host)
    alerts = scene.counted_alerts(name)
    sample = host.server_samples.get(server.name) if server else None
    even = scene.details(name, server).reference.even if server else None
    errors = sum(alert.is_error for alert in alerts)
    return HostRow(
        name, host, host_standing(scene, name), server, sample, even,
        len(alerts) - errors, errors, scene.age_s(name),
    )  # fmt: skip


# ---------------------------------------------------------------- what they order by


def _by_util(r: HostRow) -> float | None:
    """The mean over its GPUs; of a host without one, its processor."""
    sample = r.host.sample
    if sample is None:
        return None
    if not sample.gpus:
        return figures.known(sample.host.cpu_percent)
    known = [v for gpu in sample.gpus if (v := figures.known(gpu.utilization_percent)) is not None]
    return sum(known) / len(known) if known else None


def _by_power(r: HostRow) -> float | None:
    gpus = r.host.sample.gpus if r.host.sample else ()
    known = [v for gpu in gpus if (v := figures.known(gpu.power_w)) is not None]
    return sum(known) if known else None


def _by_state(r: HostRow) -> float:
    """The worst first."""
    return float(ORDER.index(r.standing.state))


def _by_rate(r: HostRow) -> float | None:
    if r.sample is None:
        return None
    return 0.0 if r.sample.is_idle else figures.known(r.sample.tokens_per_s)


def _by_accept(r: HostRow) -> float | None:
    if r.sample is None or r.sample.is_idle:
        return None
    return figures.known(r.sample.accept_length)


def _by_queue(r: HostRow) -> float | None:
    queued = r.sample.queued_requests if r.sample else None
    return None if queued is None else float(queued)


def _by_memory(r: HostRow) -> float | None:
    return memory_share(r.host.sample.gpus) if r.host.sample else None


def _by_labels(r: HostRow) -> str | None:
    return " ".join(f"{k}={v}" for k, v in sorted(r.host.labels.items())) or None


COLUMNS = (
    Column("  HOST", 11, 20, "<", 0, _host, "h", lambda r: r.name),
    Column("GPUS", 14, 18, "<", 1, _gpus, "g", lambda r: gpu_words(r.host.sample) or None),
    Column("UTIL", 8, 8, "<", 0, _util, "u", _by_util, falls=True),
    Column("MEM", 4, 4, ">", 3, _mem, "m", _by_memory, falls=True),
    Column("POWER", 6, 6, ">", 5, _power, "w", _by_power, falls=True),
    Column("SERVER", 21, 24, "<", 0, _server, "s", _by_state),
    Column(
        "PROFILE", 18, 28, "<", 2, _profile, "p", lambda r: r.server.profile if r.server else None
    ),
    Column("MODEL", 24, 24, "<", 8, _model, "d", lambda r: r.server.model if r.server else None),
    Column("TOK/S", 6, 6, ">", 0, _rate, "t", _by_rate, falls=True),
    Column("ACCEPT EVEN", 11, 11, "<", 0, _accept, "a", _by_accept, falls=True),
    Column(
        "TTFT",
        7,
        7,
        ">",
        6,
        _ttft,
        "f",
        lambda r: r.sample.ttft_p50_s if r.sample else None,
        falls=True,
    ),
    Column("QUEUE", 5, 5, ">", 7, _queue, "q", _by_queue, falls=True),
    Column("LABELS", 16, 16, "<", 9, _labels, "l", _by_labels),
    Column("!", 2, 2, "<", 0, _alerts, "!", lambda r: 100.0 * r.errors + r.warnings, falls=True),
    Column("AGE", 3, 3, ">", 4, _age, "e", lambda r: r.age_s, falls=True),
)
WIDE_CELLS = 150


def name_of(column: Column) -> str:
    """How it is typed: `host`, `tok/s`, `alerts`."""
    head = column.head.strip().lower()
    return {"accept even": "accept", "!": "alerts"}.get(head, head)


BY_NAME = {name_of(column): column for column in COLUMNS}


def columns(cells: int) -> list[tuple[Column, int]]:
    """The columns that fit, each with its width."""
    wide = cells >= WIDE_CELLS
    chosen = [(c, c.wide_cells if wide else c.cells) for c in COLUMNS]
    while sum(size for _, size in chosen) + 2 * (len(chosen) - 1) > cells:
        latest = max(chosen, key=lambda item: item[0].goes)
        if latest[0].goes == 0:
            break
        chosen.remove(latest)
    return chosen


def column_at(cell: int, cells: int) -> Column | None:
    """The column whose head stands at a cell of the row."""
    left = 0
    for column, size in columns(cells):
        if left <= cell < left + size:
            return column
        left += size + 2
    return None
