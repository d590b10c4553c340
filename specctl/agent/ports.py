"""The `ports` op: who listens where."""

from __future__ import annotations

from typing import Any, Dict, Optional

from . import asked
from .sockets import Listener, listeners, owners


def ports(params: Dict[str, Any], cancelled: Any) -> Dict[str, Optional[Dict[str, Any]]]:
    """Per port its listener, or None when nothing listens; `owner_pid` None: not ours to see."""
    del cancelled
    wanted = asked.integers(params, "ports")
    found: Dict[int, Listener] = {}
    for listener in listeners():
        if listener.port in wanted:
            found.setdefault(listener.port, listener)
    pids = owners([listener.inode for listener in found.values()])
    return {str(port): _row(found.get(port), pids) for port in wanted}


def _row(listener: Optional[Listener], pids: Dict[int, int]) -> Optional[Dict[str, Any]]:
    if listener is None:
        return None
    return {
        "owner_pid": pids.get(listener.inode),
        "uid": listener.uid,
        "address": listener.address,
    }
