"""Holding a host's locks while a plan is applied there."""

from __future__ import annotations

import getpass
import secrets
import socket
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from specctl.adapters.oneshot import held_oneshot, run_oneshot
from specctl.domain.errors import LockedError
from specctl.domain.measured_on import MEASURING
from specctl.domain.plan import refused
from specctl.facts.preflight import read_lock, read_locks

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Sequence

    from specctl.domain.plan import Check
    from specctl.domain.preflight import LockHolder
    from specctl.services.connection import Connection

LOCK_S = 20.0
DIRECTORY: str | None = None
"""Where locks lie on a host; None is the one place that every specctl uses."""


@dataclass(frozen=True, slots=True)
class HeldLocks:
    """Locks held by this process, and what proves it to the launcher."""

    keys: tuple[str, ...]
    token: str

    def request(self) -> dict[str, Any]:
        """For the launcher, which starts nothing once they are lost."""
        return {"keys": list(self.keys), "token": self.token, "directory": DIRECTORY}


def operator() -> str:
    """`user@machine`, of whoever runs specctl."""
    return f"{getpass.getuser()}@{socket.gethostname()}"


@asynccontextmanager
async def hold_locks(
    connection: Connection, keys: Sequence[str], process: str
) -> AsyncIterator[HeldLocks]:
    """Hold every lock while the block runs; raises LockedError naming who holds one already.

    The kernel of the host drops them when this process, its machine or the network goes away.
    """
    token = secrets.token_hex(8)
    request = {
        "keys": list(keys),
        "token": token,
        "directory": DIRECTORY,
        "holder": {"who": operator(), "process": process},
    }
    python = (connection.hello.executable,)
    async with held_oneshot(
        connection.session, python, "holder", request, timeout_s=LOCK_S
    ) as answer:
        if not answer.get("held"):
            holder = read_lock(str(answer.get("key", "")), answer.get("holder"))
            raise LockedError(
                f"host {connection.host.name}: {holder.key} is locked by {holder}",
                hint="Wait until that is done; the lock ends with its holder.",
            )
        yield HeldLocks(tuple(keys), token)


async def find_measuring(connection: Connection, keys: Sequence[str]) -> tuple[Check, ...]:
    """A refusal for every comparison that goes on where `keys` lie."""
    return measuring_checks(await look_at_locks(connection, [MEASURING + key for key in keys]))


def measuring_checks(holders: Iterable[LockHolder]) -> tuple[Check, ...]:
    """Of the locks that are held, those of a measurement, as refusals."""
    return tuple(
        refused(
            "lock",
            f"{holder.key.removeprefix(MEASURING)} is measured on by {holder}",
            "Wait until that is done: each would stop the other's servers.",
        )
        for holder in holders
        if holder.key.startswith(MEASURING)
    )


async def look_at_locks(connection: Connection, keys: Sequence[str]) -> tuple[LockHolder, ...]:
    """Who holds which of `keys` at this moment."""
    python = (connection.hello.executable,)
    request = {"keys": list(keys), "directory": DIRECTORY}
    return read_locks(
        await run_oneshot(connection.session, python, "locker", request, timeout_s=LOCK_S)
    )
