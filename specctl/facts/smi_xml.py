"""nvidia-smi's XML answer (`-q -x`, DTDs v5 to v13) as GPU samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from specctl.domain.missing import Missing, Why
from specctl.domain.sample import GpuProcess, GpuSample, MigDevice
from specctl.facts.smi import FIELDS, MIB, UNASKED, SmiAnswer
from specctl.facts.smi_values import SmiTextError, read_number, read_switch, read_word
from specctl.facts.throttle import WORST_FIRST

if TYPE_CHECKING:
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element

TEXT_CHARACTERS = 16 << 20

NUMBERS = (
    ("utilization_percent", "utilization/gpu_util"),
    ("memory_utilization_percent", "utilization/memory_util"),
    ("temperature_c", "temperature/gpu_temp"),
    ("memory_temperature_c", "temperature/memory_temp"),
    ("sm_clock_mhz", "clocks/sm_clock"),
    ("sm_clock_max_mhz", "max_clocks/sm_clock"),
    ("memory_clock_mhz", "clocks/mem_clock"),
    ("power_w", "gpu_power_readings/instant_power_draw"),
    ("power_w", "gpu_power_readings/power_draw"),
    ("power_w", "gpu_power_readings/average_power_draw"),
    ("power_w", "power_readings/power_draw"),
    ("power_limit_w", "gpu_power_readings/current_power_limit"),
    ("power_limit_w", "power_readings/enforced_power_limit"),
)
"""Field and element; the first element that has a number counts."""

WHOLES = (
    ("pcie_generation", "pci/pci_gpu_link_info/pcie_gen/current_link_gen"),
    ("pcie_generation_max", "pci/pci_gpu_link_info/pcie_gen/max_link_gen"),
    ("pcie_width", "pci/pci_gpu_link_info/link_widths/current_link_width"),
    ("pcie_width_max", "pci/pci_gpu_link_info/link_widths/max_link_width"),
)
BYTES = (
    ("memory_total_bytes", "fb_memory_usage/total"),
    ("memory_used_bytes", "fb_memory_usage/used"),
    ("memory_reserved_bytes", "fb_memory_usage/reserved"),
)
SWITCHES = (("persistence", "persistence_mode"), ("mig", "mig_mode/current_mig"))
ECC = (
    ("ecc_uncorrected", ("sram_uncorrectable", "dram_uncorrectable")),
    ("ecc_corrected", ("sram_correctable", "dram_correctable")),
)
REASONS = {
    "hw slow": "hw_slowdown",
    "heat (hw)": "hw_thermal_slowdown",
    "brake (hw)": "hw_power_brake_slowdown",
    "heat (sw)": "sw_thermal_slowdown",
    "power cap": "sw_power_cap",
}


def read_xml(text: str) -> SmiAnswer:
    """Every GPU of the document; raises SmiTextError for what is none of nvidia-smi's."""
    if "<!ENTITY" in text or len(text) > TEXT_CHARACTERS:
        raise SmiTextError("not an answer of nvidia-smi -q -x")
    try:
        root = ElementTree.fromstring(text)  # noqa: S314  no entities, and no DTD is loaded
    except (ElementTree.ParseError, ValueError) as error:
        raise SmiTextError(f"not XML: {error}") from error
    if root.tag != "nvidia_smi_log":
        raise SmiTextError("not an answer of nvidia-smi -q -x")
    driver = read_word(root.findtext("driver_version", ""))
    gpus = tuple(_read_gpu(gpu, position) for position, gpu in enumerate(root.findall("gpu")))
    return SmiAnswer(gpus, None, None if isinstance(driver, Missing) else driver)


