"""Practice hosts of the lab: whatever one run says of them begins with that they are simulated.

Every way to a host leads through its workspace, which tells this module; the only two writers, of
standard output and of standard error, ask it before their first line.
"""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from specctl.domain.host import Host

WORD = "SIMULATED"


class Shown:
    """The practice hosts one run is about, and on which streams that was said."""

    def __init__(self) -> None:
        self._hosts: dict[str, None] = {}
        self._said = {"stdout": 0, "stderr": 0}

    def notice(self, host: Host) -> None:
        """The run is about `host`, among others."""
        if host.is_simulated:
            self._hosts[host.name] = None

    def holds(self, host: str | None = None) -> bool:
        """`host` is a practice host; without a name, one of this run's is."""
        return bool(self._hosts) if host is None else host in self._hosts

    def head(self, stream: str) -> str:
        """The line that goes before the next one of a stream; empty when it was said there."""
        new = list(self._hosts)[self._said[stream] :]
        self._said[stream] = len(self._hosts)
        if not new:
            return ""
        if is_one_place():
            self._said = dict.fromkeys(self._said, len(self._hosts))
        return sentence(new)

    def forget(self) -> None:
        """A new run begins."""
        self._hosts.clear()
        self._said = dict.fromkeys(self._said, 0)


def sentence(hosts: list[str]) -> str:
    """`SIMULATED: lab-1 is a practice host of the lab, …`."""
    if len(hosts) == 1:
        return f"{WORD}: {hosts[0]} is a practice host of the lab; no GPU did what it shows"
    names = f"{', '.join(hosts[:-1])} and {hosts[-1]}"
    return f"{WORD}: {names} are practice hosts of the lab; no GPU did what they show"


def is_one_place() -> bool:
    """Both streams lead to the same terminal, pipe or file."""
    try:
        return os.path.sameopenfile(sys.stdout.fileno(), sys.stderr.fileno())
    except (OSError, ValueError, io.UnsupportedOperation):
        return False


SHOWN = Shown()
"""Of this process, which is one run."""
