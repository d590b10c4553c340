"""Asking a host for its key and, when the user says so, writing it to known_hosts."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import hmac
import os
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from specctl.adapters.hops import resolve_hops
from specctl.adapters.hostkeys import KnownHosts, KnownKey, name_in_file, remove_command
from specctl.adapters.ssh_connect import close_connections, connect_hops, offered_key
from specctl.adapters.ssh_settings import settings_for
from specctl.domain.errors import HostError, RefusedError

if TYPE_CHECKING:
    import asyncssh

    from specctl.adapters.hops import Hop
    from specctl.adapters.ssh_settings import SshSettings
    from specctl.domain.host import Host

_HASHED = "|1|"


@dataclass(frozen=True, slots=True)
class OfferedKey:
    """The key a host showed, beside what is known of it."""

    label: str
    """Which hop of the way it belongs to: `host gpu1`, or `jump 1 of 1 (bastion) to host gpu1`."""

    name: str
    port: int
    algorithm: str
    fingerprint: str
    public: str
    """`ssh-ed25519 AAAA…`, as known_hosts holds it."""

    known: tuple[KnownKey, ...]
    """The lines of known_hosts that speak of this host."""

    file: Path
    """The file a new key would be written to."""

    @property
    def spelled(self) -> str:
        """The host as known_hosts spells it."""
        return name_in_file(self.name, self.port)

    @property
    def is_known(self) -> bool:
        """This very key is trusted already."""
        return any(k.kind == "key" and k.fingerprint == self.fingerprint for k in self.known)

    @property
    def is_revoked(self) -> bool:
        """This very key is marked @revoked."""
        return any(k.kind == "revoked" and k.fingerprint == self.fingerprint for k in self.known)

    @property
    def others(self) -> tuple[KnownKey, ...]:
        """Different keys that are trusted for this host."""
        return tuple(k for k in self.known if k.kind == "key" and k.fingerprint != self.fingerprint)


async def fetch_host_key(host: Host, settings: SshSettings | None = None) -> OfferedKey:
    """The key of the first hop to `host` that is not trusted yet, else of the host itself.

    Jump hosts are connected, so theirs must be trusted before the host behind them can be asked.
    """
    settings = settings or settings_for(host)
    hops = resolve_hops(host, settings)
    for count, hop in enumerate(hops):
        connections: list[asyncssh.SSHClientConnection] = []
        if count:
            link = await connect_hops(host.name, hops[:count], settings)
            connections = list(link.connections)
        try:
            key = await offered_key(hop, connections[-1] if connections else None, settings)
        finally:
            await close_connections(connections)
        offered = _describe(hop, key)
        if not offered.is_known or hop is hops[-1]:
            return offered
    raise HostError(f"host {host.name}: there is no way to it")


def _describe(hop: Hop, key: asyncssh.SSHKey | None) -> OfferedKey:
    if key is None:
        raise HostError(f"{hop.label}: {hop.where} logs in without showing a host key")
    public = key.export_public_key().decode("ascii").split()[:2]
    files = hop.known_hosts_files or (Path("~/.ssh/known_hosts").expanduser(),)
    return OfferedKey(
        label=hop.label,
        name=hop.name_for_key,
        port=hop.port,
        algorithm=key.get_algorithm(),
        fingerprint=key.get_fingerprint(),
        public=" ".join(public),
        known=KnownHosts(files).find(hop.name_for_key, hop.port),
        file=files[0],
    )


def write_known_host(offered: OfferedKey) -> bool:
    """Append the key to its file; False when it stands there already.

    Refuses a revoked key, and a host of which another key is known: that one is removed by hand.
    """
    if offered.is_revoked:
        raise RefusedError(f"{offered.label}: {offered.fingerprint} is marked @revoked")
    if offered.is_known:
        return False
    if offered.others:
        old = offered.others[0]
        raise RefusedError(
            f"{offered.label}: another key of {offered.spelled} is known: "
            f"{', '.join(map(str, offered.others))}",
            hint=f"If the machine was rebuilt: "
            f"`{remove_command(old, offered.name, offered.port)}`, then once more.",
        )
    _append(offered.file, f"{_name_to_write(offered)} {offered.public}\n")
    return True


def _name_to_write(offered: OfferedKey) -> str:
    """Hashed when the file's other names are (HashKnownHosts), else plain."""
    with contextlib.suppress(OSError):
        if any(line.startswith(_HASHED) for line in offered.file.read_text().splitlines()):
            return hash_name(offered.spelled, secrets.token_bytes(20))
    return offered.spelled


def hash_name(name: str, salt: bytes) -> str:
    """A name as `ssh-keygen -H` writes it: HMAC-SHA1 under a random salt (sshd(8))."""
    digest = hmac.new(salt, name.encode(), hashlib.sha1).digest()
    return f"{_HASHED}{base64.b64encode(salt).decode()}|{base64.b64encode(digest).decode()}"


def _append(file: Path, line: str) -> None:
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(descriptor, "rb+", buffering=0) as stream:
            size = stream.seek(0, os.SEEK_END)
            if size and os.pread(descriptor, 1, size - 1) != b"\n":
                line = "\n" + line
            stream.write(line.encode())
    except OSError as error:
        raise HostError(f"{file} cannot be written: {error.strerror}") from error
