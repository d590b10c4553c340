"""The one gate of everything that changes a host."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from specctl.domain.errors import RefusedError

if TYPE_CHECKING:
    from collections.abc import Callable

    from specctl.domain.host import Host
    from specctl.services.connection import Connection

P = ParamSpec("P")
R = TypeVar("R")

MUTATING: dict[str, Callable[..., Any]] = {}
"""Every service behind the gate, by what it does; for whoever wants to try them all."""


def require_writable(host: Host, action: str) -> None:
    """Raise RefusedError when the host's file, a flag or the session says read-only."""
    if host.read_only:
        raise RefusedError(
            f"host {host.name} is read-only: {action} is refused",
            hint=f"Take read_only out of {host.file or 'its file'}, or the flag off the command.",
        )


def mutating(
    action: str,
) -> Callable[[Callable[Concatenate[Connection, P], R]], Callable[Concatenate[Connection, P], R]]:
    """Mark a service that changes its first argument's host: it is refused under `read_only`.

    The refusal is raised by the call itself, also where the service is a coroutine or a generator.
    """

    def mark(
        service: Callable[Concatenate[Connection, P], R],
    ) -> Callable[Concatenate[Connection, P], R]:
        @wraps(service)
        def gate(connection: Connection, /, *args: P.args, **kwargs: P.kwargs) -> R:
            require_writable(connection.host, action)
            return service(connection, *args, **kwargs)

        MUTATING[action] = gate
        return gate

    return mark
