"""Which keys the servers of a workspace ask for."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from specctl.adapters.secrets import Secrets
from specctl.domain.errors import SpecctlError
from specctl.services.keys import keys_of
from specctl.services.measured_server import NO_KEYS

if TYPE_CHECKING:
    from specctl.adapters.workspace import Workspace
    from specctl.domain.host import Host
    from specctl.domain.server import Server
    from specctl.services.measured_server import Keys
    from specctl.services.watching import KeysOf


def keys_for(workspace: Workspace) -> KeysOf:
    """A lookup by server; where a key cannot be had the server's 401 says so, later."""

    @cache
    def secrets() -> Secrets:
        return Secrets.load()

    def look_up(host: Host, server: Server) -> Keys:
        profile = workspace.profiles().get(server.profile or "")
        try:
            return keys_of(profile, host, secrets())
        except SpecctlError:
            return NO_KEYS

    return look_up
