"""The hosts and profiles of a lab that is up: beside every workspace's own, in no file of it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from specctl.adapters import paths


@dataclass(frozen=True, slots=True)
class Overlay:
    """A directory laid out as a workspace, and the ssh configuration that its hosts need."""

    root: Path
    ssh_config: Path


def read_overlay() -> Overlay | None:
    """The lab's, while the process that serves it lives; else None."""
    root = paths.lab_dir()
    try:
        record = json.loads((root / "lab.json").read_text(encoding="utf-8"))
        pid, ticks = int(record["pid"]), int(record["start_ticks"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return Overlay(root, root / "ssh_config") if _start_ticks(pid) == ticks else None


def _start_ticks(pid: int) -> int | None:
    """When a process began (proc(5), stat, field 22); None when there is none such."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    words = text.rpartition(")")[2].split()
    return None if words[0] in {"Z", "X"} else int(words[19])
