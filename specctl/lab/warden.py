"""Puts the host-side faults in force that need somebody to act, and ends them again."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specctl.lab.hosts import python_of
from specctl.lab.processes import carries, processes_of, signal_process
from specctl.lab.shells import SESSION, environment

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from specctl.lab.ssh_server import Served

LOOK_S = 0.1
AGENT = "specctl-"
"""How the last argument of specctl's programs on a host begins: a mark and 24 digits."""


@dataclass
class Warden:
    """One host's."""

    served: Served
    frozen: set[int] = field(default_factory=set)
    other: subprocess.Popen[bytes] | None = None
    doomed: list[tuple[float, str]] = field(default_factory=list)
    """Connections whose processes are killed, and when (CLOCK_MONOTONIC)."""

    changed_ns: int = 0
    has_faults: bool = False

    def has_something_to_do(self) -> bool:
        """A fault came, goes, or is there; or a connection ended."""
        host = self.served.host
        changed_ns = host.faults_folder.stat().st_mtime_ns
        is_changed, self.changed_ns = changed_ns != self.changed_ns, changed_ns
        if is_changed:
            self.has_faults = any(host.faults_folder.iterdir())
        return is_changed or self.has_faults or bool(self.doomed) or not self.served.ended.empty()

    def look(self) -> None:
        """Do what the faults in force now ask for."""
        host = self.served.host
        self.served.wire.set(host.fault("slow-link"), host.fault("cut-link"))
        self._freeze(is_wanted=host.fault("frozen-agent") is not None)
        self._hold_locks(host.fault("two-operators"))
        self._end_logged_out(host.fault("kill-on-logout"))

    def _freeze(self, *, is_wanted: bool) -> None:
        host = self.served.host
        if is_wanted:
            found = set(agents_of(host.folder)) - self.frozen
            self.frozen |= {p for p in found if signal_process(p, signal.SIGSTOP, host.folder)}
        elif self.frozen:
            for pid in self.frozen:
                signal_process(pid, signal.SIGCONT, host.folder)
            self.frozen.clear()

    def _hold_locks(self, parameters: Mapping[str, Any] | None) -> None:
        if parameters is None:
            self.let_locks_go()
        elif self.other is None or self.other.poll() is not None:
            host = self.served.host
            argv = [str(python_of(host)), "-m", "specctl.lab.other_operator"]
            self.other = subprocess.Popen(
                [*argv, json.dumps(dict(parameters))],
                env=environment(host, "other-operator"),
                stdin=subprocess.DEVNULL,
                cwd="/",
                start_new_session=True,
            )

    def let_locks_go(self) -> None:
        """End the other operator, and with it the locks."""
        if self.other is not None:
            self.other.kill()
            self.other.wait()
            self.other = None

    def _end_logged_out(self, parameters: Mapping[str, Any] | None) -> None:
        now = time.monotonic()
        while not self.served.ended.empty():
            session = self.served.ended.get_nowait()
            if parameters is not None:
                self.doomed.append((now + parameters["after_s"], session))
        due = [session for at, session in self.doomed if at <= now]
        self.doomed = [(at, session) for at, session in self.doomed if at > now]
        for session in due:
            self._kill(session)

    def _kill(self, session: str) -> None:
        folder = self.served.host.folder
        for pid in processes_of(folder):
            if carries(pid, f"{SESSION}={session}"):
                signal_process(pid, signal.SIGTERM, folder)


def agents_of(folder: Path) -> list[int]:
    """Specctl's agents on a host: what it runs unbuffered, for as long as it is connected."""
    return [pid for pid in processes_of(folder) if _is_agent(pid)]


def _is_agent(pid: int) -> bool:
    with contextlib.suppress(OSError):
        words = Path(f"/proc/{pid}/cmdline").read_bytes().rstrip(b"\0").split(b"\0")
        return b"-u" in words[:4] and words[-1].startswith(AGENT.encode())
    return False


async def watch(wardens: Sequence[Warden]) -> None:
    """Look after all hosts, for ever."""
    while True:
        for warden in wardens:
            if warden.has_something_to_do():
                warden.look()
        await asyncio.sleep(LOOK_S)
