"""A GPU's row of which some values changed: only those are read again.

The result is what reading the whole changed row gives; where the short way is not sure of that,
the whole row is read.
"""

from __future__ import annotations

from dataclasses import fields
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from specctl.domain.missing import Missing
from specctl.domain.sample import GpuSample
from specctl.facts.counters import link_bytes_per_s
from specctl.facts.gpu_row import (
    NUMBERS,
    NVLINK,
    PCIE,
    WHOLES,
    RateOf,
    read_gpu_row,
    throttle_of,
)
from specctl.facts.readings import mapping, number, whole

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

READERS: Mapping[str, tuple[str, Callable[[object], object]]] = {
    **{name: (name, number) for name in NUMBERS},
    **{name: (name, whole) for name in (*WHOLES, "memory_reserved_bytes")},
    "throttle_mask": ("throttle", throttle_of),
}
"""The values read by themselves: the field each gives, and how it is read."""

COUNTERS = tuple((name, f"{name}_per_s", name in PCIE) for name in NVLINK + PCIE)
COUNTED = frozenset(NVLINK + PCIE)
LINK = frozenset({"pcie_generation_max", "pcie_width_max"})
"""What decides how much a counter may move."""

PLACES = {field.name: place for place, field in enumerate(fields(GpuSample))}
read_fields = attrgetter(*PLACES)


def change_gpu_row(
    row: Mapping[str, Any], gpu: GpuSample, changed: Mapping[str, Any], rate_of: RateOf
) -> tuple[Mapping[str, Any], GpuSample]:
    """The row with its changed values, and what it says; the same GpuSample when nothing new."""
    values = mapping(row.get("v"))
    if changed:
        values = {**values, **changed}
        row = {**row, "v": values}
    found: dict[str, Any] = {}
    is_sure = _read_changed(gpu, changed, found) and _read_rates(values, gpu, rate_of, found)
    if not is_sure:
        return row, read_gpu_row(row, rate_of)
    return row, _with(gpu, found) if found else gpu


def _with(gpu: GpuSample, found: Mapping[str, Any]) -> GpuSample:
    """`dataclasses.replace`, in half the time: it is called for every GPU of every sample."""
    values = list(read_fields(gpu))
    for name, value in found.items():
        values[PLACES[name]] = value
    return GpuSample(*values)


def _read_changed(gpu: GpuSample, changed: Mapping[str, Any], found: dict[str, Any]) -> bool:
    missing = gpu.missing
    for name, value in changed.items():
        if name in COUNTED:
            continue
        field, read = READERS.get(name, ("", None))
        if read is None or field in missing or name in LINK or (new := read(value)) is None:
            return False
        found[field] = new
    return True


def _read_rates(
    values: Mapping[str, Any], gpu: GpuSample, rate_of: RateOf, found: dict[str, Any]
) -> bool:
    """A rate is new even when its counter is not."""
    owner, missing = gpu.uuid or str(gpu.index), gpu.missing
    is_32_bit = values.get("pcie_is_32_bit") is True
    most = link_bytes_per_s(gpu.pcie_generation_max, gpu.pcie_width_max)
    for name, field, is_pcie in COUNTERS:
        value = whole(values.get(name))
        if value is None:
            if name in values or field not in missing:
                return False
            continue
        if is_pcie:
            rate = rate_of(owner, name, value, is_short=is_32_bit, most=most)
        else:
            rate = rate_of(owner, name, value)
        if missing.get(field) is not (rate if isinstance(rate, Missing) else None):
            return False
        if not isinstance(rate, Missing) and rate != getattr(gpu, field):
            found[field] = rate
    return True
