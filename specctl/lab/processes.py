"""The processes of lab hosts: found by what they carry, ended through a handle of each."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ENDING_S = 10.0
"""For processes that are killed; one in an uninterruptible sleep takes longer."""


class StillAliveError(Exception):
    """Processes that did not end when killed."""


def processes_of(folder: Path) -> list[int]:
    """Every process on the lab hosts at or below `folder`, but this one."""
    here = os.getpid()
    return [pid for pid in _pids() if pid != here and is_on(pid, folder)]


def is_on(pid: int, folder: Path) -> bool:
    """`pid` runs on a lab host at or below `folder`.

    Its environment says so; where it wrote its title over that, the host's library in its memory.
    """
    mark = f"SPECCTL_LAB_HOST={folder}".encode()
    environment = _read(pid, "environ")
    if any(_names(item, mark) for item in environment.split(b"\0")):
        return True
    if not environment or b"PATH=" in environment:
        return False
    return f"{folder}/".encode() in _read(pid, "maps")


def _names(item: bytes, mark: bytes) -> bool:
    return item.startswith(mark) and item[len(mark) : len(mark) + 1] in {b"", b"/"}


def carries(pid: int, variable: str) -> bool:
    """`NAME=value` is in the environment that `pid` began with."""
    return variable.encode() in _read(pid, "environ").split(b"\0")


def _read(pid: int, name: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""


def _pids() -> Iterator[int]:
    return (int(name) for name in os.listdir("/proc") if name.isdigit())


def end_processes(folder: Path) -> int:
    """Kill every process on the lab hosts below `folder`; how many there were.

    Raises StillAliveError when one is left after ENDING_S.
    """
    ended, deadline = set(), time.monotonic() + ENDING_S
    while found := processes_of(folder):
        if time.monotonic() > deadline:
            raise StillAliveError(", ".join(map(str, found)))
        for pid in found:
            if signal_process(pid, signal.SIGKILL, folder):
                ended.add(pid)
        time.sleep(0.02)
    return len(ended)


def signal_process(pid: int, number: int, folder: Path) -> bool:
    """Signal `pid` if it is on a lab host at or below `folder`, and not whoever has its number."""
    with contextlib.suppress(ProcessLookupError):
        handle = os.pidfd_open(pid)
        try:
            if is_on(pid, folder):
                signal.pidfd_send_signal(handle, number)
                return True
        finally:
            os.close(handle)
    return False
