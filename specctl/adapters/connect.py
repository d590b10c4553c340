"""Reaching a host the way its file says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.adapters.enter import EnteredSession
from specctl.adapters.noted import NotedSession

if TYPE_CHECKING:
    from specctl.adapters.command_log import HostLog
    from specctl.adapters.session import Session
    from specctl.adapters.ssh_settings import SshSettings
    from specctl.domain.host import Host


async def connect(
    host: Host, *, settings: SshSettings | None = None, log: HostLog | None = None
) -> Session:
    """A session on `host`; raises HostError with the hop that failed and what to do.

    What is run there is noted in `log`.
    """
    outside = _local(host) if host.transport == "local" else await _over_ssh(host, settings)
    outside = NotedSession(outside, log) if log is not None else outside
    return EnteredSession(outside, host.enter) if host.enter else outside


def _local(host: Host) -> Session:
    from specctl.adapters.local import LocalSession

    return LocalSession(host.name)


async def _over_ssh(host: Host, settings: SshSettings | None) -> Session:
    # asyncssh takes a quarter of a second to import: only where it is used
    from specctl.adapters.hops import resolve_hops
    from specctl.adapters.ssh import SshSession
    from specctl.adapters.ssh_connect import connect_hops
    from specctl.adapters.ssh_settings import settings_for

    settings = settings or settings_for(host)
    return SshSession(
        host.name, await connect_hops(host.name, resolve_hops(host, settings), settings)
    )
