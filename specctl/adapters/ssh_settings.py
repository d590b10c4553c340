"""How SSH connections are made when the user's own ssh configuration does not say."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from specctl.domain.host import Host


@dataclass(frozen=True, slots=True)
class SshSettings:
    """What may differ between a user's machine and a test; the defaults are the user's machine."""

    config_files: tuple[Path, ...] | None = None
    """None means `~/.ssh/config`; `/etc/ssh/ssh_config` is never read."""

    known_hosts_files: tuple[Path, ...] | None = None
    """None means those the configuration names, else the user's and the system's."""

    agent_path: str | None = None
    """The ssh-agent's socket; None means the configuration's, else `SSH_AUTH_SOCK`."""

    connect_timeout_s: float = 20
    """For one hop: name, TCP, key exchange and authentication together."""

    keepalive_interval_s: float = 15
    keepalive_count: int = 3
    """Intervals of silence after which a connection counts as lost."""

    handshake_tries: int = 4
    """A server with too many unfinished logins (MaxStartups) drops some of them at random."""


def settings_for(host: Host) -> SshSettings:
    """As on the user's machine, with the host's own configuration where it has one."""
    files = None if host.ssh_config is None else (Path(host.ssh_config),)
    return SshSettings(config_files=files)


def user_config_files(settings: SshSettings) -> tuple[Path, ...]:
    """The ssh configuration files to read; none when the user has none."""
    if settings.config_files is not None:
        return settings.config_files
    file = Path("~/.ssh/config").expanduser()
    return (file,) if file.is_file() else ()
