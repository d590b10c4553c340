"""nvidia-smi's table for people, drivers R390 to R590, as GPU samples.

A table names GPUs by shortened names and tells no UUID; it is read where nothing better was kept.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from specctl.domain.missing import Missing
from specctl.domain.sample import GpuProcess, GpuSample, MigDevice
from specctl.domain.text import clean
from specctl.facts.smi import FIELDS, MIB, UNASKED, SmiAnswer
from specctl.facts.smi_trouble import NO_DEVICES, read_trouble
from specctl.facts.smi_values import SmiTextError, read_number, read_switch, read_word

_HEADER = re.compile(r"NVIDIA-SMI\s+[\d.]+\s+Driver Version:\s*([\d.]+)")
_FIRST = re.compile(
    r"\|\s{1,4}(?P<index>\d{1,3})\s+(?P<name>\S.{0,60}?)\s+(?P<persistence>On|Off|N/A)\s*\|"
    r"\s*(?P<bus>[0-9A-Fa-f]{8}:[0-9A-Fa-f:.]+)\s+(?:On|Off|N/A)\s*\|\s*(?P<ecc>\S+)\s*\|"
)
_SECOND = re.compile(
    r"\|\s*(?P<fan>\S+)\s+(?P<temp>\S+)\s+(?P<perf>\S+)\s+(?P<power>\S+)\s*/\s*(?P<cap>\S+)\s*\|"
    r"\s*(?P<memory>[^|]+?)\s*\|\s*(?P<util>\S+)\s+(?P<compute>\S[^|]*?)\s*\|"
)
_THIRD = re.compile(r"\|\s*\|\s*\|\s*(?P<mig>Enabled|Disabled|N/A|ERR!)\*?\s*\|")
_MEMORY = re.compile(r"(?P<used>\d{1,9})MiB\s*/\s*(?P<total>\d{1,9})MiB")
_MIG = re.compile(
    r"\|\s+(?P<gpu>\d{1,3})\s+(?P<gi>\d{1,9})\s+(?P<ci>\d{1,9})\s+\d+\s+\|\s*"
    r"(?P<used>\d{1,9})MiB\s*/\s*(?P<total>\d{1,9})MiB"
)
_PROCESS = re.compile(
    r"\|\s+(?P<gpu>\d{1,3})\s+(?:(?:N/A|\d+)\s+(?:N/A|\d+)\s+)?(?P<pid>\d{1,9})\s+"
    r"(?P<kind>C\+G|M\+C|C|G|M)\s+(?P<name>.*?)\s+(?P<memory>\d{1,9}MiB|N/A)\s*\|$"
)
_KINDS = {"G": "graphics", "M": "mps"}


def read_table(text: str) -> SmiAnswer:
    """The GPUs of a table, or the trouble it tells; raises SmiTextError for anything else.

    A row that cannot be read as a whole is refused: half a row could show a broken GPU as healthy.
    """
    lines = text.splitlines()
    trouble = read_trouble(text)
    driver = _HEADER.search(text)
    if driver is None:
        if trouble is not None or NO_DEVICES in text:
            return SmiAnswer((), trouble)
        raise SmiTextError("not a table of nvidia-smi: it has no header")
    gpus = {gpu.index: gpu for gpu in _read_gpus(lines)}
    has_list = any("Processes:" in line for line in lines) and _is_whole(lines)
    for index, gpu in gpus.items():
        gpus[index] = _complete(gpu, lines, has_list=has_list)
    return SmiAnswer(tuple(gpus.values()), trouble, driver[1])


def _is_whole(lines: list[str]) -> bool:
    """The process list was not cut off: a frame closes it."""
    start = next(i for i, line in enumerate(lines) if "Processes:" in line)
    return any(line.startswith("+--") for line in lines[start + 1 :])


def _read_gpus(lines: list[str]) -> list[GpuSample]:
    found = []
    for position, line in enumerate(lines):
        first = _FIRST.match(line)
        if first is None:
            continue
        second = _SECOND.match(lines[position + 1]) if position + 1 < len(lines) else None
        if second is None:
            raise SmiTextError(f"GPU {first['index']}: its second line cannot be read")
        third = _THIRD.match(lines[position + 2]) if position + 2 < len(lines) else None
        found.append(_read_gpu(first, second, third))
    return found


def _read_gpu(
    first: re.Match[str], second: re.Match[str], third: re.Match[str] | None
) -> GpuSample:
    cells: dict[str, Any] = {
        "persistence": read_switch(first["persistence"]),
        "temperature_c": read_number(second["temp"]),
        "performance_state": _whole(second["perf"].removeprefix("P")),
        "power_w": read_number(second["power"]),
        "power_limit_w": read_number(second["cap"]),
        "utilization_percent": read_number(second["util"]),
        "ecc_uncorrected": _whole(first["ecc"]),
        **_memory(second["memory"]),
    }
    if third is not None:
        cells["mig"] = read_switch(third["mig"])
    values = {name: cell for name, cell in cells.items() if not isinstance(cell, Missing)}
    missing = {name: cell for name, cell in cells.items() if isinstance(cell, Missing)}
    reasons = {**dict.fromkeys(FIELDS, UNASKED), **missing}
    return GpuSample(
        index=int(first["index"]),
        uuid="",
        name=clean(first["name"]),
        memory_scheme="v1" if "memory_total_bytes" in values else None,
        missing={name: why for name, why in reasons.items() if name not in values},
        **values,
    )


def _whole(cell: str) -> int | Missing:
    word = read_word(cell)
    value = word if isinstance(word, Missing) else read_number(word)
    return value if isinstance(value, Missing) else int(value)


def _memory(cell: str) -> dict[str, int | Missing]:
    match = _MEMORY.fullmatch(cell.strip())
    if match is None:
        reason = read_number(cell)
        why = reason if isinstance(reason, Missing) else UNASKED
        return {"memory_total_bytes": why, "memory_used_bytes": why}
    return {
        "memory_total_bytes": int(match["total"]) * MIB,
        "memory_used_bytes": int(match["used"]) * MIB,
    }


def _complete(gpu: GpuSample, lines: list[str], *, has_list: bool) -> GpuSample:
    mig = [m for m in map(_MIG.match, lines) if m and int(m["gpu"]) == gpu.index]
    devices = tuple(
        MigDevice("", f"MIG {m['gi']}/{m['ci']}", int(m["total"]) * MIB, int(m["used"]) * MIB)
        for m in mig
    )
    if not has_list:
        return replace(gpu, mig_devices=devices, missing={**gpu.missing, "processes": UNASKED})
    rows = [m for m in map(_PROCESS.match, lines) if m and int(m["gpu"]) == gpu.index]
    return replace(gpu, mig_devices=devices, processes=tuple(map(_read_process, rows)))


def _read_process(row: re.Match[str]) -> GpuProcess:
    memory = read_number(row["memory"])
    return GpuProcess(
        pid=int(row["pid"]),
        memory_bytes=None if isinstance(memory, Missing) else int(memory * MIB),
        kind=_KINDS.get(row["kind"], "compute"),
        name=clean(row["name"]) or None,
    )
