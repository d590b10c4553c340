"""Listening TCP sockets as /proc/net shows them."""

from __future__ import annotations

import socket
import struct
from typing import Dict, List, NamedTuple, Optional

from . import proc

LISTEN = "0A"
FIELDS = 10
"""Up to the inode; later kernels may add more."""


class Listener(NamedTuple):
    """One listening TCP socket."""

    address: str
    port: int
    uid: int
    inode: int


def listeners(pid: Optional[int] = None) -> List[Listener]:
    """Every listener in the network namespace of `pid`, or of this agent."""
    where = "self" if pid is None else str(pid)
    found: List[Listener] = []
    for table in ("tcp", "tcp6"):
        try:
            text = proc.read_bytes("%s/%s/net/%s" % (proc.PROC, where, table), 64 << 20)
        except OSError:
            continue
        found.extend(parse_listeners(text.decode("ascii", "replace")))
    return found


def parse_listeners(text: str) -> List[Listener]:
    """The listening rows of /proc/net/tcp or tcp6."""
    found = []
    for line in text.splitlines()[1:]:
        fields = line.split()
        if len(fields) < FIELDS or fields[3] != LISTEN:
            continue
        address, _, port = fields[1].rpartition(":")
        found.append(Listener(_address(address), int(port, 16), int(fields[7]), int(fields[9])))
    return found


def _address(text: str) -> str:
    """The kernel prints addresses as 32-bit words in the host's byte order."""
    words = [int(text[i : i + 8], 16) for i in range(0, len(text), 8)]
    packed = b"".join(struct.pack("=I", word) for word in words)
    family = socket.AF_INET if len(words) == 1 else socket.AF_INET6
    return socket.inet_ntop(family, packed)


def owners(inodes: List[int]) -> Dict[int, int]:
    """Socket inode to a process that holds it, as far as this user may see."""
    wanted = {"socket:[%d]" % inode: inode for inode in inodes}
    found: Dict[int, int] = {}
    for pid in sorted(proc.pids()):
        if len(found) == len(wanted):
            break
        for target in proc.descriptors(pid):
            if target in wanted:
                found.setdefault(wanted[target], pid)
    return found
