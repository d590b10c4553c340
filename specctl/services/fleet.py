"""Connections to hosts: opened on first use, shared, and replaced when lost."""

from __future__ import annotations

import asyncio
import contextlib
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from specctl.adapters.agent_channel import AgentChannel
from specctl.adapters.bundle import agent_bundle
from specctl.adapters.clock import Clock, SystemClock
from specctl.adapters.command_log import CommandLog, naming
from specctl.adapters.connect import connect
from specctl.domain.errors import HostError
from specctl.domain.events import HostDescribed

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable
    from pathlib import Path

    from specctl.adapters.agent_start import Hello
    from specctl.adapters.session import Session
    from specctl.adapters.workspace import Workspace
    from specctl.domain.host import Host
    from specctl.domain.state import Store

DEFAULT_PYTHON = "python3"
"""Runs the agent on a host whose file names no interpreter."""


@dataclass(frozen=True, slots=True)
class HostConnection:
    """One host, connected, with its agent running."""

    host: Host
    session: Session
    agent: AgentChannel

    @property
    def hello(self) -> Hello:
        """What the agent said of itself and its host."""
        return self.agent.hello

    @property
    def is_open(self) -> bool:
        """Neither the session nor the agent has ended."""
        return not (self.session.is_closed or self.agent.is_closed)


class Fleet:
    """The hosts of a workspace; at most one connection to each."""

    def __init__(
        self, workspace: Workspace, store: Store, clock: Clock, commands: CommandLog | None = None
    ) -> None:
        self.workspace, self.store, self.clock = workspace, store, clock
        self.commands = commands or CommandLog(clock)
        """What is done on the hosts."""

        self._open: dict[str, HostConnection] = {}
        self._locks: dict[str, asyncio.Lock] = {}

    def describe(self, names: Iterable[str]) -> None:
        """Put hosts into the store before any of them answers."""
        for name in names:
            host = self.workspace.host(name)
            self.store.apply(described(host, self.clock.now()))

    async def connect(self, name: str) -> HostConnection:
        """The open connection to `name`, made when there is none; raises HostError."""
        async with self._locks.setdefault(name, asyncio.Lock()):
            known = self._open.get(name)
            if known is not None and known.is_open:
                return known
            if known is not None:
                await close_host(known)
            self._open[name] = fresh = await open_host(self.workspace.host(name), self.commands)
            return fresh

    async def drop(self, name: str) -> None:
        """Close the connection to `name`, when there is one."""
        known = self._open.pop(name, None)
        if known is not None:
            await close_host(known)

    async def close(self) -> None:
        """Close every connection; what runs on the hosts goes on."""
        names = tuple(self._open)
        await asyncio.gather(*(self.drop(name) for name in names))


def described(host: Host, now_s: float) -> HostDescribed:
    """What is known of a host before it answers."""
    return HostDescribed(
        host.name,
        now_s,
        labels=host.labels,
        read_only=host.read_only,
        simulated=host.is_simulated,
    )


async def open_host(host: Host, commands: CommandLog | None = None) -> HostConnection:
    """Connect to `host` and start its agent, noting what is done there; raises HostError."""
    log = (commands or CommandLog(SystemClock())).of(host)
    session = await connect(host, log=log)
    python = (host.python or DEFAULT_PYTHON,)
    try:
        bundle = agent_bundle((*_environment(host), *python))
        with naming("agent", {"action": "start"}):
            agent = await AgentChannel.start(session, python, bundle=bundle)
    except BaseException:
        await session.close()
        raise
    agent.log = log
    return HostConnection(host, session, agent)


def _environment(host: Host) -> tuple[str, ...]:
    """Sets the variables of the host's file for the agent; its secrets are not among them."""
    if not host.environment:
        return ()
    return ("env", *(f"{name}={value}" for name, value in host.environment.items()))


async def close_host(connection: HostConnection) -> None:
    """Let the agent end and close the connection; what runs on the host goes on."""
    with contextlib.suppress(HostError):  # it is being given up: a failure to say goodbye is moot
        await connection.agent.close()
    await connection.session.close()


@asynccontextmanager
async def open_fleet(
    workspace: Workspace,
    store: Store,
    clock: Clock | None = None,
    *,
    command_file: Path | None = None,
) -> AsyncIterator[Fleet]:
    """A fleet whose connections are closed at the end; what it does is kept in `command_file`."""
    clock = clock or SystemClock()
    fleet = Fleet(workspace, store, clock, CommandLog(clock, command_file))
    try:
        yield fleet
    finally:
        await fleet.close()
