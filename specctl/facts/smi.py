"""nvidia-smi's CSV answers (`--query-gpu`, `--query-compute-apps`) as GPU samples."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from specctl.domain.missing import Missing, Why
from specctl.domain.sample import GpuProcess, GpuSample
from specctl.domain.text import clean
from specctl.facts.smi_trouble import NO_DEVICES, read_trouble
from specctl.facts.smi_values import read_number, read_switch, read_word
from specctl.facts.throttle import read_throttle

MIB = 1 << 20
BITS_64 = 1 << 64


@dataclass(frozen=True, slots=True)
class SmiAnswer:
    """What one run of nvidia-smi told."""

    gpus: tuple[GpuSample, ...]
    missing: Missing | None
    """Why there are no GPUs, or why one more does not answer; None when nothing is wrong."""

    driver: str | None = None
    notes: tuple[str, ...] = ()
    """Lines that are no rows: warnings, or sentences not known here."""


Reader = Callable[[str], Any]


def _bytes(cell: str) -> int | Missing:
    value = read_number(cell)
    return value if isinstance(value, Missing) else int(value * MIB)


def _whole(cell: str) -> int | Missing:
    value = read_number(cell)
    return value if isinstance(value, Missing) else int(value)


def _state(cell: str) -> int | Missing:
    word = read_word(cell)
    return word if isinstance(word, Missing) else _whole(word.removeprefix("P"))


def _mask(cell: str) -> tuple[str, ...] | Missing:
    word = read_word(cell)
    if isinstance(word, Missing):
        return word
    try:
        mask = int(word, 16)
    except ValueError:
        return Missing(Why.MALFORMED, "not a mask")
    return read_throttle(mask % BITS_64)


COLUMNS: Mapping[str, tuple[str, Reader]] = {
    "memory.total": ("memory_total_bytes", _bytes),
    "memory.used": ("memory_used_bytes", _bytes),
    "memory.reserved": ("memory_reserved_bytes", _bytes),
    "utilization.gpu": ("utilization_percent", read_number),
    "utilization.memory": ("memory_utilization_percent", read_number),
    "temperature.gpu": ("temperature_c", read_number),
    "temperature.memory": ("memory_temperature_c", read_number),
    "power.draw": ("power_w", read_number),
    "power.limit": ("power_limit_w", read_number),
    "enforced.power.limit": ("power_limit_w", read_number),
    "clocks.sm": ("sm_clock_mhz", read_number),
    "clocks.max.sm": ("sm_clock_max_mhz", read_number),
    "clocks.mem": ("memory_clock_mhz", read_number),
    "pstate": ("performance_state", _state),
    "persistence_mode": ("persistence", read_switch),
    "mig.mode.current": ("mig", read_switch),
    "ecc.errors.uncorrected.volatile.total": ("ecc_uncorrected", _whole),
    "ecc.errors.corrected.volatile.total": ("ecc_corrected", _whole),
    "pcie.link.gen.current": ("pcie_generation", _whole),
    "pcie.link.gen.max": ("pcie_generation_max", _whole),
    "pcie.link.width.current": ("pcie_width", _whole),
    "pcie.link.width.max": ("pcie_width_max", _whole),
    "clocks_event_reasons.active": ("throttle", _mask),
    "clocks_throttle_reasons.active": ("throttle", _mask),
}
"""Query name to the field it fills and how its cell is read."""

ALIASES = {"gpu_name": "name", "gpu_uuid": "uuid", "clocks.current.sm": "clocks.sm"}
UNASKED = Missing(Why.NOT_SUPPORTED, "nvidia-smi does not tell")
FIELDS = tuple(
    dict.fromkeys(
        [
            *(name for name, _ in COLUMNS.values()),
            "energy_j",
            "pcie_rx_bytes_per_s",
            "pcie_tx_bytes_per_s",
            "nvlink_rx_bytes_per_s",
            "nvlink_tx_bytes_per_s",
        ]
    )
)


def read_gpus(query: Sequence[str], text: str) -> SmiAnswer:
    """The rows of a `--query-gpu` answer, with or without header and units."""
    names = [ALIASES.get(name, name) for name in query]
    gpus: list[GpuSample] = []
    notes: list[str] = []
    driver = None
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split(",")]
        if len(cells) != len(names) or _is_header(cells, query):
            notes.append(clean(line))
            continue
        row = dict(zip(names, cells, strict=True))
        gpus.append(_read_row(row, len(gpus)))
        driver = driver or _driver(row)
    return SmiAnswer(
        gpus=tuple(gpus),
        missing=read_trouble(text) or _nothing(gpus, text),
        driver=driver,
        notes=tuple(note for note in notes if note.strip()),
    )


def _is_header(cells: Sequence[str], query: Sequence[str]) -> bool:
    return [cell.partition(" [")[0] for cell in cells] == list(query)


def _nothing(gpus: Sequence[GpuSample], text: str) -> Missing | None:
    if gpus or NO_DEVICES in text:
        return None
    return Missing(Why.MALFORMED, "nvidia-smi answered without a row")


def _driver(row: Mapping[str, str]) -> str | None:
    word = read_word(row.get("driver_version", ""))
    return None if isinstance(word, Missing) else word


def _read_row(row: Mapping[str, str], position: int) -> GpuSample:
    index = read_number(row.get("index", ""))
    values: dict[str, Any] = {}
    missing = dict.fromkeys(FIELDS, UNASKED)
    missing["processes"] = UNASKED
    for name, cell in row.items():
        if name in COLUMNS:
            field, read = COLUMNS[name]
            value = read(cell)
            if isinstance(value, Missing):
                missing[field] = value
            else:
                values[field] = value
                missing.pop(field, None)
    return GpuSample(
        index=position if isinstance(index, Missing) else int(index),
        uuid=_word(row.get("uuid", "")),
        name=_word(row.get("name", "")),
        memory_scheme=_scheme(values),
        lost=any(reason.why is Why.LOST for reason in missing.values()),
        missing=missing,
        **values,
    )


def _scheme(values: Mapping[str, Any]) -> str | None:
    """From R515 on nvidia-smi tells `memory.reserved` and leaves it out of `memory.used`."""
    if "memory_total_bytes" not in values:
        return None
    return "v2" if "memory_reserved_bytes" in values else "v1"


def _word(cell: str) -> str:
    word = read_word(cell)
    return "" if isinstance(word, Missing) else word


def add_processes(
    gpus: Sequence[GpuSample], query: Sequence[str], text: str
) -> tuple[GpuSample, ...]:
    """`gpus` with the rows of a `--query-compute-apps` answer, matched by UUID.

    A row without a pid means that processes are there and cannot be told.
    """
    names = [ALIASES.get(name, name) for name in query]
    rows: dict[str, list[GpuProcess]] = {}
    hidden: set[str] = set()
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split(",")]
        if len(cells) != len(names) or _is_header(cells, query):
            continue
        row = dict(zip(names, cells, strict=True))
        process = _read_process(row)
        if process is None:
            hidden.add(row.get("uuid", ""))
        else:
            rows.setdefault(row.get("uuid", ""), []).append(process)
    return tuple(_with_processes(gpu, rows.get(gpu.uuid, []), gpu.uuid in hidden) for gpu in gpus)


def _read_process(row: Mapping[str, str]) -> GpuProcess | None:
    pid = read_number(row.get("pid", ""))
    if isinstance(pid, Missing):
        return None
    memory = read_number(row.get("used_memory", row.get("used_gpu_memory", "")))
    return GpuProcess(
        pid=int(pid),
        memory_bytes=None if isinstance(memory, Missing) else int(memory * MIB),
        kind="compute",
        name=_word(row.get("process_name", "")) or None,
    )


def _with_processes(gpu: GpuSample, rows: list[GpuProcess], is_hidden: bool) -> GpuSample:  # noqa: FBT001
    missing = dict(gpu.missing)
    if is_hidden:
        missing["processes"] = Missing(Why.NOT_SUPPORTED, "processes are there but not told")
        return replace(gpu, processes=None, missing=missing)
    missing.pop("processes", None)
    return replace(gpu, processes=tuple(rows), missing=missing)
