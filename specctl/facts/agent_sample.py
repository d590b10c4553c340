"""An item of the agent's `sample` stream as a Sample: rates from counters, reasons for gaps."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from specctl.domain.driver_trouble import CONTAINER, LOST_DEVICES, MISMATCH
from specctl.domain.missing import Missing, Why
from specctl.domain.sample import GpuSample, HostSample, Sample
from specctl.facts.counters import Counting, RawCounters
from specctl.facts.gpu_change import change_gpu_row
from specctl.facts.gpu_row import read_gpu_row, with_shared_memory
from specctl.facts.readings import (
    Fields,
    mapping,
    number,
    read_reason,
    read_reasons,
    read_text,
    rows,
    whole,
)
from specctl.facts.smi import SmiAnswer, add_processes, read_gpus

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

HOST_NUMBERS = ("cpu_percent", "load_1min", "uptime_s")
HOST_WHOLES = (
    "cpu_count",
    "memory_total_bytes",
    "memory_available_bytes",
    "swap_used_bytes",
    "shm_total_bytes",
    "shm_free_bytes",
    "disk_total_bytes",
    "disk_free_bytes",
)
MISMATCH_ERROR = 18
UNKNOWN_ERROR = 999
GPUS_MAX = 256


LOST = ("not yet read", "an item of the stream was lost")


@dataclass(frozen=True, slots=True)
class Reading:
    """One item as it was read: what the next one of its stream is read against."""

    counters: RawCounters
    seq: int | None
    """Its place in a stream of changes; None when it is not of one."""

    item: Mapping[str, Any]
    """The whole item, changes applied."""

    rows: tuple[Mapping[str, Any], ...] = ()
    """Its GPUs' rows, changes applied."""

    gpus: tuple[GpuSample, ...] = ()
    """What was read of them."""

    has_gap: bool = False
    """It changed an item that was not seen: the stream has to be asked for anew."""


def read_sample(item: Mapping[str, Any], previous: Reading | None) -> tuple[Sample, Reading]:
    """The sample, and what the next call needs; never raises, whatever the item holds.

    Two forms of an item are read: whole, and as changes (`specctl.agent.changes`).
    """
    if item.get("full") is False:
        return _read_changes(item, previous)
    now = _counting(item, previous)
    if item.get("gpu_source") == "nvidia-smi":
        smi = _read_smi(item)
        return _sample(item, smi.gpus, now, smi), Reading(now.counters(), None, item)
    found = tuple(rows(item.get("gpus"))[:GPUS_MAX])
    gpus = tuple(read_gpu_row(row, now.rate) for row in found)
    sample = _sample(item, gpus, now)
    return sample, Reading(now.counters(), whole(item.get("seq")), item, found, gpus)


def _read_changes(item: Mapping[str, Any], previous: Reading | None) -> tuple[Sample, Reading]:
    changes, others = item.get("gpus"), mapping(item.get("rows"))
    seq = whole(item.get("seq"))
    if (
        previous is None
        or (seq is None or previous.seq is None or seq != previous.seq + 1)
        or (not isinstance(changes, list) or len(changes) != len(previous.rows))
    ):
        return _after_gap(item)
    now = _counting(item, previous)
    found: list[Mapping[str, Any]] = []
    gpus: list[GpuSample] = []
    for index, change in enumerate(changes):
        if (row := others.get(str(index))) is not None:
            row, gpu = mapping(row), read_gpu_row(mapping(row), now.rate)
        else:
            row, gpu = change_gpu_row(
                previous.rows[index], previous.gpus[index], mapping(change), now.rate
            )
        found.append(row)
        gpus.append(gpu)
    host = {**mapping(previous.item.get("host")), **mapping(item.get("host"))}
    merged = {**previous.item, **item, "host": host}
    sample = _sample(merged, gpus, now)
    return sample, Reading(now.counters(), seq, merged, tuple(found), tuple(gpus))


def _after_gap(item: Mapping[str, Any]) -> tuple[Sample, Reading]:
    """Nothing is known of a host when what changed is not known."""
    nothing = {"t": item.get("t"), "host": {"missing": {"*": LOST}}, "gpu_missing": LOST}
    sample, reading = read_sample(nothing, None)
    return sample, replace(reading, has_gap=True)