def _read_gpu(gpu: Element, position: int) -> GpuSample:
    values: dict[str, Any] = {}
    missing: dict[str, Missing] = {}
    for name, value in _fields(gpu):
        if isinstance(value, Missing):
            missing.setdefault(name, value)
        else:
            values.setdefault(name, value)
    missing = {**dict.fromkeys(FIELDS, UNASKED), **missing}
    has_reserved = "memory_reserved_bytes" in values
    lists = gpu.find("processes")
    if lists is None:
        missing["processes"] = UNASKED
    return GpuSample(
        index=position,
        uuid=_word(gpu, "uuid"),
        name=_word(gpu, "product_name"),
        memory_scheme=("v2" if has_reserved else "v1") if "memory_total_bytes" in values else None,
        processes=None if lists is None else tuple(_read_processes(lists)),
        mig_devices=tuple(_read_mig(device) for device in gpu.findall("mig_devices/mig_device")),
        missing={name: why for name, why in missing.items() if name not in values},
        **values,
    )


def _fields(gpu: Element) -> Iterator[tuple[str, Any]]:
    for name, path in NUMBERS:
        yield name, read_number(gpu.findtext(path, "N/A"))
    for name, path in WHOLES:
        yield name, _scaled(gpu, path, 1)
    for name, path in BYTES:
        yield name, _scaled(gpu, path, MIB)
    for name, path in SWITCHES:
        yield name, read_switch(gpu.findtext(path, "N/A"))
    for name, starts in ECC:
        yield name, _sum_errors(gpu, starts)
    yield "performance_state", _state(gpu)
    yield "throttle", _throttle(gpu)


def _scaled(element: Element, path: str, unit: int) -> int | Missing:
    value = read_number(element.findtext(path, "N/A"))
    return value if isinstance(value, Missing) else int(value * unit)


def _state(gpu: Element) -> int | Missing:
    word = read_word(gpu.findtext("performance_state", "N/A"))
    value = word if isinstance(word, Missing) else read_number(word.removeprefix("P"))
    return value if isinstance(value, Missing) else int(value)


def _sum_errors(gpu: Element, starts: tuple[str, ...]) -> int | Missing:
    """The volatile counts whose element begins so; parity and SEC-DED add up."""
    volatile = gpu.find("ecc_errors/volatile")
    cells = [] if volatile is None else [e for e in volatile if e.tag.startswith(starts)]
    numbers = [read_number(cell.text or "N/A") for cell in cells]
    known = [number for number in numbers if not isinstance(number, Missing)]
    unknown = [number for number in numbers if isinstance(number, Missing)]
    return int(sum(known)) if known else (unknown or [Missing(Why.NOT_SUPPORTED)])[0]


def _throttle(gpu: Element) -> tuple[str, ...] | Missing:
    for prefix in ("clocks_event_reason", "clocks_throttle_reason"):
        block = gpu.find(f"{prefix}s")
        if block is not None:
            active = [word for _, word in WORST_FIRST if _is_active(block, prefix, REASONS[word])]
            if "heat (hw)" in active or "brake (hw)" in active:
                active = [word for word in active if word != "hw slow"]
            return tuple(active)
    return UNASKED


def _is_active(block: Element, prefix: str, name: str) -> bool:
    return block.findtext(f"{prefix}_{name}", "").strip() == "Active"


def _read_processes(lists: Element) -> Iterator[GpuProcess]:
    kinds = {"C": "compute", "G": "graphics", "M": "mps"}
    for row in lists.findall("process_info"):
        pid = read_number(row.findtext("pid", ""))
        if isinstance(pid, Missing):
            continue
        memory = _scaled(row, "used_memory", MIB)
        yield GpuProcess(
            pid=int(pid),
            memory_bytes=None if isinstance(memory, Missing) else memory,
            kind=kinds.get(row.findtext("type", "C")[:1], "compute"),
            name=_word(row, "process_name") or None,
        )


def _read_mig(device: Element) -> MigDevice:
    total, used = (_scaled(device, f"fb_memory_usage/{name}", MIB) for name in ("total", "used"))
    return MigDevice(
        uuid="",
        name=f"MIG {_word(device, 'gpu_instance_id')}/{_word(device, 'compute_instance_id')}",
        memory_total_bytes=None if isinstance(total, Missing) else total,
        memory_used_bytes=None if isinstance(used, Missing) else used,
        missing=next((value for value in (total, used) if isinstance(value, Missing)), None),
    )


def _word(element: Element, path: str) -> str:
    word = read_word(element.findtext(path, ""))
    return "" if isinstance(word, Missing) else word
