"""NVML's error codes as reasons for a missing value."""

from __future__ import annotations

from typing import Any, List

UNINITIALIZED = 1
INVALID_ARGUMENT = 2
NOT_SUPPORTED = 3
NO_PERMISSION = 4
NOT_FOUND = 6
INSUFFICIENT_SIZE = 7
DRIVER_NOT_LOADED = 9
TIMEOUT = 10
LIBRARY_NOT_FOUND = 12
FUNCTION_NOT_FOUND = 13
GPU_IS_LOST = 15
RESET_REQUIRED = 16
LIB_RM_VERSION_MISMATCH = 18
ARGUMENT_VERSION_MISMATCH = 25
DEPRECATED = 26
UNKNOWN = 999

DEAD = frozenset({UNINITIALIZED, DRIVER_NOT_LOADED, LIB_RM_VERSION_MISMATCH})
"""After one of these the library has to be initialised again."""

_WHY = {
    NOT_SUPPORTED: "not supported",
    DEPRECATED: "not supported",
    FUNCTION_NOT_FOUND: "not supported",
    ARGUMENT_VERSION_MISMATCH: "not supported",
    NO_PERMISSION: "no permission",
    TIMEOUT: "timed out",
    LIBRARY_NOT_FOUND: "not installed",
    GPU_IS_LOST: "lost",
}

_DETAIL = {
    NOT_SUPPORTED: "",
    NO_PERMISSION: "",
    GPU_IS_LOST: "the GPU fell off the bus",
    DEPRECATED: "withdrawn by this driver",
    FUNCTION_NOT_FOUND: "this driver is too old for it",
    ARGUMENT_VERSION_MISMATCH: "this driver is too old for it",
    LIBRARY_NOT_FOUND: "libnvidia-ml.so.1 was not found",
    RESET_REQUIRED: "the GPU needs a reset",
    DRIVER_NOT_LOADED: "the NVIDIA driver is not loaded",
    LIB_RM_VERSION_MISMATCH: "driver and library versions differ",
    UNINITIALIZED: "NVML lost its connection to the driver",
}


class NvmlError(Exception):
    """An NVML call that answered with an error code."""

    def __init__(self, code: int, words: str = "") -> None:
        super().__init__(words or "NVML error %d" % code)
        self.code = code


def code_of(error: BaseException) -> int:
    """The NVML code of what pynvml or this agent raised.

    pynvml's NVMLLibraryMismatchError is no NVMLError: it means that the driver lacks a function.
    """
    if type(error).__name__ == "NVMLLibraryMismatchError":
        return FUNCTION_NOT_FOUND
    code: Any = getattr(error, "code", getattr(error, "value", UNKNOWN))
    return code if isinstance(code, int) else UNKNOWN


def reason(error: BaseException) -> List[str]:
    """`[why, detail]` for a value that was answered with `error`."""
    return reason_of(code_of(error), str(error))


def reason_of(code: int, words: str = "") -> List[str]:
    """`[why, detail]` for an NVML code."""
    detail = _DETAIL.get(code)
    if detail is None:
        detail = words or "NVML error %d" % code
    return [_WHY.get(code, "error"), detail]
