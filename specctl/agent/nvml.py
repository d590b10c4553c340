"""All GPUs of a host through NVML: initialised once, and again when the driver went away.

Every GPU is read in a thread of its own, so that one whose call hangs costs the others nothing.
"""

from __future__ import annotations

import contextlib
import ctypes
import time
from typing import Any, Dict, List, Optional, Tuple

from . import proc
from .hello import pid_namespace
from .nvml_device import Device
from .nvml_errors import DEAD, LIB_RM_VERSION_MISMATCH, code_of, reason
from .nvml_processes import ProcessLists
from .single_flight import SingleFlight

LIBRARY = "libnvidia-ml.so.1"
REOPEN_S = 2.0
LEAST_WAIT_S = 0.02


class NotReadyError(Exception):
    """NVML cannot be asked: `[why, detail]`, and what may explain it."""

    def __init__(self, why: List[str], code: Optional[int] = None) -> None:
        super().__init__(": ".join(why))
        self.why = why
        self.code = code


class Seat:
    """One GPU, its thread, and when it last answered."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.flight = SingleFlight("gpu-%d" % device.index, device.read)
        self._answered_at: Optional[float] = None

    def ask(self, tier: str, deadline: float, patience_s: float) -> Tuple[Dict[str, Any], float]:
        """Its row and what reading it cost; a reading that lasts longer already is not waited for.

        One that another stream began just now is: streams of one agent ask at the same instants.
        """
        left = max(deadline - time.monotonic(), LEAST_WAIT_S)
        hangs = self.flight.running_s >= patience_s
        outcome = self.flight.ask(0 if hangs else left, tier)
        if outcome is None:
            return self.device.row_without(["timed out", self._words()]), 0.0
        if outcome.error is not None:
            raise outcome.error
        self._answered_at = outcome.at
        return outcome.value, outcome.cost_s

    def _words(self) -> str:
        words = "no answer for %.1f s" % self.flight.running_s
        if self._answered_at is None:
            return words
        return words + "; last one %.0f s ago" % (time.monotonic() - self._answered_at)


class Nvml:
    """The GPUs of this host."""

    def __init__(self) -> None:
        self._opening = SingleFlight("nvml-open", self._open)
        self._seats: Optional[List[Seat]] = None
        self._failure: Optional[NotReadyError] = None
        self._failed_at = 0.0
        self._nvml: Any = None
        self.driver: Optional[str] = None

    def open(self, timeout_s: float) -> None:
        """Initialise it, which can take seconds; `read` says what failed."""
        with contextlib.suppress(NotReadyError):
            self._ensure_open(timeout_s)

    def read(self, tier: str, timeout_s: float) -> Tuple[List[Dict[str, Any]], float]:
        """One row per GPU and what they cost; raises NotReadyError when NVML cannot be asked."""
        deadline = time.monotonic() + timeout_s
        cost_s = self._ensure_open(timeout_s)
        rows = []
        try:
            for seat in self._seats or ():
                row, cost = seat.ask(tier, deadline, timeout_s)
                rows.append(row)
                cost_s += cost
        except Exception as error:
            if code_of(error) in DEAD:
                self._seats = None
            raise NotReadyError(reason(error), code_of(error)) from error
        return rows, cost_s

    def _ensure_open(self, timeout_s: float) -> float:
        if self._seats is not None:
            return 0.0
        if self._failure and time.monotonic() - self._failed_at < REOPEN_S:
            raise self._failure
        outcome = self._opening.ask(timeout_s)
        if outcome is None:
            words = "NVML is being initialised for %.0f s" % self._opening.running_s
            raise NotReadyError(["not yet read", words])
        if outcome.error is not None:
            self._failed_at = time.monotonic()
            self._failure = _not_ready(outcome.error)
            raise self._failure
        self._failure = None
        self._seats = outcome.value
        return outcome.cost_s

    def _open(self) -> List[Seat]:
        if self._nvml is not None and self.driver is not None:
            self.driver = None
            _shut_down(self._nvml)
        import pynvml as nvml

        nvml.nvmlInit()
        self._nvml = nvml
        version = nvml.nvmlSystemGetDriverVersion()
        self.driver = version.decode() if isinstance(version, bytes) else version
        lists = ProcessLists(ctypes.CDLL(LIBRARY))
        namespace = pid_namespace()
        count = nvml.nvmlDeviceGetCount()
        return [Seat(Device(nvml, lists, index, namespace)) for index in range(count)]


def _shut_down(nvml: Any) -> None:
    try:
        nvml.nvmlShutdown()
    except Exception as error:
        if code_of(error) not in DEAD:
            raise


def _not_ready(error: BaseException) -> NotReadyError:
    if isinstance(error, ImportError):
        return NotReadyError(["not installed", "this Python has no nvidia-ml-py"])
    return NotReadyError(reason(error), code_of(error))


def explain(code: Optional[int]) -> Dict[str, Any]:
    """What may explain a failure to initialise: the versions of module and library."""
    module = kernel_module()
    if code is None and module is None:
        return {}
    library, was_replaced = loaded_library()
    return {
        "code": code,
        "is_mismatch": code == LIB_RM_VERSION_MISMATCH,
        "kernel_module": module,
        "library": library,
        "library_was_replaced": was_replaced,
    }


def kernel_module() -> Optional[str]:
    """The version of the loaded NVIDIA kernel module, or None when none is loaded."""
    try:
        text = proc.read_text(proc.PROC + "/driver/nvidia/version")
    except OSError:
        return None
    return parse_module_version(text)


def parse_module_version(text: str) -> Optional[str]:
    """The version in `NVRM version: NVIDIA UNIX x86_64 Kernel Module  520.56.06  Thu Oct ...`."""
    first = text.partition("\n")[0]
    words = [word for word in first.split() if word[:1].isdigit() and word.count(".") in (1, 2)]
    return words[0] if words and first.startswith("NVRM") else None


def loaded_library() -> Tuple[Optional[str], bool]:
    """(version in the file name of the loaded library, whether that file was replaced since)."""
    try:
        maps = proc.read_text(proc.PROC + "/self/maps")
    except OSError:
        return None, False
    for line in maps.splitlines():
        if "libnvidia-ml.so" in line:
            path = line.split(None, 5)[-1]
            version = path.partition("libnvidia-ml.so.")[2].partition(" ")[0]
            return version if "." in version else None, path.endswith("(deleted)")
    return None, False