def _counting(item: Mapping[str, Any], previous: Reading | None) -> Counting:
    before = previous.counters if previous else RawCounters(float("inf"))
    return Counting(number(item.get("mono")) or 0.0, before)


def _sample(
    item: Mapping[str, Any],
    gpus: Iterable[GpuSample],
    now: Counting,
    smi: SmiAnswer | None = None,
) -> Sample:
    host = _read_host(mapping(item.get("host")), now)
    source = item.get("gpu_source")
    return Sample(
        time_s=number(item.get("t")) or 0.0,
        host=host,
        gpus=tuple([with_shared_memory(gpu, host) for gpu in gpus]),
        gpu_source=source if source in ("nvml", "nvidia-smi") else None,
        gpu_missing=smi.missing if smi else _read_gpu_missing(item),
        driver=(smi.driver if smi else None) or read_text(item.get("driver")) or None,
        cost_ms=number(item.get("cost_ms")),
        driver_ms=number(item.get("driver_ms")),
        gpu_age_s=number(mapping(item.get("smi")).get("age_s")) if smi else None,
    )


def _read_host(row: Mapping[str, Any], now: Counting) -> HostSample:
    fields = Fields(row, read_reasons(row.get("missing")))
    fields.numbers(HOST_NUMBERS)
    fields.wholes(HOST_WHOLES)
    for name in ("network_rx_bytes", "network_tx_bytes"):
        value = number(row.get(name))
        found = fields.reason(name) if value is None else now.rate("", name, int(value))
        fields.put(f"{name}_per_s", found)
    return HostSample(**fields.values, missing=fields.missing)


def _read_smi(item: Mapping[str, Any]) -> SmiAnswer:
    """What nvidia-smi told, with what is wrong with it now."""
    smi = mapping(item.get("smi"))
    query = _texts(smi.get("query"))
    answer = read_gpus(query, f"{_raw(smi.get('text'))}\n{_raw(smi.get('error_text'))}")
    processes = smi.get("process_text")
    if isinstance(processes, str):
        gpus = add_processes(answer.gpus, _texts(smi.get("process_query")), processes)
        answer = replace(answer, gpus=gpus)
    if smi.get("missing") is None:
        return answer
    trouble = read_reason(smi["missing"])
    age_s = number(smi.get("age_s"))
    words = trouble.detail if age_s is None else f"{trouble.detail}; last answer {age_s:.0f} s ago"
    return replace(answer, missing=Missing(trouble.why, words))


def _texts(value: object) -> list[str]:
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []


def _raw(value: object) -> str:
    return value if isinstance(value, str) else ""


def _read_gpu_missing(item: Mapping[str, Any]) -> Missing | None:
    if item.get("gpu_missing") is None:
        return None
    missing = read_reason(item["gpu_missing"])
    smi = mapping(item.get("smi"))
    if missing.why is Why.NOT_INSTALLED and smi.get("missing") is not None:
        other = read_reason(smi["missing"])
        if other.why is Why.NOT_YET:
            return other
        return Missing(other.why, f"{missing.detail}; {other.detail or other.why}")
    return _explain(missing, mapping(item.get("gpu_error")))


def _explain(missing: Missing, error: Mapping[str, Any]) -> Missing:
    """What an operator has to know about a driver that cannot be asked."""
    code = error.get("code")
    module = read_text(error.get("kernel_module"))
    if code == MISMATCH_ERROR:
        library = read_text(error.get("library")) or "unknown"
        words = (
            f"the loaded kernel module is {module or 'unknown'}, the library is {library}: no GPU"
            f" readings; {MISMATCH}"
        )
        if error.get("library_was_replaced") is True:
            words += "; the library was replaced since specctl connected: connect again"
        return Missing(Why.ERROR, words)
    if code == UNKNOWN_ERROR and module:
        words = (
            f"NVML answers Unknown Error though the kernel module is loaded: {LOST_DEVICES};"
            f" {CONTAINER}"
        )
        return Missing(Why.ERROR, words)
    return missing
