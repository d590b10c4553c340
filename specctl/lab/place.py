"""A lab host: one directory, found through the environment of every process on it.

scenario.json   what the host is: GPUs, costs of a step, models, drafters, seed
faults/NAME     what is wrong with it right now, with parameters as JSON
activity/PID    what a process does to the GPUs
home/           its users' home directory
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specctl.domain.errors import UsageError
from specctl.lab.faults import FAULTS

if TYPE_CHECKING:
    from collections.abc import Mapping

VARIABLE = "SPECCTL_LAB_HOST"
SCHEMA = "specctl/lab-host/1"
FROM = "from_monotonic_s"
"""In a fault's file: when it begins, by a clock that no fault changes."""


@dataclass(frozen=True)
class LabHost:
    """One lab host."""

    folder: Path

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> LabHost:
        """The host that a process runs on; raises UsageError where it is none of the lab's."""
        folder = environment.get(VARIABLE)
        if not folder:
            raise UsageError(f"this is no lab host: {VARIABLE} is not set", hint="specctl lab up")
        return cls(Path(folder))

    @property
    def home(self) -> Path:
        """HOME of every session."""
        return self.folder / "home"

    @property
    def activity_folder(self) -> Path:
        """One file per process that uses GPUs."""
        return self.folder / "activity"

    @property
    def faults_folder(self) -> Path:
        """One file per fault."""
        return self.folder / "faults"

    @cached_property
    def scenario(self) -> Mapping[str, Any]:
        """The content of scenario.json, read once."""
        found: dict[str, Any] = json.loads((self.folder / "scenario.json").read_text())
        return found

    @property
    def name(self) -> str:
        """As the operator calls it, e.g. `lab-1`."""
        return str(self.scenario["name"])

    @property
    def seed(self) -> int:
        """What every random number of this host starts from."""
        return int(self.scenario["seed"])

    def fault(self, name: str) -> Mapping[str, Any] | None:
        """The parameters of a fault that is in force now, looked up afresh; None when it is not."""
        if name not in FAULTS:
            raise KeyError(name)
        return read_fault(self.faults_folder / name, name)

    def faults(self) -> dict[str, Mapping[str, Any]]:
        """All faults in force now."""
        found = {name: self.fault(name) for name in FAULTS}
        return {name: parameters for name, parameters in found.items() if parameters is not None}

    def set_fault(self, name: str, parameters: Mapping[str, Any], *, after_s: float = 0.0) -> None:
        """Put a fault in force, now or in `after_s` seconds."""
        content: dict[str, Any] = dict(parameters)
        if after_s > 0:
            content[FROM] = time.monotonic() + after_s
        write_whole(self.faults_folder / name, json.dumps(content))

    def clear_fault(self, name: str) -> None:
        """End a fault; nothing happens when it is not in force."""
        (self.faults_folder / name).unlink(missing_ok=True)


def read_fault(path: Path, name: str) -> Mapping[str, Any] | None:
    """What a fault's file says, defaults filled in; None when it is absent or begins later."""
    try:
        text = path.read_text()
    except FileNotFoundError:
        return None
    content = json.loads(text or "{}")
    begins = content.pop(FROM, None)
    if begins is not None and time.monotonic() < begins:
        return None
    return {**FAULTS[name].parameters, **content}


def write_whole(path: Path, text: str) -> None:
    """Write a file whole: a reader sees the old text or the new one."""
    draft = path.with_name(f".{path.name}.new")
    draft.write_text(text)
    draft.replace(path)
