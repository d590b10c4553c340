"""One GPU, read through NVML in tiers; a field that fails says why and spoils no other."""

from __future__ import annotations

from typing import Any, Dict, Iterable, List, Optional, Tuple

from . import nvml_fields as fields
from .nvml_errors import DEAD, GPU_IS_LOST, NOT_FOUND, NvmlError, code_of, reason, reason_of
from .nvml_processes import ProcessLists, name_owners

FAST, SLOW = "fast", "slow"
"""The tiers: every tick, and every few."""

Reasons = Dict[str, List[str]]


class Device:
    """One GPU; a call that hangs hangs only in `read`."""

    def __init__(
        self, nvml: Any, lists: ProcessLists, index: int, namespace: Optional[str]
    ) -> None:
        self._nvml = nvml
        self._lists = lists
        self.index = index
        self._namespace = namespace
        self._handle: Any = None
        self._identity = {"uuid": "", "name": ""}
        self._links = 0
        self._ids: List[Tuple[int, int]] = []
        self._once: Tuple[Dict[str, Any], Reasons] = ({}, {})
        self._slow: Dict[str, Any] = {}
        self._latency_us = 0

    def read(self, tier: str) -> Dict[str, Any]:
        """One row, in a fast tier with the slow fields from before; raises when NVML is dead."""
        self._latency_us = 0
        try:
            if self._handle is None:
                self._open()
            values, missing = self._read_all(fields.FAST)
            self._read_batch(values, missing)
            if tier == SLOW or not self._slow:
                self._slow = self._read_slow()
        except NvmlError as error:
            if error.code in DEAD:
                raise
            self._slow = {}
            return self.row_without(reason(error))
        for part, reasons in (self._once, (self._slow["v"], self._slow["missing"])):
            values.update(part)
            missing.update(reasons)
        return {
            "index": self.index,
            **self._identity,
            "v": values,
            "missing": missing,
            "processes": self._slow["processes"],
            "mig_devices": self._slow["mig_devices"],
            "lost": False,
            "latency_us": self._latency_us,
        }

    def row_without(self, why: List[str]) -> Dict[str, Any]:
        """The row of a GPU that does not answer: its identity stays, its values go."""
        return {
            "index": self.index,
            **self._identity,
            "v": {},
            "missing": {"*": why},
            "processes": None,
            "mig_devices": [],
            "lost": why[0] == "lost",
            "latency_us": 0,
        }

    def _open(self) -> None:
        nvml = self._nvml
        try:
            handle = nvml.nvmlDeviceGetHandleByIndex(self.index)
        except Exception as error:
            raise NvmlError(code_of(error), str(error)) from error
        self._handle = handle
        self._identity = {
            "uuid": self._identify(nvml.nvmlDeviceGetUUID),
            "name": self._identify(nvml.nvmlDeviceGetName),
        }
        self._links = self._count_links()
        self._once = self._read_all(fields.ONCE)

    def _identify(self, read: Any) -> str:
        """A text that names the GPU; empty where it has none, which loses nothing else of it."""
        try:
            return _text(read(self._handle))
        except Exception as error:
            self._note(error, (), {})
            return ""

    def _count_links(self) -> int:
        try:
            return fields.count_links(self._nvml, self._handle)
        except Exception as error:
            self._note(error, (), {})
            return 0

    def _read_all(self, readings: Iterable[fields.Reading]) -> Tuple[Dict[str, Any], Reasons]:
        values: Dict[str, Any] = {}
        missing: Reasons = {}
        for reading in readings:
            self._read_one(reading, values, missing)
        return values, missing

    def _read_one(self, reading: fields.Reading, values: Dict[str, Any], missing: Reasons) -> None:
        try:
            answer = reading.read(self._nvml, self._handle)
        except Exception as error:
            self._note(error, reading.names, missing)
        else:
            values.update(zip(reading.names, answer))  # noqa: B905  Python 3.8 has no strict

    def _note(self, error: BaseException, names: Iterable[str], missing: Reasons) -> None:
        """Keep one field's failure; one that means the whole GPU or NVML is raised instead."""
        code = code_of(error)
        if code == GPU_IS_LOST or code in DEAD:
            raise NvmlError(code, str(error)) from error
        missing.update((name, reason(error)) for name in names)

    def _read_batch(self, values: Dict[str, Any], missing: Reasons) -> None:
        ids = self._ids or fields.batch_ids(self._links)
        try:
            found = fields.field_values(self._nvml, self._handle, ids)
        except Exception as error:
            self._note(error, fields.BATCH_NAMES, missing)
            self._read_power(values, missing)
            return
        self._latency_us += sum(value.latency_us for value in found.values())
        self._ids = fields.worth_asking(found)
        self._take_batch(found, values, missing)
        if "power_w" not in values:
            self._read_power(values, missing)

    def _read_power(self, values: Dict[str, Any], missing: Reasons) -> None:
        missing.pop("power_w", None)
        self._read_one(fields.POWER, values, missing)

    def _take_batch(
        self,
        found: Dict[Tuple[int, int], fields.Value],
        values: Dict[str, Any],
        missing: Reasons,
    ) -> None:
        for name, field, scale in _PLAIN:
            value = found[(field, 0)]
            if value.code == 0:
                values[name] = value.number if scale == 1 else round(value.number * scale, 3)
            else:
                missing[name] = reason_of(value.code)
        values["pcie_is_32_bit"] = found[(fields.PCIE_RX, 0)].is_32_bit
        for name, kib, bytes5 in _LINKS:
            try:
                values[name] = int(fields.traffic(found, self._links, kib, bytes5))
            except NvmlError as error:
                missing[name] = reason(error)

    def _read_slow(self) -> Dict[str, Any]:
        values, missing = self._read_all(fields.SLOW)
        processes: Optional[List[Dict[str, Any]]] = None
        try:
            processes = self._lists.read(self._handle)
            name_owners(processes, self._namespace)
        except NvmlError as error:
            self._note(error, ("processes",), missing)
        return {
            "v": values,
            "missing": missing,
            "processes": processes,
            "mig_devices": self._read_mig() if values.get("mig") else [],
        }

    def _read_mig(self) -> List[Dict[str, Any]]:
        nvml = self._nvml
        found = []
        for position in range(nvml.nvmlDeviceGetMaxMigDeviceCount(self._handle)):
            try:
                handle = nvml.nvmlDeviceGetMigDeviceHandleByIndex(self._handle, position)
            except Exception as error:
                if code_of(error) == NOT_FOUND:
                    continue
                break
            found.append(_mig_row(nvml, handle))
        return found


_PLAIN = (
    ("power_w", fields.POWER_INSTANT, 1e-3),
    ("energy_j", fields.ENERGY, 1e-3),
    ("memory_temperature_c", fields.MEMORY_TEMPERATURE, 1),
    ("pcie_rx_bytes", fields.PCIE_RX, 1),
    ("pcie_tx_bytes", fields.PCIE_TX, 1),
)
_LINKS = (
    ("nvlink_rx_bytes", fields.NVLINK_RX_KIB, fields.NVLINK5_RX),
    ("nvlink_tx_bytes", fields.NVLINK_TX_KIB, fields.NVLINK5_TX),
)


def _mig_row(nvml: Any, handle: Any) -> Dict[str, Any]:
    row: Dict[str, Any] = {"uuid": "", "name": ""}
    try:
        row["uuid"] = _text(nvml.nvmlDeviceGetUUID(handle))
        row["name"] = _text(nvml.nvmlDeviceGetName(handle))
        total, used = fields.memory(nvml, handle)[:2]
        row.update(memory_total_bytes=total, memory_used_bytes=used)
    except Exception as error:
        row["missing"] = reason(error)
    return row


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
