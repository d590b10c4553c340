"""What the services of one host are given: the host, and the ways to talk to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from specctl.adapters.agent_channel import AgentChannel
    from specctl.adapters.agent_start import Hello
    from specctl.adapters.session import Session
    from specctl.domain.host import Host


class Connection(Protocol):
    """One host, connected, with its agent running."""

    @property
    def host(self) -> Host:
        """The host as its file describes it."""
        ...

    @property
    def session(self) -> Session:
        """Commands, TCP and HTTP on it."""
        ...

    @property
    def agent(self) -> AgentChannel:
        """Its readings."""
        ...

    @property
    def hello(self) -> Hello:
        """What the agent said of itself and its host."""
        ...
