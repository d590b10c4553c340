"""What asyncssh and the operating system say when a hop fails, in words that help."""

from __future__ import annotations

import errno
import socket
from typing import TYPE_CHECKING

import asyncssh

from specctl.domain.errors import HostError, NotAuthenticatedError, UnreachableError
from specctl.domain.text import clean

if TYPE_CHECKING:
    from specctl.adapters.hops import Hop

_NO_WAY = {
    errno.ECONNREFUSED: ("refused the connection", "Is sshd running there, on that port?"),
    errno.EHOSTUNREACH: ("cannot be reached: no route", "Is the host up, and the VPN?"),
    errno.ENETUNREACH: ("cannot be reached: no network", "Is the network up, and the VPN?"),
    errno.ETIMEDOUT: ("did not answer", "Is the host up, and the VPN? Does a firewall drop it?"),
}


def hop_error(hop: Hop, error: BaseException, *, timeout_s: float) -> HostError:
    """The error to raise for `error`, which came while `hop` was being connected."""
    if isinstance(error, TimeoutError):
        return UnreachableError(
            f"{hop.label}: {hop.where} did not answer within {timeout_s:g} s",
            hint="Is the host up, and the VPN? Does a firewall drop the connection?",
        )
    if isinstance(error, asyncssh.PermissionDenied):
        return _not_authenticated(hop)
    if isinstance(error, asyncssh.ChannelOpenError):
        return UnreachableError(
            f"{hop.label}: the jump host could not connect to {hop.where}: {clean(error.reason)}",
            hint="Does the jump host reach it, and does its sshd allow forwarding?",
        )
    if is_dropped_handshake(error):
        return _dropped(hop, error)
    if isinstance(error, OSError):
        return _system_error(hop, error)
    return HostError(f"{hop.label}: {hop.where} and specctl could not agree: {_words(error)}")


def _not_authenticated(hop: Hop) -> NotAuthenticatedError:
    tried = list(hop.keys)
    if hop.agent_path:
        tried.append(f"those of the ssh-agent at {hop.agent_path}")
    keys = ", ".join(tried) if tried else "none was found, and there is no ssh-agent"
    return NotAuthenticatedError(
        f"{hop.label}: {hop.where} accepts none of the keys tried: {keys}",
        hint="Try `ssh " + hop.destination.name + "`. A key with a passphrase must be loaded with "
        "`ssh-add`; a new one is installed with `ssh-copy-id`.",
    )


def _system_error(hop: Hop, error: OSError) -> UnreachableError:
    if isinstance(error, socket.gaierror):
        return UnreachableError(
            f"{hop.label}: the name {hop.address} does not resolve: {error.strerror}",
            hint="Correct HostName in the ssh configuration, or the address in the host's file.",
        )
    words, hint = _NO_WAY.get(
        _errno_of(error), (f"cannot be reached: {clean(error.strerror or str(error))}", "")
    )
    return UnreachableError(f"{hop.label}: {hop.where} {words}", hint=hint)


def _errno_of(error: OSError) -> int:
    """Asyncio joins the errors of several addresses into one that only has words."""
    if error.errno is None and "Connect call failed" in str(error):
        return errno.ECONNREFUSED
    return error.errno or 0


def _dropped(hop: Hop, error: BaseException) -> UnreachableError:
    return UnreachableError(
        f"{hop.label}: {hop.where} hung up before the login was done: {_words(error)}",
        hint="Too many logins at once (MaxStartups), a ban after failed ones, or no sshd there?",
    )


def _words(error: BaseException) -> str:
    return clean(str(error)) or type(error).__name__


def is_dropped_handshake(error: BaseException) -> bool:
    """The server hung up during the handshake, as it does past MaxStartups: worth another try."""
    return isinstance(error, asyncssh.ConnectionLost | ConnectionResetError | BrokenPipeError)
