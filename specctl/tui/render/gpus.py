"""The table of one host's GPUs; for a host without any, its processor and memory."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from specctl.domain import figures
from specctl.domain.history import gpu_key, host_key
from specctl.tui.render import numbers
from specctl.tui.render.gpu_note import gpu_note
from specctl.tui.render.headline import headline
from specctl.tui.render.lines import UNKNOWN, Cell, Drawing, Line, aged, few, picked, row, width
from specctl.tui.render.plots import bar, trace
from specctl.tui.render.standing import gpu_reason, is_unread, short_name

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from specctl.domain.sample import GpuSample, HostSample, Sample
    from specctl.tui.scene import Scene

BARELY_NARROW, WIDE, ROOMY = 72, 100, 170
SHORTEST_TRACE, NAMED_TRACE = 5, 14
HEAT_WORDS = ("heat", "hw slow", "brake")


@dataclass(frozen=True, slots=True)
class Column:
    """One column of the GPU table."""

    head: str
    cells: int
    align: str
    draw: Callable[[GpuSample], Line]


def is_slowed(gpu: GpuSample) -> bool:
    """It runs slower than it could, for another reason than idling or its power cap."""
    return any(reason.startswith(HEAT_WORDS) for reason in gpu.throttle or ())


def _barred(share: float | None, text: str, cells: int, tone: str) -> Line:
    room = cells - 6
    if text == UNKNOWN[0]:
        return [(" " * (cells - 1), ""), UNKNOWN]
    return [*bar(share, room, tone), (f"{text:>6}", "text")]


def _plain(text: str) -> Line:
    return [numbers.number(text)]


def _hot(gpu: GpuSample, text: str) -> Line:
    if text == UNKNOWN[0]:
        return [UNKNOWN]
    return [(text, "warnb" if is_slowed(gpu) else "text")]


def _reason(gpu: GpuSample) -> Line:
    if gpu.lost:
        return [("✗ ", "bad"), ("lost", "badb")]
    if gpu.throttle is None:
        return [UNKNOWN]
    if not gpu.throttle:
        return []
    if is_slowed(gpu):
        return [("▲ ", "warn"), (gpu.throttle[0], "warn")]
    return [("  ", ""), (gpu.throttle[0], "dim")]


def _link(gpu: GpuSample) -> Line:
    if gpu.pcie_generation is None or gpu.pcie_width is None:
        return [UNKNOWN]
    slow = gpu.pcie_width_max is not None and gpu.pcie_width < gpu.pcie_width_max
    return [(f"{gpu.pcie_generation}.0x{gpu.pcie_width}", "warnb" if slow else "text")]


def _rx(gpu: GpuSample) -> float | None:
    return _added(gpu.pcie_rx_bytes_per_s, gpu.nvlink_rx_bytes_per_s)


def _tx(gpu: GpuSample) -> float | None:
    return _added(gpu.pcie_tx_bytes_per_s, gpu.nvlink_tx_bytes_per_s)


def _added(pcie: float | None, nvlink: float | None) -> float | None:
    """Traffic over both links; None only when neither is known."""
    values = [v for v in (figures.known(pcie), figures.known(nvlink)) if v is not None]
    return sum(values) if values else None


def _gigabytes(value: float | None) -> Line:
    scaled = figures.scaled(value, figures.GB)
    if scaled is None:
        return [UNKNOWN]
    return _plain(f"{scaled:.0f}" if scaled >= figures.THREE_DIGITS else f"{scaled:.1f}")


def _ghz(mhz: float | None) -> str:
    return figures.fixed(figures.scaled(mhz, 1000), 2)


def _one(values: Sequence[float | None]) -> float | None:
    """The value that all have, None when they differ or it is not known."""
    found = set(values)
    return found.pop() if len(found) == 1 else None


def _of(values: Sequence[float | None], unit: float, digits: int) -> str:
    """` of 95.6`, when every GPU has the same full scale."""
    value = figures.scaled(_one(values), unit)
    return "" if value is None else f" of {value:.{digits}f}"


def columns(gpus: Sequence[GpuSample], cells: int) -> list[Column]:
    """The columns that fit in `cells`, without the trace that takes the rest."""
    if cells >= WIDE:
        return _wide_columns(gpus, roomy=cells >= ROOMY)
    util = 15 if cells >= BARELY_NARROW else 12
    return [
        Column("UTIL %", util, "<", lambda g: _util(g, util)),
        Column("MEM", 4, ">", lambda g: _plain(figures.percent(_memory(g)))),
        Column("W", 4, ">", lambda g: _plain(figures.fixed(g.power_w))),
        Column("°C", 3, ">", lambda g: _hot(g, figures.fixed(g.temperature_c))),
        Column("GHz", 4, ">", lambda g: _hot(g, _ghz(g.sm_clock_mhz))),
        Column("RX", 4, ">", lambda g: _gigabytes(_rx(g))),
        Column("TX GB/s", 7, ">", lambda g: _gigabytes(_tx(g))),
        Column("SLOWED BY", 11, "<", _reason),
    ]


def _wide_columns(gpus: Sequence[GpuSample], *, roomy: bool) -> list[Column]:
    b = 18 if roomy else 15
    memory = "MEM GiB" + _of([g.memory_total_bytes for g in gpus], figures.GIB, 1)
    power = "POWER W" + _of([g.power_limit_w for g in gpus], 1, 0)
    out = [
        Column("UTIL %", b, "<", lambda g: _util(g, b)),
        Column(memory, max(b, len(memory)), "<", lambda g: _memory_bar(g, max(b, len(memory)))),
        Column(power, max(b, len(power)), "<", lambda g: _power_bar(g, max(b, len(power)))),
        Column("°C", 3, ">", lambda g: _hot(g, figures.fixed(g.temperature_c))),
        Column("SM GHz", 6, ">", lambda g: _hot(g, _ghz(g.sm_clock_mhz))),
        Column("RX GB/s", 7, ">", lambda g: _gigabytes(_rx(g))),
        Column("TX GB/s", 7, ">", lambda g: _gigabytes(_tx(g))),
    ]
    if roomy and any(g.nvlink_rx_bytes_per_s is not None for g in gpus):
        out += [
            Column("NVL RX", 6, ">", lambda g: _gigabytes(g.nvlink_rx_bytes_per_s)),
            Column("NVL TX", 6, ">", lambda g: _gigabytes(g.nvlink_tx_bytes_per_s)),
        ]
    if roomy:
        out += [
            Column("MEM °C", 6, ">", lambda g: _plain(figures.fixed(g.memory_temperature_c))),
            Column("MEM GHz", 7, ">", lambda g: _plain(_ghz(g.memory_clock_mhz))),
            Column("LINK", 6, "<", _link),
            Column("ECC", 4, ">", _ecc),
        ]
    return [*out, Column("SLOWED BY", 12, "<", _reason)]


def _ecc(gpu: GpuSample) -> Line:
    if gpu.ecc_uncorrected is None:
        return [UNKNOWN]
    return [(str(gpu.ecc_uncorrected), "badb" if gpu.ecc_uncorrected else "text")]


def _util(gpu: GpuSample, cells: int) -> Line:
    value = figures.known(gpu.utilization_percent)
    return _barred(figures.share(value, 100), figures.fixed(value), cells, "data")


def _memory(gpu: GpuSample) -> float | None:
    return figures.share(gpu.memory_used_bytes, gpu.memory_total_bytes)


def _memory_bar(gpu: GpuSample, cells: int) -> Line:
    return _barred(_memory(gpu), figures.gib(gpu.memory_used_bytes), cells, "data2")


def _power_bar(gpu: GpuSample, cells: int) -> Line:
    share = figures.share(gpu.power_w, gpu.power_limit_w)
    return _barred(share, figures.fixed(gpu.power_w), cells, "data2")


def draw_gpus(
    scene: Scene, host: str, cells: int, rows: int, *, top: int = 0, at: int | None = None
) -> Drawing:
    """The GPUs of a host, one line each; the bottom edge tells of the one `at` the cursor."""
    state = scene.state.host(host)
    sample = state.sample
    stale = scene.is_stale(host)
    if sample is None:
        return Drawing("GPUs", [part for part in headline(scene, host) if part])
    summary = _summary(sample, scene.age_s(host) if stale else None)
    if not sample.gpus:
        body = [*_why_none(sample), *host_lines(sample.host, scene, host, cells)]
        return Drawing("Host", body, summary, is_stale=stale)
    table = columns(sample.gpus, cells)
    index = len(str(sample.gpus[-1].index))
    used = sum(c.cells for c in table) + 2 * len(table) + index
    rest = cells - used - 2
    head: list[Cell] = [([], index), *[([(c.head, "faint")], c.cells, c.align) for c in table]]
    if rest >= SHORTEST_TRACE:
        words = (
            f"{scene.span.minutes} min"
            if rest < NAMED_TRACE
            else f"SM GHz, {scene.span.minutes} min"
        )
        head.append(([(words, "faint")], rest))
    body = [row(*head)]
    shown = sample.gpus[top : top + max(1, rows - 1)]
    body += [_gpu_line(scene, host, gpu, table, (index, rest)) for gpu in shown]
    note: Line = []
    if len(shown) < len(sample.gpus):
        note = [(f"{top + 1}-{top + len(shown)} of {len(sample.gpus)}", "dim")]
    cursor = None if at is None else at - top + 1
    if cursor is not None and at is not None and 0 < cursor < len(body):
        body[cursor] = picked(body[cursor], cells)
        told = gpu_note(sample.gpus[at], max(10, cells - width(note) - 4))
        note = [*told, *([("  ", "")] if told and note else []), *note]
    return Drawing("GPUs", body, summary, note, cursor, is_stale=stale)


def _gpu_line(
    scene: Scene, host: str, gpu: GpuSample, table: list[Column], sizes: tuple[int, int]
) -> Line:
    index, rest = sizes
    cells: list[Cell] = [([(str(gpu.index), "dim")], index, ">")]
    cells += [
        ([UNKNOWN] if gpu.lost and c.head != "SLOWED BY" else c.draw(gpu), c.cells, c.align)
        for c in table
    ]
    if rest >= SHORTEST_TRACE:
        key = gpu_key(host, gpu.index, "sm_clock_mhz")
        values = scene.history.values(key, scene.span, scene.now_s, rest * 2)
        top = (gpu.sm_clock_max_mhz or 2500) * 1.02
        tone = "warn" if is_slowed(gpu) else "data2"
        cells.append(([(trace(values, top * 0.6, top), tone)], rest))
    return row(*cells)


def _summary(sample: Sample, age_s: float | None) -> Line:
    out: Line = []
    names = Counter(short_name(gpu.name) for gpu in sample.gpus)
    out += [(" + ".join(f"{n} × {name}" for name, n in names.items()), "dim")] if names else []
    if age_s is not None:
        return [*out, ("  ", ""), (f"{figures.spoken(age_s)} old", "warn")]
    watts = [gpu.power_w for gpu in sample.gpus if not gpu.lost]
    if watts and all(figures.known(w) is not None for w in watts):
        text, unit = figures.watts(sum(w or 0 for w in watts))
        out += [("  ", ""), (text, "strong"), (" " + unit, "dim")]
    if sample.gpus and all(
        g.memory_used_bytes is not None and g.memory_total_bytes for g in sample.gpus
    ):
        used = sum(g.memory_used_bytes or 0 for g in sample.gpus)
        total = sum(g.memory_total_bytes or 0 for g in sample.gpus)
        out += [("  ", ""), (figures.gib(used), "strong"), (f" of {figures.gib(total)} GiB", "dim")]
    if sample.gpu_source == "nvidia-smi":
        out += [("  ", ""), ("by nvidia-smi", "warn")]
    return out


def _why_none(sample: Sample) -> list[Line]:
    if is_unread(sample):
        return [[("◐ ", "data"), ("Reading the GPUs", "text")], []]
    reason = gpu_reason(sample)
    if reason:
        return [[("▲ ", "warn"), ("No GPU readings: ", "text"), (reason, "text")], []]
    return [[("No GPU on this host.", "dim")], []]


def host_lines(sample: HostSample, scene: Scene, host: str, cells: int) -> list[Line]:
    """Processor, memory and disk, for hosts without GPUs."""
    room = min(40, max(8, cells - 44))
    cpu = figures.known(sample.cpu_percent)
    memory = None
    if sample.memory_total_bytes is not None and sample.memory_available_bytes is not None:
        memory = sample.memory_total_bytes - sample.memory_available_bytes
    rest = cells - 20 - room
    cores = f"of {sample.cpu_count} cores" if sample.cpu_count else ""
    values = scene.history.values(
        host_key(host, "cpu_percent"), scene.span, scene.now_s, max(0, rest - 24) * 2
    )
    out = [
        row(
            ([("CPU", "dim")], 7),
            (bar(figures.share(cpu, 100), room), room),
            ([numbers.number(figures.fixed(cpu, 0, "%"))], 6, ">"),
            ([(cores, "dim"), ("  ", ""), (trace(values, 0, 100), "data2")], max(0, rest)),
        ),
        _amount("memory", memory, sample.memory_total_bytes, room, rest),
        _amount(
            "disk",
            _used(sample.disk_total_bytes, sample.disk_free_bytes),
            sample.disk_total_bytes,
            room,
            rest,
        ),
        _amount(
            "shm",
            _used(sample.shm_total_bytes, sample.shm_free_bytes),
            sample.shm_total_bytes,
            room,
            rest,
        ),
    ]
    traffic = few(
        [
            [("load ", "dim"), numbers.number(figures.fixed(sample.load_1min, 1))],
            [
                ("net in ", "dim"),
                numbers.number(_mb(sample.network_rx_bytes_per_s)),
                (" MB/s", "dim"),
            ],
            [("out ", "dim"), numbers.number(_mb(sample.network_tx_bytes_per_s)), (" MB/s", "dim")],
            [("up ", "dim"), numbers.number(figures.spoken(sample.uptime_s))],
        ],
        cells,
    )
    return [*out, traffic]


def _used(total: float | None, free: float | None) -> float | None:
    return None if total is None or free is None else total - free


def _mb(value: float | None) -> str:
    return figures.fixed(figures.scaled(value, 1e6), 1)


def _amount(name: str, used: float | None, total: float | None, room: int, rest: int) -> Line:
    share = figures.share(used, total)
    words: Line = []
    if used is not None and total:
        words = [(f"{figures.gib(used)}", "text"), (f" of {figures.gib(total)} GiB", "dim")]
    return row(
        ([(name, "dim")], 7), (bar(share, room, "data2"), room),
        ([numbers.number(figures.percent(share))], 6, ">"), (words, max(0, rest)),
    )  # fmt: skip


def gpu_brief(gpus: Sequence[GpuSample], cells: int, *, stale: bool = False) -> list[Line]:
    """The short table of the fleet's preview."""
    b = cells - 21
    head = row(
        ([("", "")], 1),
        ([("UTIL %", "faint")], b),
        ([("MEM", "faint")], 4, ">"),
        ([("W", "faint")], 4, ">"),
        ([("°C", "faint")], 4, ">"),
    )
    out = [head, *(_brief_line(gpu, b) for gpu in gpus)]
    return [aged(line) for line in out] if stale else out


def _brief_line(gpu: GpuSample, b: int) -> Line:
    index: Line = [(str(gpu.index), "dim")]
    if gpu.lost:
        return row((index, 1), ([("✗ ", "bad"), ("lost", "badb")], b))
    temperature = _hot(gpu, figures.fixed(gpu.temperature_c))
    return row(
        (index, 1),
        (_util(gpu, b), b),
        (_plain(figures.percent(_memory(gpu))), 4, ">"),
        (_plain(figures.fixed(gpu.power_w)), 4, ">"),
        ([("▲ ", "warn"), *temperature] if is_slowed(gpu) else temperature, 4, ">"),
    )
