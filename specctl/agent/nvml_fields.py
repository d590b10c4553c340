"""What is asked of a GPU through NVML: which call gives which fields of a sample.

Units leave here as bytes, W, J, degrees Celsius, MHz and percent. `nvmlDeviceGetPcieThroughput`
is never called: it blocks for 20 ms per direction. Field ids are those of nvml.h (R550 to R610).
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, NamedTuple, Tuple

from .nvml_errors import INVALID_ARGUMENT, NOT_SUPPORTED, NvmlError, code_of

SM_CLOCK, MEMORY_CLOCK = 1, 2
UNCORRECTED, CORRECTED, VOLATILE = 1, 0, 0

ENERGY, MEMORY_TEMPERATURE, POWER_INSTANT = 83, 82, 186
PCIE_TX, PCIE_RX = 197, 198
NVLINK_LINKS, NVLINK_TX_KIB, NVLINK_RX_KIB = 91, 138, 139
NVLINK5_TX, NVLINK5_RX = 202, 204
PER_LINK = frozenset({NVLINK_TX_KIB, NVLINK_RX_KIB, NVLINK5_TX, NVLINK5_RX})
UNSIGNED_INT = 1
"""The value type of a 32-bit counter."""

Read = Callable[[Any, Any], Tuple[Any, ...]]


class Reading(NamedTuple):
    """One call and the fields it fills."""

    names: Tuple[str, ...]
    read: Read


def _utilization(nvml: Any, handle: Any) -> Tuple[Any, ...]:
    rates = nvml.nvmlDeviceGetUtilizationRates(handle)
    return float(rates.gpu), float(rates.memory)


def memory(nvml: Any, handle: Any) -> Tuple[Any, ...]:
    """(total, used, reserved, scheme): v2 tells reserved apart, v1 counts it as used."""
    try:
        found = nvml.nvmlDeviceGetMemoryInfo(handle, version=nvml.nvmlMemory_v2)
    except Exception as error:
        if code_of(error) == NOT_SUPPORTED:
            raise
        found = nvml.nvmlDeviceGetMemoryInfo(handle)
        return found.total, found.used, None, "v1"
    return found.total, found.used, found.reserved, "v2"


def _temperature(nvml: Any, handle: Any) -> Tuple[Any, ...]:
    try:
        return (float(nvml.nvmlDeviceGetTemperatureV(handle, 0)),)
    except Exception:
        return (float(nvml.nvmlDeviceGetTemperature(handle, 0)),)


def _throttle(nvml: Any, handle: Any) -> Tuple[Any, ...]:
    try:
        return (nvml.nvmlDeviceGetCurrentClocksEventReasons(handle),)
    except Exception:
        return (nvml.nvmlDeviceGetCurrentClocksThrottleReasons(handle),)


def _power(nvml: Any, handle: Any) -> Tuple[Any, ...]:
    return (nvml.nvmlDeviceGetPowerUsage(handle) / 1e3,)


def _call(name: str, *arguments: Any) -> Read:
    return lambda nvml, handle: (getattr(nvml, name)(handle, *arguments),)


def _limit(nvml: Any, handle: Any) -> Tuple[Any, ...]:
    return (nvml.nvmlDeviceGetEnforcedPowerLimit(handle) / 1e3,)


def _persistence(nvml: Any, handle: Any) -> Tuple[Any, ...]:
    return (bool(nvml.nvmlDeviceGetPersistenceMode(handle)),)


def _mig(nvml: Any, handle: Any) -> Tuple[Any, ...]:
    return (bool(nvml.nvmlDeviceGetMigMode(handle)[0]),)


FAST = (
    Reading(("utilization_percent", "memory_utilization_percent"), _utilization),
    Reading(
        ("memory_total_bytes", "memory_used_bytes", "memory_reserved_bytes", "memory_scheme"),
        memory,
    ),
    Reading(("temperature_c",), _temperature),
    Reading(("sm_clock_mhz",), _call("nvmlDeviceGetClockInfo", SM_CLOCK)),
    Reading(("memory_clock_mhz",), _call("nvmlDeviceGetClockInfo", MEMORY_CLOCK)),
    Reading(("throttle_mask",), _throttle),
)
"""Every tick; the power, energy and traffic fields come beside them in one batch."""

SLOW = (
    Reading(("power_limit_w",), _limit),
    Reading(("pcie_generation",), _call("nvmlDeviceGetCurrPcieLinkGeneration")),
    Reading(("pcie_width",), _call("nvmlDeviceGetCurrPcieLinkWidth")),
    Reading(("ecc_uncorrected",), _call("nvmlDeviceGetTotalEccErrors", UNCORRECTED, VOLATILE)),
    Reading(("ecc_corrected",), _call("nvmlDeviceGetTotalEccErrors", CORRECTED, VOLATILE)),
    Reading(("persistence",), _persistence),
    Reading(("performance_state",), _call("nvmlDeviceGetPerformanceState")),
    Reading(("mig",), _mig),
)
"""Every few ticks."""

ONCE = (
    Reading(("sm_clock_max_mhz",), _call("nvmlDeviceGetMaxClockInfo", SM_CLOCK)),
    Reading(("pcie_generation_max",), _call("nvmlDeviceGetMaxPcieLinkGeneration")),
    Reading(("pcie_width_max",), _call("nvmlDeviceGetMaxPcieLinkWidth")),
)

POWER = Reading(("power_w",), _power)
"""For drivers without the instantaneous power field."""

BATCH_NAMES = (
    "power_w",
    "energy_j",
    "memory_temperature_c",
    "pcie_rx_bytes",
    "pcie_tx_bytes",
    "nvlink_rx_bytes",
    "nvlink_tx_bytes",
)


class Value(NamedTuple):
    """One answered field of a batch."""

    code: int
    number: float
    is_32_bit: bool
    latency_us: int


def field_values(
    nvml: Any, handle: Any, ids: List[Tuple[int, int]]
) -> Dict[Tuple[int, int], Value]:
    """One driver call for many (field, scope) pairs; each has its own code and type."""
    answers = nvml.nvmlDeviceGetFieldValues(handle, ids)
    return {key: _value(answer) for key, answer in zip(ids, answers)}  # noqa: B905  Python 3.8


def _value(answer: Any) -> Value:
    names = ("dVal", "uiVal", "ulVal", "ullVal", "sllVal", "siVal", "usVal")
    kind = answer.valueType
    number = getattr(answer.value, names[kind], None) if 0 <= kind < len(names) else None
    code = answer.nvmlReturn
    if code == 0 and number is None:
        code = NOT_SUPPORTED  # a value type newer than this table
    is_32_bit = kind == UNSIGNED_INT
    return Value(code, 0 if number is None else number, is_32_bit, int(answer.latencyUsec))


def count_links(nvml: Any, handle: Any) -> int:
    """How many NVLinks a GPU has; 0 where it has none."""
    value = field_values(nvml, handle, [(NVLINK_LINKS, 0)])[(NVLINK_LINKS, 0)]
    return int(value.number) if value.code == 0 else 0


def batch_ids(links: int) -> List[Tuple[int, int]]:
    """The fields of one tick's batch for a GPU with that many links."""
    ids = [(field, 0) for field in (POWER_INSTANT, ENERGY, MEMORY_TEMPERATURE, PCIE_RX, PCIE_TX)]
    for link in range(links):
        ids += [(f, link) for f in (NVLINK_RX_KIB, NVLINK_TX_KIB, NVLINK5_RX, NVLINK5_TX)]
    return ids


def worth_asking(values: Dict[Tuple[int, int], Value]) -> List[Tuple[int, int]]:
    """The fields to ask for again: a link counts in one of two fields, and only one is there."""
    absent = (NOT_SUPPORTED, INVALID_ARGUMENT)
    return [
        key for key, value in values.items() if not (key[0] in PER_LINK and value.code in absent)
    ]


def traffic(values: Dict[Tuple[int, int], Value], links: int, kib: int, bytes5: int) -> float:
    """The sum over the links of one direction, in bytes, by whichever field this GPU counts in."""
    if not links:
        raise NvmlError(NOT_SUPPORTED, "no NVLink")
    for field, unit in ((kib, 1024), (bytes5, 1)):
        counted = [values[(field, link)] for link in range(links) if (field, link) in values]
        good = [value.number for value in counted if value.code == 0]
        if good:
            return sum(good) * unit
    raise NvmlError(NOT_SUPPORTED)
