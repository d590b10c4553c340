"""A stand-in for NVIDIA's NVML library: built with gcc on first use, driven by scenario files."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from specctl.lab import compiling
from specctl.lab.compiling import NVML_LIBRARY, build_nvml

HERE = Path(__file__).parent
SOURCES = Path(compiling.__file__).parent / "nvml"
SCENARIOS = HERE / "scenarios"

V3 = [f"nvmlDeviceGet{kind}RunningProcesses_v3" for kind in ("Compute", "Graphics", "MPSCompute")]
R470 = (
    *V3,
    "nvmlDeviceGetMemoryInfo_v2",
    "nvmlDeviceGetTemperatureV",
    "nvmlDeviceGetDriverModel_v2",
    "nvmlDeviceGetCurrentClocksEventReasons",
)
EARLY_R535 = ("nvmlDeviceGetRunningProcessDetailList",)
VARIANTS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "current": ((), ()),
    "r470": (R470, ()),
    "early-r535": (EARLY_R535, ("-DPROC_V3_ROW=32",)),
}
"""Driver name to the symbols it lacks and the compiler's options that imitate it."""


def library(variant: str = "current") -> Path:
    """The folder that holds libnvidia-ml.so.1 of that driver, up to date."""
    out = HERE / f"out-{variant}"
    out.mkdir(exist_ok=True)
    hidden, options = VARIANTS[variant]
    with (out / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not _is_up_to_date(out):
            build_nvml(out, hidden=hidden, options=options)
    return out


def _is_up_to_date(out: Path) -> bool:
    built = out / NVML_LIBRARY
    parts = [*SOURCES.iterdir(), Path(compiling.__file__), Path(__file__)]
    return built.exists() and built.stat().st_mtime > max(p.stat().st_mtime for p in parts)


def environment(
    scenario: str | Path, *, variant: str = "current", trace: Path | None = None
) -> dict[str, str]:
    """Variables under which a new process finds the library and that scenario.

    A scenario is a name in scenarios/ or a path of a test's own file.
    """
    path = scenario if isinstance(scenario, Path) else SCENARIOS / f"{scenario}.ini"
    found = {
        **os.environ,
        "LD_LIBRARY_PATH": str(library(variant)),
        "FAKE_NVML_CONF": str(path),
    }
    return found if trace is None else {**found, "FAKE_NVML_TRACE": str(trace)}


def write_scenario(path: Path, text: str) -> None:
    """Change a scenario under a running client: seen within 20 ms, never half."""
    draft = path.with_name(path.name + ".new")
    draft.write_text(text)
    draft.replace(path)
