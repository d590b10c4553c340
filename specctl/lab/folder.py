"""The lab's own folder: what is in it, and the record of the process that serves it.

    lab.json        the record; without it, nothing is served
    lab.log         what the serving process had to say
    hosts/lab-N/    one host each (specctl.lab.place)
    models/         what the hosts' home/models lead to
    remotes/ profiles/ ssh_config known_hosts id_ed25519      the operator's side

Nothing else of the lab lies anywhere.
"""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specctl.domain.errors import UsageError
from specctl.lab.activity import start_ticks
from specctl.lab.place import LabHost, write_whole

if TYPE_CHECKING:
    from collections.abc import Sequence

MARK = "this-is-specctl's-lab"
"""A file that says who made the folder, and that it may be removed with everything in it."""

SCHEMA = "specctl/lab-record/1"


@dataclass(frozen=True, slots=True)
class Record:
    """Who serves the lab, and what it has."""

    pid: int
    start_ticks: int
    boot_id: str
    ports: dict[str, int]
    """Host to the port of its ssh server on loopback."""

    @classmethod
    def of_this_process(cls, ports: dict[str, int]) -> Record:
        """The record that the serving process writes."""
        return cls(os.getpid(), start_ticks(os.getpid()), boot_id(), ports)

    @property
    def is_alive(self) -> bool:
        """The process it names is there, and no other that took its number."""
        try:
            return self.boot_id == boot_id() and start_ticks(self.pid) == self.start_ticks
        except ProcessLookupError:
            return False


@dataclass(frozen=True, slots=True)
class LabFolder:
    """One lab, up or not."""

    root: Path

    @property
    def record_file(self) -> Path:
        """Written once every host answers."""
        return self.root / "lab.json"

    @property
    def log(self) -> Path:
        """What the serving process had to say."""
        return self.root / "lab.log"

    @property
    def key(self) -> Path:
        """The operator's private key."""
        return self.root / "id_ed25519"

    @property
    def ssh_config(self) -> Path:
        """What `ssh -F` takes, and specctl."""
        return self.root / "ssh_config"

    @property
    def known_hosts(self) -> Path:
        """The keys of all hosts."""
        return self.root / "known_hosts"

    @property
    def models(self) -> Path:
        """Shared by all hosts, as a network share would be."""
        return self.root / "models"

    def make(self) -> None:
        """Make it, for this user alone; raises UsageError when there is one."""
        try:
            self.root.parent.mkdir(parents=True, exist_ok=True)
            self.root.mkdir(mode=0o700)
        except FileExistsError:
            raise UsageError(
                f"{self.root} is there already", hint="specctl lab down, then once more"
            ) from None
        try:
            (self.root / MARK).write_text(f"{os.getpid()} {start_ticks(os.getpid())}\n")
            for part in ("hosts", "models", "lib", "remotes", "profiles"):
                (self.root / part).mkdir()
        except OSError as error:
            shutil.rmtree(self.root, ignore_errors=True)
            error.filename = error.filename or str(self.root)  # a full disk names no file
            raise

    @property
    def is_there(self) -> bool:
        """It exists, and is a lab's."""
        return (self.root / MARK).exists()

    def record(self) -> Record | None:
        """Who serves it; None when nobody does, or did."""
        try:
            content: dict[str, Any] = json.loads(self.record_file.read_text())
        except (OSError, ValueError):
            return None
        content.pop("schema", None)
        return Record(**content)

    def write_record(self, record: Record) -> None:
        """Say that every host answers."""
        write_whole(self.record_file, json.dumps({"schema": SCHEMA, **asdict(record)}, indent=2))

    def maker(self) -> int | None:
        """The pid of who is bringing it up at this moment, if it is another process."""
        if self.record() is not None:
            return None
        try:
            pid, ticks = map(int, (self.root / MARK).read_text().split())
            is_alive = start_ticks(pid) == ticks
        except (OSError, ValueError):
            return None
        return pid if is_alive and pid != os.getpid() else None

    def is_up(self) -> bool:
        """It is served at this moment."""
        record = self.record()
        return record is not None and record.is_alive

    def hosts(self) -> Sequence[LabHost]:
        """Its hosts by number."""
        folders = (self.root / "hosts").glob("lab-*")
        return [LabHost(f) for f in sorted(folders, key=lambda f: int(f.name.removeprefix("lab-")))]

    def host(self, name: str) -> LabHost:
        """The host called `name`; raises UsageError when there is none."""
        names = [host.folder.name for host in self.hosts()]
        if name not in names:
            raise UsageError(f"the lab has no host {name}", hint=f"it has: {', '.join(names)}")
        return LabHost(self.root / "hosts" / name)


def boot_id() -> str:
    """The kernel's identity of this boot."""
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
