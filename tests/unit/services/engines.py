"""The stand-in engine of `probe_build`, run inside the test."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from typing import Any

from specctl.domain.server import Identity

ENGINE = Path(__file__).parent / "probe_build/sglang/engine.py"


def load_engine() -> Any:
    spec = importlib.util.spec_from_file_location("probe_engine", ENGINE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def own_identity() -> Identity:
    """Of this process, in which the stand-in runs."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    fields = Path(f"/proc/{os.getpid()}/stat").read_text().rsplit(")", 1)[1].split()
    return Identity(boot, os.getpid(), int(fields[19]), os.getpgid(0), os.getsid(0), "")
