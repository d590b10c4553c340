"""`python -m specctl.lab.serving FOLDER`: serves a lab's hosts until it is told to end."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import asyncssh

from specctl.lab.folder import LabFolder, Record
from specctl.lab.shells import USER
from specctl.lab.ssh_server import LOOPBACK, Served, make_options
from specctl.lab.warden import Warden, watch

if TYPE_CHECKING:
    from collections.abc import Sequence

KIND = "ssh-ed25519"


async def serve(lab: LabFolder) -> None:
    """Listen for every host, write the record, and go on until SIGTERM."""
    key = asyncssh.generate_private_key(KIND, comment="specctl lab")
    _write_secret(lab.key, key.export_private_key())
    served, known = [], []
    async with contextlib.AsyncExitStack() as stack:
        for host in lab.hosts():
            host_key = asyncssh.generate_private_key(KIND)
            one = Served(host, make_options(host_key, key))
            listener = await one.listen()
            stack.callback(listener.close)
            served.append(one)
            public = " ".join(host_key.export_public_key().decode().split()[:2])
            known.append(f"[{LOOPBACK}]:{one.port} {public}\n")
        lab.known_hosts.write_text("".join(known))
        lab.ssh_config.write_text(ssh_config(lab, served))
        lab.write_record(Record.of_this_process({one.host.folder.name: one.port for one in served}))
        await _until_told([Warden(one) for one in served])


async def _until_told(wardens: Sequence[Warden]) -> None:
    told = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, told.set)
    async with asyncio.TaskGroup() as group:
        watching = group.create_task(watch(wardens))
        await told.wait()
        watching.cancel()
    for warden in wardens:
        warden.let_locks_go()


def ssh_config(lab: LabFolder, served: Sequence[Served]) -> str:
    """One entry per host, and what they have in common."""
    entries = [f"Host {one.host.folder.name}\n  Port {one.port}\n" for one in served]
    shared = (
        f"Host lab-*\n  HostName {LOOPBACK}\n  User {USER}\n"
        f"  UserKnownHostsFile {_quoted(lab.known_hosts)}\n  GlobalKnownHostsFile /dev/null\n"
        f"  IdentityFile {_quoted(lab.key)}\n  IdentitiesOnly yes\n  StrictHostKeyChecking yes\n"
    )
    return "".join(entries) + shared


def _quoted(path: Path) -> str:
    return '"' + str(path).replace("\\", "\\\\").replace('"', '\\"') + '"'


def _write_secret(path: Path, content: bytes) -> None:
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(file, "wb") as stream:
        stream.write(content)


def main() -> None:
    """Serve the lab in the folder that is the only argument."""
    asyncio.run(serve(LabFolder(Path(sys.argv[1]))))


if __name__ == "__main__":
    main()
