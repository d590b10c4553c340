"""The sentences nvidia-smi prints instead of an answer."""

from __future__ import annotations

from specctl.domain.driver_trouble import MISMATCH
from specctl.domain.missing import Missing, Why
from specctl.domain.text import clean

NO_DEVICES = "No devices were found"

_TROUBLE = (
    (
        "Driver/library version mismatch",
        Missing(Why.ERROR, f"driver and library versions differ: no GPU readings; {MISMATCH}"),
    ),
    ("couldn't communicate with the NVIDIA driver", Missing(Why.ERROR, "no driver is loaded")),
    ("Driver Not Loaded", Missing(Why.ERROR, "no driver is loaded")),
    ("couldn't find libnvidia-ml", Missing(Why.NOT_INSTALLED, "libnvidia-ml.so.1 was not found")),
    ("fallen off the bus", Missing(Why.LOST, "a GPU fell off the bus")),
    ("GPU is lost", Missing(Why.LOST, "a GPU fell off the bus")),
    ("Unable to determine the device handle", Missing(Why.ERROR, "a GPU does not answer")),
    ("Insufficient Permissions", Missing(Why.NO_PERMISSION)),
)
_DETAIL_CHARACTERS = 120


def read_trouble(text: str) -> Missing | None:
    """What went wrong, or None when the text tells of nothing."""
    for sentence, missing in _TROUBLE:
        if sentence in text:
            return missing
    for line in text.splitlines():
        if line.startswith("Failed to initialize NVML"):
            return Missing(Why.ERROR, clean(line)[:_DETAIL_CHARACTERS])
    return None
