"""The processes on a GPU, by NVML's own calls: their rows differ between drivers.

One call with room for many rows instead of two; the layouts are those of nvml.h (R418 to R610).
"""

from __future__ import annotations

import ctypes
import struct
from typing import Any, Dict, List, Optional, Tuple

from . import proc
from .hello import user_name
from .nvml_errors import FUNCTION_NOT_FOUND, INSUFFICIENT_SIZE, NOT_SUPPORTED, NvmlError

ROWS = 64
UNKNOWN_MEMORY = (1 << 64) - 1
INITIAL_NAMESPACE = "pid:[4026531836]"
"""PROC_PID_INIT_INO of the kernel: the namespace whose pids NVML reports."""

KINDS = (("Compute", "compute"), ("Graphics", "graphics"), ("MPSCompute", "mps"))
ROW_V1 = struct.Struct("=I4xQ")
ROW_V2 = struct.Struct("=I4xQII")
ROW_EARLY_R535 = struct.Struct("=I4xQIIQ")


class ProcessLists:
    """The process calls of one loaded library."""

    def __init__(self, library: Any) -> None:
        self._library = library
        self._calls = {kind: self._find(kind) for kind, _ in KINDS}

    def _find(self, kind: str) -> Optional[Tuple[Any, "struct.Struct"]]:
        for suffix, row in (("_v3", self._row_v3()), ("_v2", ROW_V2), ("", ROW_V1)):
            call = getattr(
                self._library, "nvmlDeviceGet%sRunningProcesses%s" % (kind, suffix), None
            )
            if call is not None:
                return call, row
        return None

    def _row_v3(self) -> "struct.Struct":
        """Early R535 drivers answer _v3 with longer rows; these two symbols tell them apart."""
        has_early = hasattr(self._library, "nvmlDeviceGetConfComputeMemSizeInfo")
        has_later = hasattr(self._library, "nvmlDeviceGetRunningProcessDetailList")
        return ROW_EARLY_R535 if has_early and not has_later else ROW_V2

    def read(self, handle: Any) -> List[Dict[str, Any]]:
        """One row per process: pid, memory_bytes (None: not told), kind."""
        found: Dict[int, Dict[str, Any]] = {}
        for kind, word in KINDS:
            for pid, memory in self._rows(kind, handle):
                known = found.get(pid)
                if known is None:
                    found[pid] = {"pid": pid, "memory_bytes": memory, "kind": word}
                elif known["kind"] == word:  # one process on several MIG instances
                    known["memory_bytes"] = _sum(known["memory_bytes"], memory)
        return list(found.values())

    def _rows(self, kind: str, handle: Any) -> List[Tuple[int, Optional[int]]]:
        call = self._calls[kind]
        if call is None:
            return self._none(kind, FUNCTION_NOT_FOUND)
        function, row = call
        room = ROWS
        while True:
            count, rows = ctypes.c_uint(room), ctypes.create_string_buffer(room * row.size)
            code = function(handle, ctypes.byref(count), rows)
            if code != INSUFFICIENT_SIZE:
                break
            room = max(count.value, room) * 2
        if code:
            return self._none(kind, code)
        used = rows.raw[: count.value * row.size]
        return [(f[0], None if f[1] == UNKNOWN_MEMORY else f[1]) for f in row.iter_unpack(used)]

    def _none(self, kind: str, code: int) -> List[Tuple[int, Optional[int]]]:
        """Only the compute list has to be there: many devices have no other."""
        if kind == "Compute" or code not in (NOT_SUPPORTED, FUNCTION_NOT_FOUND):
            raise NvmlError(code)
        return []


def _sum(one: Optional[int], other: Optional[int]) -> Optional[int]:
    return None if one is None or other is None else one + other


def name_owners(rows: List[Dict[str, Any]], namespace: Optional[str]) -> None:
    """Add to each row whether its pid is one of ours, and then its user and title.

    Inside a container NVML may report the host's pids. A number is believed there only when the
    process of that number has NVIDIA's driver open.
    """
    for row in rows:
        pid = row["pid"]
        row["is_local"] = namespace == INITIAL_NAMESPACE or _uses_gpu(pid)
        stat = proc.stat(pid) if row["is_local"] else None
        row["uid"] = proc.uid(pid) if stat else None
        row["user"] = None if row["uid"] is None else user_name(row["uid"])
        row["name"] = proc.title(stat.comm, proc.argv(pid)) if stat else None


def _uses_gpu(pid: int) -> bool:
    if any(target.startswith("/dev/nvidia") for target in proc.descriptors(pid)):
        return True
    try:
        maps = proc.read_text("%s/%d/maps" % (proc.PROC, pid))
    except OSError:
        return False
    return "/libcuda.so" in maps or "/dev/nvidia" in maps
