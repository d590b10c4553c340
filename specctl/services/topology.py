"""How the GPUs of a host reach each other, asked of its own nvidia-smi."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.domain.errors import DeadlineError, RemoteFailedError
from specctl.facts.smi_values import SmiTextError
from specctl.facts.topology import read_topology
from specctl.services.outside import PATHS

if TYPE_CHECKING:
    from specctl.domain.topology import Topology
    from specctl.services.connection import Connection

TIMEOUT_S = 15.0
ASK = ("sh", "-c", f"LC_ALL=C PATH={PATHS} exec nvidia-smi topo -m 2>&1")


async def read_ways(connection: Connection) -> Topology:
    """The matrix; raises RemoteFailedError with what the host said instead of one."""
    host = connection.host.name
    try:
        ended = await connection.session.run(ASK, timeout_s=TIMEOUT_S)
    except DeadlineError as error:
        raise RemoteFailedError(
            f"host {host}: nvidia-smi topo -m did not answer in {TIMEOUT_S:g} s",
            hint=f"specctl doctor {host} says what is wrong with the driver.",
        ) from error
    try:
        return read_topology(ended.text)
    except SmiTextError as error:
        raise RemoteFailedError(
            f"host {host}: {error}",
            hint=f"specctl doctor {host} says what is wrong with the driver.",
        ) from error
