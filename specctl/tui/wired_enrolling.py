"""Hosts and profiles taken into a real workspace."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from specctl.adapters.clock import SystemClock
from specctl.adapters.command_log import CommandLog
from specctl.adapters.completing import find_words
from specctl.adapters.importing import draft_from_any
from specctl.adapters.paths import command_file, short
from specctl.adapters.trust import fetch_host_key
from specctl.domain.errors import UsageError
from specctl.domain.host import Host
from specctl.services import adding
from specctl.tui.newcomers import Imported
from specctl.tui.wired_logs import WorkspaceLogs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specctl.adapters.trust import OfferedKey
    from specctl.services.adding import Found


class WorkspaceEnrolling(WorkspaceLogs):
    """What `add` and `import` do, from the screen."""

    def watch_more(self, name: str) -> None:
        """A host is new in the workspace."""
        raise NotImplementedError

    def ssh_aliases(self) -> Mapping[str, str]:
        """The aliases of the user's ssh configuration that are no host yet, each with a note."""
        known = {host.ssh or host.name for host in self._workspace.hosts().values()}
        found = find_words("alias", None)
        return {name: note for name, note in found.items() if name not in known}

    def _new_host(self, alias: str) -> Host:
        if alias in self._workspace.hosts():
            raise UsageError(f"host {alias} is there already", hint="Open it from the fleet.")
        return Host(alias, ssh=alias)

    async def look_over(self, alias: str) -> Found:
        """Connect to what may become a host, and examine it."""
        log = CommandLog(SystemClock(), command_file())
        return await adding.look_over(self._new_host(alias), log)

    async def offered_key_of(self, alias: str) -> OfferedKey:
        """The key that it, or the first hop to it that is not trusted, shows."""
        return await fetch_host_key(self._new_host(alias))

    async def add_host(self, found: Found) -> str:
        """Write its file and watch it; returns the file as the user would type it."""
        path = await asyncio.to_thread(
            self._workspace.write_host, found.host, comments=found.comments
        )
        await self.read_files()
        self.watch_more(found.host.name)
        return short(path)

    async def import_profile(self, name: str, text: str) -> Imported:
        """Write a profile made of a launch command or script; nothing in it is run."""
        draft = draft_from_any(text)
        path = await asyncio.to_thread(
            self._workspace.write_profile, name, draft.values, comments=draft.comments
        )
        await self.read_files()
        return Imported(short(path), tuple(draft.remarks), tuple(draft.secrets))
