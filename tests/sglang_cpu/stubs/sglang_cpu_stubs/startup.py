"""Runs at the start of every Python of the environment; imports nothing heavy."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from sglang_cpu_stubs.absent import AbsentPackages, AbsentTriton
from sglang_cpu_stubs.patches import PatchAfterImport

PREFIX = Path(sys.prefix)

DEFAULTS = {
    "SGLANG_USE_CPU_ENGINE": "1",  # without it SGLang looks for an accelerator and fails
    "SGLANG_JIT_CACHE_DIR": str(PREFIX / "jit-cache"),  # where the n-gram matcher is compiled
    "HF_HOME": str(
        PREFIX / "hf"
    ),  # holds specctl/tiny-target, specctl/tiny-draft, specctl/tiny-eagle
    "HF_HUB_OFFLINE": "1",
    "TORCHDYNAMO_DISABLE": "1",  # torch.compile cannot trace through the triton stand-in
    "OMP_NUM_THREADS": "1",  # two servers with a thread per core each decode twenty times slower
    "GLOO_SOCKET_IFNAME": "lo",  # torch.distributed listens on loopback only
}


def set_defaults() -> None:
    """What the caller has set stays; ninja is found even when the environment is not activated."""
    for name, value in DEFAULTS.items():
        os.environ.setdefault(name, value)
    scripts = str(PREFIX / "bin")
    path = os.environ.get("PATH", os.defpath)
    if scripts not in path.split(os.pathsep):
        os.environ["PATH"] = os.pathsep.join((path, scripts))


def install_hooks() -> None:
    """Patches come first in the search, stand-ins last: a package that is really there wins."""
    sys.meta_path.insert(0, PatchAfterImport())
    sys.meta_path += [AbsentPackages(), AbsentTriton()]


set_defaults()
install_hooks()
