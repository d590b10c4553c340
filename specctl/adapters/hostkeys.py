"""The host keys that are known, where each stands, and whether an offered one is among them."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import asyncssh

from specctl.domain.errors import HostError, HostKeyChangedError, HostKeyUnknownError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from specctl.adapters.hops import Hop

SSH_PORT = 22


@dataclass(frozen=True, slots=True)
class KnownKey:
    """One line of a known_hosts file that speaks of a host."""

    file: Path
    line: int
    kind: str
    """`key`, `authority` or `revoked`."""

    algorithm: str
    fingerprint: str
    """As `ssh-keygen -l` prints it: `SHA256:…`."""

    def __str__(self) -> str:
        return f"{self.fingerprint} ({self.algorithm}, {self.file}:{self.line})"


@dataclass(frozen=True, slots=True)
class _Entry:
    file: Path
    line: int
    hosts: asyncssh.SSHKnownHosts


class KnownHosts:
    """The entries of known_hosts files; lines that cannot be read are skipped, as ssh does."""

    def __init__(self, files: Sequence[Path]) -> None:
        self.files = tuple(files)
        self._text = "# read by specctl\n"  # asyncssh takes an empty text for the default file
        self._entries: list[_Entry] = []
        for file in files:
            for number, line in _lines(file):
                self._add(file, number, line)

    def _add(self, file: Path, number: int, line: str) -> None:
        try:
            hosts = asyncssh.import_known_hosts(line)
        except ValueError:
            return
        self._text += line + "\n"
        self._entries.append(_Entry(file, number, hosts))

    def for_asyncssh(self) -> asyncssh.SSHKnownHosts:
        """The same entries for `asyncssh.connect`; never None, which would trust every key."""
        return asyncssh.import_known_hosts(self._text)

    def find(self, name: str, port: int) -> tuple[KnownKey, ...]:
        """The lines about exactly `name` and `port`."""
        spelled = name_in_file(name, port)
        return tuple(key for entry in self._entries for key in _keys_of(entry, spelled))


def _lines(file: Path) -> Iterator[tuple[int, str]]:
    try:
        text = file.read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise HostError(f"{file} cannot be read: {error.strerror}") from error
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            yield number, line.strip()


def _keys_of(entry: _Entry, spelled: str) -> Iterator[KnownKey]:
    keys, authorities, revoked, *_ = entry.hosts.match(spelled, "", None)
    for kind, found in (("key", keys), ("authority", authorities), ("revoked", revoked)):
        for key in found:
            yield KnownKey(entry.file, entry.line, kind, key.get_algorithm(), key.get_fingerprint())


def name_in_file(name: str, port: int) -> str:
    """How known_hosts spells a host: `[name]:port` unless the port is 22."""
    return name if port == SSH_PORT else f"[{name}]:{port}"


def remove_command(known: KnownKey, name: str, port: int) -> str:
    """The command that forgets the keys of a host."""
    command = f"ssh-keygen -R {shlex.quote(name_in_file(name, port))}"
    is_default = known.file == Path("~/.ssh/known_hosts").expanduser()
    return command if is_default else f"{command} -f {shlex.quote(str(known.file))}"


def key_error(
    hop: Hop, host: str, known: KnownHosts, offered: asyncssh.SSHKey, peer: str = ""
) -> HostKeyUnknownError | HostKeyChangedError | None:
    """Why `offered` is refused: never seen, unlike the one seen, or revoked; None when trusted.

    `peer` is the address that answered, which may be known where the name is not.
    """
    name, lines = _known_lines(hop, known, peer)
    fingerprint = offered.get_fingerprint()
    shown = f"{fingerprint} ({offered.get_algorithm()})"
    same = {line.kind: line for line in lines if line.fingerprint == fingerprint}
    if "revoked" in same:
        return _revoked(hop, name, shown, same["revoked"])
    if "key" in same:
        return None
    old = [line for line in lines if line.kind == "key"]
    return _changed(hop, host, name, shown, old) if old else _unknown(hop, host, name, shown)


def _known_lines(hop: Hop, known: KnownHosts, peer: str) -> tuple[str, tuple[KnownKey, ...]]:
    """The lines about the host by name, else by the address that answered."""
    lines = known.find(hop.name_for_key, hop.port)
    if not lines and peer and (by_address := known.find(peer, hop.port)):
        return peer, by_address
    return hop.name_for_key, lines


def _revoked(hop: Hop, name: str, shown: str, line: KnownKey) -> HostKeyChangedError:
    return HostKeyChangedError(
        f"{hop.label}: the host key of {name_in_file(name, hop.port)}, {shown}, is marked @revoked "
        f"at {line.file}:{line.line}",
        hint="Do not connect: whoever answers there uses a key that was withdrawn.",
    )


def _changed(
    hop: Hop, host: str, name: str, shown: str, old: Sequence[KnownKey]
) -> HostKeyChangedError:
    return HostKeyChangedError(
        f"{hop.label}: the host key of {name_in_file(name, hop.port)} has changed: "
        f"known is {', '.join(map(str, old))}, offered was {shown}",
        hint="Someone may be in between. If the machine was rebuilt or its address reused, compare "
        f"the new fingerprint with its owner's, then `{remove_command(old[0], name, hop.port)}` "
        f"and `specctl trust {host}`.",
    )


def _unknown(hop: Hop, host: str, name: str, shown: str) -> HostKeyUnknownError:
    ignored = (
        " The ssh configuration says `UserKnownHostsFile none`; specctl never goes without."
        if hop.is_verification_off
        else " specctl always verifies, whatever StrictHostKeyChecking says."
    )
    return HostKeyUnknownError(
        f"{hop.label}: the host key of {name_in_file(name, hop.port)}, {shown}, "
        "is not in known_hosts",
        hint=f"Compare the fingerprint with its owner's, then `specctl trust {host}`.{ignored}",
    )
