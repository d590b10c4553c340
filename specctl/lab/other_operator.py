"""`python -m specctl.lab.other_operator JSON`: holds a host's locks, as a colleague would."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import sys
import time
from typing import TYPE_CHECKING, Any

from specctl.lab.place import LabHost

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

DIRECTORY = "/tmp/specctl-locks"
"""Where every specctl locks; on a lab host, one of its own."""


def keys_of(host: LabHost, parameters: Mapping[str, Any]) -> list[str]:
    """The names of the locks of those GPUs and that port."""
    asked = str(parameters["gpus"])
    gpus = range(len(host.scenario["gpus"])) if asked == "all" else map(int, asked.split("+"))
    return [*(f"gpu-{gpu}" for gpu in gpus), f"port-{parameters['port']}"]


def hold(keys: Sequence[str], operator: str) -> list[int]:
    """Lock the files of those names, waiting for each; the open descriptors."""
    before = os.umask(0)
    os.makedirs(DIRECTORY, mode=0o1777, exist_ok=True)
    said = {"who": operator, "process": "specctl start", "since_s": time.time_ns() / 1e9}
    held = []
    for key in keys:
        file = os.open(os.path.join(DIRECTORY, key), os.O_RDWR | os.O_CREAT, 0o666)
        fcntl.flock(file, fcntl.LOCK_EX)
        os.ftruncate(file, 0)
        os.pwrite(file, json.dumps(said).encode("ascii"), 0)
        held.append(file)
    os.umask(before)
    return held


def main() -> None:
    """Hold the locks until it is killed."""
    parameters = json.loads(sys.argv[1])
    host = LabHost.from_environment(os.environ)
    hold(keys_of(host, parameters), str(parameters["operator"]))
    signal.pause()


if __name__ == "__main__":
    main()
