"""What a session on a lab host runs: a real shell with the host's environment."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from specctl.domain.errors import UsageError
from specctl.lab.compiling import SHIM_LIBRARY
from specctl.lab.place import VARIABLE

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from specctl.lab.place import LabHost

USER = "lab"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
SHELLS = {"fish-shell": "fish", "csh-shell": "csh"}
"""Fault to the login shell it makes."""

SESSION = "SPECCTL_LAB_SESSION"
"""What a connection's processes carry, as a session's control group would hold them."""

_NOISE = """\
echo 'Welcome to {name} (practice host)'
echo 'warning: quota of /scratch is exceeded' >&2
cd /
"""
_STARTUP_FILES = (".bashrc", ".profile", ".zshenv", ".cshrc", ".config/fish/config.fish")


def check_shells(faults: Mapping[str, object]) -> None:
    """Raise UsageError where a fault needs a shell that this machine lacks."""
    for fault, shell in SHELLS.items():
        if fault in faults and shutil.which(shell) is None:
            raise UsageError(f"fault {fault} needs {shell}, which is not installed here")


def login_shell(host: LabHost) -> str:
    """The shell that a session's command is handed to."""
    names = [name for fault, name in SHELLS.items() if host.fault(fault) is not None]
    found = [shutil.which(name) for name in (*names, "bash", "sh")]
    return next((path for path in found if path), "/bin/sh")


def arguments(host: LabHost, command: str | None) -> list[str]:
    """The shell with its command; without one it reads its standard input."""
    shell = login_shell(host)
    return [shell] if command is None else [shell, "-c", command]


def environment(host: LabHost, session: str) -> dict[str, str]:
    """Of a session's first process, as sshd would set it, and what makes it a lab host's."""
    found = {
        "HOME": str(host.home),
        "USER": USER,
        "LOGNAME": USER,
        "SHELL": login_shell(host),
        "PATH": f"{host.folder / 'bin'}:{PATH}",
        "SSH_CLIENT": "127.0.0.1 0 22",
        "SSH_CONNECTION": "127.0.0.1 0 127.0.0.1 22",
        VARIABLE: str(host.folder),
        "SPECCTL_LAB_NAME": host.folder.name,
        SESSION: session,
        "LD_LIBRARY_PATH": str(host.folder / "lib"),
    }
    if (host.folder / "lib" / SHIM_LIBRARY).exists():
        found["LD_PRELOAD"] = SHIM_LIBRARY  # by its name: a blank in a path would end it
    return found


def settle_startup_files(host: LabHost) -> None:
    """Make the startup files print, or be silent, as the fault `noisy-rc` says now."""
    is_noisy = host.fault("noisy-rc") is not None
    for name in _STARTUP_FILES:
        file = host.home / name
        if is_noisy and not file.exists():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(_NOISE.format(name=host.folder.name))
        elif not is_noisy and _is_noise(file, host):
            file.unlink()


def _is_noise(file: Path, host: LabHost) -> bool:
    try:
        return file.read_text() == _NOISE.format(name=host.folder.name)
    except FileNotFoundError:
        return False
