"""A server whose schedulers have started: its processes, and what serving it needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import socket
    from collections.abc import Mapping

    from specctl.lab.server.launch import Launch
    from specctl.lab.server.log import Log
    from specctl.lab.tokenizer import Tokenizer


@dataclass
class Children:
    """The processes of a server besides the main one."""

    schedulers: list[int]
    detokenizer: int

    @property
    def pids(self) -> list[int]:
        """All of them."""
        return [*self.schedulers, self.detokenizer]


@dataclass(frozen=True)
class Running:
    """What the main process goes on with."""

    launch: Launch
    log: Log
    children: Children
    scheduler: socket.socket
    """Its wire."""

    started: Mapping[str, Any]
    """What the scheduler said when it had started."""

    tokenizer: Tokenizer
    started_in_s: float
