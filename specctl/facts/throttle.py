"""What slows a GPU, out of NVML's mask of clock event reasons (nvml.h)."""

from __future__ import annotations

HW_SLOWDOWN = 0x8
HW_THERMAL = 0x40
HW_BRAKE = 0x80
SW_THERMAL = 0x20
POWER_CAP = 0x4

WORST_FIRST = (
    (HW_SLOWDOWN, "hw slow"),
    (HW_THERMAL, "heat (hw)"),
    (HW_BRAKE, "brake (hw)"),
    (SW_THERMAL, "heat (sw)"),
    (POWER_CAP, "power cap"),
)
"""Idle (0x1), clock settings (0x2, 0x10, 0x100) and bits not known here are no slow-downs."""


def read_throttle(mask: int) -> tuple[str, ...]:
    """The active slow-downs, worst first; `hw slow` only where no hardware cause is named."""
    if mask & (HW_THERMAL | HW_BRAKE):
        mask &= ~HW_SLOWDOWN
    return tuple(word for bit, word in WORST_FIRST if mask & bit)
